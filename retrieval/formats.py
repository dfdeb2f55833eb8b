"""Formats of files: their endings, their limits, and the reader of each.

A format is one row of :data:`FORMATS`: its reader adds a file's contents to a builder.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dialectree.errors import InputError
from dialectree.retrieval.encoding import decode

if TYPE_CHECKING:
    from dialectree.retrieval.builder import DocumentBuilder

LARGEST_FILE = 100_000_000
"""Most bytes of a file of any format."""
_ENDING = re.compile(r"\.[A-Za-z]\w{0,9}")
_LATEX = re.compile(rb"\\documentclass|\\documentstyle|\\begin\s*\{document\}")
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]{1,40})|^\s*<\?xml[^>]{0,200}encoding=[\"']([\w.-]{1,40})",
    re.IGNORECASE,
)


class File(NamedTuple):
    """A file from disk, or from a client."""

    name: str
    """The file's name in notices and errors."""
    data: bytes
    folder: Path | None = None
    """The folder of other files that the file includes; None if it may include none."""
    path: Path | None = None
    """The file's path; None for a file that was sent or downloaded."""


class Format(NamedTuple):
    """A kind of file."""

    name: str
    endings: tuple[str, ...]
    largest: int
    """Most bytes of a file."""
    read: Callable[[File, DocumentBuilder], None]
    """Adds a file's contents to a builder; raises InputError if the file cannot be read."""
    limited: bool = True
    """Read files in a limited process, because the format's library may take endless memory or time."""


class UnknownFormat(InputError):
    """Raised for a file of an unknown format."""

    def __init__(self, name: str, ending: str) -> None:
        self.name, self.ending = name, ending
        super().__init__(f"{name}: files that end in {ending} are not read; give one of {list_endings()}")


def list_endings() -> str:
    """Return the endings of all formats, with commas between them."""
    return ", ".join(ending for format in FORMATS.values() for ending in format.endings)


def find_format(name: str, data: bytes) -> Format:
    """Return the format of a file by its ending or, without one, by its first bytes.

    Raises UnknownFormat for any other ending: the file's markup would be read as prose.
    """
    if data.startswith(b"%PDF-"):
        return FORMATS["pdf"]
    ending = Path(name).suffix.lower()
    for file_format in FORMATS.values():
        if ending in file_format.endings:
            return file_format
    if _ENDING.fullmatch(ending):
        raise UnknownFormat(name, Path(name).suffix)
    start = data[:20_000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"%PDF-" in start[:1024]:
        return FORMATS["pdf"]
    if start[:14].lower().startswith((b"<!doctype html", b"<html")):
        return FORMATS["html"]
    if start.startswith(b"{"):
        return FORMATS["json"]
    return FORMATS["latex" if _LATEX.search(start) else "text"]


def require_size(file: File, largest: int) -> None:
    """Raise InputError if a file has more than ``largest`` bytes."""
    if len(file.data) > largest:
        megabytes = largest // 1_000_000
        raise InputError(f"{file.name}: over {megabytes} MB, too large; cut it down")


def decode_file(file: File, builder: DocumentBuilder, declared: str | None = None) -> str:
    """Return the text of a file; add a notice if it is not UTF-8."""
    decoded = decode(file.data, file.name, declared)
    builder.note_encoding(decoded.encoding)
    return decoded.text


# Each reader is imported on use, with its libraries: a debate reads few formats.


def _read_pdf(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.pdf_document import read_pdf

    read_pdf(file.data, builder)


def _read_word(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.word import read_word

    read_word(file.data, builder)


def _read_html(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.markup import read_html

    match = _CHARSET.search(file.data[:4096])
    declared = next(filter(None, match.groups())).decode() if match else None
    read_html(decode_file(file, builder, declared), builder)


def _read_markdown(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.markup import read_markdown

    read_markdown(decode_file(file, builder), builder)


def _read_latex(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.latex import read_latex

    read_latex(decode_file(file, builder), builder, file.name, file.folder)


def _read_json(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.json_text import read_json

    read_json(decode_file(file, builder), builder, file.name)


def _read_text(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.text import read_text

    read_text(decode_file(file, builder), builder)


def _read_csv(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.tables import read_csv

    read_csv(decode_file(file, builder), builder)


def _read_json_lines(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.json_text import read_json_lines

    read_json_lines(decode_file(file, builder), builder, file.name)


def _read_sheets(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.sheets import read_sheets

    read_sheets(file.data, builder)


def _read_slides(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.slides import read_slides

    read_slides(file.data, builder)


def _read_open_document(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.open_document import read_open_document

    read_open_document(file.data, builder)


def _read_rich_text(file: File, builder: DocumentBuilder) -> None:
    from striprtf.striprtf import rtf_to_text

    from dialectree.retrieval.text import read_text

    if not file.data.lstrip().startswith(b"{\\rtf"):
        raise InputError("damaged, or another kind of file (not RTF)")
    text: str = rtf_to_text(file.data.decode("latin-1"))  # type: ignore[no-untyped-call]
    read_text(text.replace("|\n", "\n"), builder)


def _find_reader(name: str, data: bytes) -> Callable[[DocumentBuilder], None] | None:
    """Return the reader of a file inside another one; None if its format is unknown."""
    try:
        format = find_format(name, data)
    except UnknownFormat:
        return None
    return partial(format.read, File("it", data))


def _read_mail(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.messages import read_mail

    read_mail(file.data, builder, _find_reader)


def _read_book(file: File, builder: DocumentBuilder) -> None:
    from dialectree.retrieval.messages import read_book

    def read_chapter(name: str, data: bytes) -> None:
        _read_html(File(name, data), builder)

    read_book(file.data, builder, read_chapter)


_MB = 1_000_000
FORMATS = {
    format.name: format
    for format in (
        Format("pdf", (".pdf",), LARGEST_FILE, _read_pdf),
        Format("text", (".txt", ".text"), 20 * _MB, _read_text, limited=False),
        Format("markdown", (".md", ".markdown"), 2 * _MB, _read_markdown),
        Format("latex", (".tex", ".latex", ".ltx"), 2 * _MB, _read_latex, limited=False),
        Format("json", (".json",), 20 * _MB, _read_json, limited=False),
        Format("html", (".html", ".htm", ".xhtml"), 10 * _MB, _read_html),
        Format("word", (".docx", ".docm"), 50 * _MB, _read_word),
        Format("csv", (".csv", ".tsv"), 20 * _MB, _read_csv, limited=False),
        Format("jsonl", (".jsonl", ".ndjson"), 20 * _MB, _read_json_lines, limited=False),
        Format("excel", (".xlsx", ".xlsm"), 50 * _MB, _read_sheets),
        Format("powerpoint", (".pptx", ".pptm"), 50 * _MB, _read_slides),
        Format("opendocument", (".odt", ".ods", ".odp"), 50 * _MB, _read_open_document),
        Format("rtf", (".rtf",), 20 * _MB, _read_rich_text),
        Format("mail", (".eml",), 50 * _MB, _read_mail),
        Format("book", (".epub",), 50 * _MB, _read_book),
    )
}
"""The formats by name, in the order in which messages list them."""
