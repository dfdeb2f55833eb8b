"""A person's documents, of any kind: files and folders, read whole and in a stable order.

A document needs neither title nor abstract, and nothing that it says is set apart: a debate argues
from all of it. Files are read once; what they say is kept in the cache by their content.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from dialectree.errors import InputError
from dialectree.protocols.sources import cache_folder
from dialectree.system.packages import needed, require

with needed("reading sources", "dialectree[sources]"):
    from dialectree.retrieval import papers, sections
    from dialectree.retrieval.blocks import Block, Draft, plain_signs, reading
    from dialectree.retrieval.page_process import PageReader
    from dialectree.retrieval.papers import Passage, bytes_of, draft_of, kind_of, passages_of
    from dialectree.retrieval.text import sound

ENDINGS: dict[str, Literal["html", "docx"]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".docx": "docx",
}
"""Endings that are read beside those of papers."""
LARGEST_PAGE = 10_000_000
"""Bytes of a web page."""
LARGEST_WORD = 50_000_000
"""Bytes of a Word file, pictures included."""
LONGEST_TITLE = 150
"""Characters of a first line that stands for a title."""
_NAMED = 3
"""Notices in the error where no file can be read."""
_PASSAGES = TypeAdapter(tuple[Passage, ...])

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Document:
    """A document: its name, its title and its paragraphs in reading order."""

    name: str
    """The file's name, or its path in the folder that was given; where two are alike, its path."""
    title: str
    """The title that the file shows, else its name without folder and ending."""
    stored: bytes
    """The paragraphs as JSON."""
    path: Path | None = field(default=None, compare=False)
    """The file that was read just now."""

    @classmethod
    def of(cls, name: str, blocks: Iterable[Block], title: str | None = None) -> Document:
        """Return the document called ``name`` that consists of ``blocks``."""
        passages = _PASSAGES.dump_json(tuple(passages_of([*blocks])))
        return cls(sound(name), sound(title or Path(name).stem or name), passages)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The paragraphs, with page, heading and offset in characters."""
        return _PASSAGES.validate_json(self.stored)

    @cached_property
    def digest(self) -> str:
        """Hash title and paragraphs, alike on every machine."""
        hashed = blake2b(self.stored, digest_size=16)
        hashed.update(self.title.encode())
        return hashed.hexdigest()

    @property
    def file(self) -> str:
        """Return the name of the file that keeps it."""
        return f"{self.digest}.json"


class Sources(NamedTuple):
    """Documents in the order in which they were given, and what could not be read."""

    documents: tuple[Document, ...]
    notices: tuple[str, ...]
    """One line for each file that is left out, or of which a part is missing; it has the name."""


def read_sources(
    paths: str | Path | Sequence[str | Path], *, progress: Callable[[int, int], None] | None = None
) -> Sources:
    """Return the documents in files and folders; blocks while it reads.

    A folder is read with all below it, by name, without hidden files and without links. A file that
    cannot be read, or whose format is not read, is a notice. ``progress`` is told how many files of
    how many are done. Nothing is fetched from the network.

    Raises InputError where a path is not there, and where no file can be read; MissingPackage
    without the extra ``sources``.

    Example:
        >>> sources = read_sources(["notes.md", "reports"])  # doctest: +SKIP
        >>> [document.title for document in sources.documents]  # doctest: +SKIP
    """
    require("reading sources", "dialectree[sources]")
    given = [paths] if isinstance(paths, str | Path) else [*paths]
    if not given:
        raise InputError("no sources are named; give files or folders")
    notices: list[str] = []
    files = _files([Path(path) for path in given], notices)
    documents: list[Document] = []
    with PageReader() as pages:
        for at, (path, name) in enumerate(files.items(), 1):
            try:
                read = _document(path, name, pages, notices)
                documents.append(replace(read, path=path))
            except InputError as error:
                notices.append(str(error))
            if progress is not None:
                progress(at, len(files))
    if not documents:
        why = "; ".join(notices[:_NAMED]) or "there are none"
        more = f"; and {len(notices) - _NAMED} more" if len(notices) > _NAMED else ""
        raise InputError(f"none of the {len(files)} files of sources can be read: {why}{more}")
    return Sources(tuple(documents), tuple(notices))


def _files(given: Sequence[Path], notices: list[str]) -> dict[Path, str]:
    """Return each file once, with its name; names that are alike go with their folders."""
    found: dict[str, tuple[str, Path]] = {}
    for path in given:
        if not os.path.exists(path):  # a name may be too long, or no name
            raise InputError(f"{path}: no such file or folder; give a document or a folder of them")
        if path.is_dir():
            for real, name, file in _below(path, notices):
                found.setdefault(real, (name, file))
        else:
            found.setdefault(os.path.realpath(path), (path.name, path))
    alike = Counter(name for name, _ in found.values())
    names = ((path, name if alike[name] == 1 else path.as_posix()) for name, path in found.values())
    return {path: sound(" ".join(name.splitlines())) for path, name in names}


def _below(folder: Path, notices: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield the real path of each file below a folder, its path there, and the path to it."""

    def failed(error: OSError) -> None:
        why = (error.strerror or str(error)).lower()
        notices.append(f"{error.filename}: cannot be read ({why}); check the folder")

    root = Path(os.path.realpath(folder))
    for at, folders, files in os.walk(folder, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        real, inside = os.path.realpath(at), Path(at).relative_to(folder)
        for name in sorted([*folders, *(name for name in files if not name.startswith("."))]):
            path = os.path.join(at, name)
            if os.path.islink(path):  # what it leads to in the folder is read there
                if not Path(os.path.realpath(path)).is_relative_to(root):
                    why = "a link that leads out of its folder; give the file itself"
                    notices.append(f"{path}: {why}")
            elif name not in folders:
                yield os.path.join(real, name), (inside / name).as_posix(), Path(path)


def _document(path: Path, name: str, pages: PageReader, notices: list[str]) -> Document:
    """Return the document in a file, out of the cache if it was read before."""
    kind = ENDINGS.get(path.suffix.lower())
    data = bytes_of(path, name)
    if not data.strip():
        raise InputError(f"{name}: an empty file")
    if not path.suffix and data[:2000].lstrip()[:14].lower() == b"<!doctype html":
        kind = "html"
    # A LaTeX file draws in others, so its own content does not tell what it says.
    known = kind or _kind(path, name, data) != "latex"
    place = _place(path.name.encode() + b":" + data) if known else None
    if place is not None and (kept_before := _before(place, name)) is not None:
        document, missing = kept_before
    else:
        title, blocks, missing = _read(path, name, data, kind, pages)
        document = Document.of(name, blocks, title or path.stem)
        _keep(document, missing, place)
    notices += [f"{name}: {notice}" for notice in missing]
    return document


def _kind(path: Path, name: str, data: bytes) -> papers.Kind:
    try:
        return kind_of(name, data)
    except InputError:
        known = ", ".join([*papers.ENDINGS, *ENDINGS])
        raise InputError(
            f"{name}: files that end in {path.suffix} are not read; give one of {known}"
        ) from None


def _read(
    path: Path, name: str, data: bytes, kind: Literal["html", "docx"] | None, pages: PageReader
) -> tuple[str | None, list[Block], list[str]]:
    """Return the title that a file shows, all its paragraphs, and what is missing."""
    if kind is None:
        with reading(name):
            draft = draft_of(name, data, path.parent, whole=True)
    else:
        largest = LARGEST_PAGE if kind == "html" else LARGEST_WORD
        if len(data) > largest:
            raise InputError(f"{name}: over {largest // 1_000_000} MB, too large; cut it down")
        title, paragraphs = pages.read(data, kind, name)
        draft = Draft(title, blocks=[*_blocks(paragraphs)])
    title, blocks = draft.title, _whole(draft)
    if title is None:
        title, blocks = _titled(blocks)
    elif blocks and blocks[0].heading and blocks[0].text == title:
        blocks = blocks[1:]
    if not any(not block.heading for block in blocks):
        blocks = [Block(block.text) for block in _whole(draft)]
    if not blocks:
        raise InputError(f"{name}: no text in it")
    return title and " ".join(sound(title).split()), blocks, [*draft.notices]


def _blocks(paragraphs: Iterable[tuple[str, bool]]) -> Iterator[Block]:
    for text, heading in paragraphs:
        if plain := " ".join(plain_signs(text).split()):
            yield Block(plain, heading)


def _whole(draft: Draft) -> list[Block]:
    """Return the body under the abstract and the introduction that are set apart from it."""
    body = "\n\n".join(block.text for block in draft.blocks)
    apart = (part.strip() for part in (draft.abstract, draft.introduction) if part)
    above = [Block(text) for part in apart if part not in body for text in part.split("\n\n")]
    return [*above, *draft.blocks]


def _titled(blocks: list[Block]) -> tuple[str | None, list[Block]]:
    """Return the heading at the top and the body under it, or a short first line of the body."""
    if len(blocks) < 2 or sections.part(blocks[0].text) is not None:
        return None, blocks
    first = blocks[0]
    ended = first.text[-1] in ".!?:;,。！？" or len(first.text) > LONGEST_TITLE or first.apart
    if first.heading:
        return first.text, blocks[1:]
    return None if ended else first.text, blocks


# Documents on disk, each by its digest; and which document a file is, by the file's content


def documents_folder() -> Path:
    """Return the folder of the cache that keeps each document that was read."""
    return cache_folder() / "documents"


def kept(digest: str, folders: Iterable[Path]) -> Path | None:
    """Return the file of the document called ``digest``, in the first folder that has one."""
    if not _DIGEST.fullmatch(digest):  # out of a stranger's run, it could lead anywhere
        return None
    files = (folder / f"{digest}.json" for folder in folders)
    return next((file for file in files if file.is_file()), None)


def write_document(document: Document, folder: Path) -> Path:
    """Keep ``document`` in ``folder`` by its digest, whole or not at all; return the file.

    A document that the cache has is linked to, so that many runs keep it once. Raises OSError
    where the folder cannot be written.
    """
    file, cached = folder / document.file, documents_folder() / document.file
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        os.link(cached, file)
        return file
    title = json.dumps(document.title, ensure_ascii=False).encode()
    write_whole(file, b"".join([_TITLE, title, _STORED, document.stored, b"}\n"]))
    return file


def read_document(file: Path, name: str) -> Document:
    """Return the document in ``file``, under the name that its source has.

    Raises InputError, with that name, where the file is not what was written.
    """
    try:
        head, stored = file.read_bytes().removesuffix(b"}\n").split(_STORED, 1)
        document = Document(name, json.loads(head.removeprefix(_TITLE)), stored)
        if document.file == file.name:
            return document
        why = "it was changed since it was written"
    except OSError as error:
        why = (error.strerror or str(error)).lower()
    except (ValueError, AttributeError):
        why = "it is damaged"
    raise InputError(f"{name}: its text in {file} cannot be read ({why}); give the source again")


_DIGEST = re.compile("[0-9a-f]{32}")
_TITLE, _STORED = b'{"title": ', b',\n"passages": '


@lru_cache(maxsize=1)
def readers() -> bytes:
    """Hash the code of this room, so that documents are read anew after it changed."""
    hashed = blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        hashed.update(file.read_bytes())
    return hashed.digest()


def _place(content: bytes) -> Path:
    name = blake2b(content, digest_size=16, key=readers()).hexdigest()
    return cache_folder() / "readings" / name[:2] / name


def _before(place: Path, name: str) -> tuple[Document, list[str]] | None:
    """Return what a file said when it was read before, and what was missing of it."""
    with contextlib.suppress(OSError, ValueError):
        digest, missing = json.loads(place.read_bytes())
        return read_document(documents_folder() / f"{digest}.json", name), missing
    return None


def _keep(document: Document, missing: list[str], place: Path | None) -> None:
    """Keep what a file said; a folder that cannot be written costs time alone."""
    try:
        write_document(document, documents_folder())
        if place is not None:
            write_whole(place, json.dumps([document.digest, missing]).encode())
    except OSError as error:
        log.warning("cannot cache documents in %s: %s", cache_folder(), error)


def write_whole(file: Path, content: bytes) -> None:
    """Write a file whole or not at all, and make its folder; raise OSError where it cannot be."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as written:
            written.write(content)
        os.replace(draft, file)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
