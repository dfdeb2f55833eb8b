"""Read mails and books, which contain other files."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote

from dialectree.errors import InputError
from dialectree.retrieval.archives import join_path, parse_xml, read_attribute, unpack_parts
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.markup import read_html
from dialectree.retrieval.text import add_text

FindReader = Callable[[str, bytes], Callable[[DocumentBuilder], None] | None]
"""Returns the reader of a file with this name and bytes; None if its format is unknown."""
_HEADERS = ("From", "To", "Cc", "Date")


def read_mail(data: bytes, builder: DocumentBuilder, find_reader: FindReader) -> None:
    """Add a mail to ``builder``: its subject, its author, its text and its attachments."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    subject = str(message["Subject"] or "").strip()
    if not (subject or message["From"]):
        raise InputError("not a mail (without subject and author); save it again")
    for kind, text in (
        ("heading", subject),
        *(("note", f"{name}: {message[name]}") for name in _HEADERS if message[name]),
    ):
        builder.expect(text)
        builder.add(text, "heading" if kind == "heading" else "note")
    body = message.get_body(("html", "plain"))
    if body is not None and body.get_content_subtype() == "html":
        read_html(body.get_content(), builder)
    elif body is not None:
        text = body.get_content()
        builder.expect(text)
        add_text(text, builder)
    for attachment in message.iter_attachments():
        _read_attachment(attachment, builder, find_reader)
    builder.title = subject or None


def _read_attachment(attachment: Any, builder: DocumentBuilder, find_reader: FindReader) -> None:
    """Add an attachment of a mail. If its format is unknown, record its name as left out."""
    name = attachment.get_filename() or attachment.get_content_type()
    builder.expect(name)
    if isinstance(content := attachment.get_content(), EmailMessage):
        builder.add(name, "heading")
        read_mail(content.as_bytes(), builder, find_reader)
        return
    data = content.encode() if isinstance(content, str) else content
    read = find_reader(name, data)
    if read is None:
        builder.leave_out(name, "attachments")
        return
    builder.add(name, "heading")
    # A damaged attachment must not make the whole mail unreadable.
    part = DocumentBuilder()
    try:
        read(part)
    except Exception as error:
        builder.notices.append(f"{name}: cannot be read ({str(error).removeprefix('it: ')})")
    else:
        builder.extend(part.finish())


def read_book(data: bytes, builder: DocumentBuilder, read_chapter: Callable[[str, bytes], None]) -> None:
    """Add an EPUB to ``builder``, chapter by chapter in reading order."""
    parts = unpack_parts(data, (".xml", ".opf", ".xhtml", ".html", ".htm"), format="EPUB")
    container = parts.get("META-INF/container.xml")
    if container is None:
        raise InputError("damaged, or another kind of file (it has no contents)")
    package = read_attribute(parse_xml(container).find(".//{*}rootfile"), "full-path")
    tree = parse_xml(parts[package])
    folder = package.rpartition("/")[0]
    files = {
        read_attribute(item, "id"): join_path(folder, unquote(read_attribute(item, "href")))
        for item in tree.iter("{*}item")
    }
    chapters = [files.get(read_attribute(item, "idref"), "") for item in tree.iter("{*}itemref")]
    if not _find_locked(parts).isdisjoint(chapters):
        raise InputError("an encrypted book, locked to one reading program; give its text")
    for name in chapters:
        if name in parts:
            read_chapter(name, parts[name])
    title = tree.find(".//{*}metadata/{*}title")
    builder.title = None if title is None else " ".join("".join(title.itertext()).split()) or None


def _find_locked(parts: dict[str, bytes]) -> set[str]:
    """Return the encrypted files of a book; many books encrypt only their fonts."""
    encryption = parts.get("META-INF/encryption.xml")
    references = parse_xml(encryption).iter("{*}CipherReference") if encryption else ()
    return {unquote(read_attribute(reference, "URI")) for reference in references}
