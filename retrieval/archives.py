"""Read files that are archives of XML: Word, slides, OpenDocument and books."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from lxml import etree

from dialectree.errors import InputError

UNPACKED = 30_000_000
"""Most bytes of an archive's parts, unpacked."""
ENCRYPTED = b"\xd0\xcf\x11\xe0"
"""The first bytes of files of Office 2003, and of encrypted files of later versions."""


def unpack_parts(data: bytes, endings: tuple[str, ...] = (".xml",), *, format: str) -> dict[str, bytes]:
    """Return the parts of an archive whose names have these endings, by name.

    Raises InputError, which names ``format``, if the file is encrypted or unpacks to more than
    :data:`UNPACKED` bytes, and zipfile's errors for other data.
    """
    if data.startswith(ENCRYPTED):
        raise InputError(
            f"an encrypted {format} file, or a file of Office 2003; save it again without a password"
        )
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith(endings)]
        if sum(part.file_size for part in parts) > UNPACKED:
            raise InputError(f"it unpacks to over {UNPACKED // 1_000_000} MB of text; cut it down")
        return {part.filename: archive.read(part) for part in parts}


def parse_xml(data: bytes) -> Any:
    """Return the tree of a part; external entities are not loaded."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace; empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def read_attribute(element: Any, name: str) -> str:
    """Return an attribute by its local name; empty if it or the element is missing."""
    if element is None:
        return ""
    values = (value for key, value in element.attrib.items() if key.rpartition("}")[2] == name)
    return str(next(values, ""))


def find_targets(parts: dict[str, bytes], part: str) -> dict[str, str]:
    """Return the parts that ``part`` of an Office file refers to, by their ids in ``part``."""
    folder, _, name = part.rpartition("/")
    related = parts.get(f"{folder}/_rels/{name}.rels")
    if related is None:
        return {}
    return {
        read_attribute(relation, "Id"): join_path(folder, read_attribute(relation, "Target"))
        for relation in parse_xml(related)
    }


def join_path(folder: str, target: str) -> str:
    """Return the full name of the part ``target``, whose path is relative to ``folder``."""
    steps: list[str] = [] if target.startswith("/") else folder.split("/")
    for step in target.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(filter(None, steps))


def iterate_texts(element: Any, *names: str) -> Iterator[str]:
    """Yield the text of all elements with these local names inside ``element``, which may be None."""
    for node in () if element is None else element.iter(*(f"{{*}}{name}" for name in names)):
        yield node.text or ""
