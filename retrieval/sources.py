"""Read a person's documents of any kind: files and folders, whole and in a stable order.

A document needs neither title nor abstract: a debate argues from all of its text. Each file is read
once, and the cache keeps its contents.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import TypeAdapter

from dialectree.errors import InputError
from dialectree.protocols.sources import cache_folder
from dialectree.system.addresses import describe_missing_file
from dialectree.system.packages import explain_missing_package, require

with explain_missing_package("reading sources", "dialectree[sources]"):
    from dialectree.retrieval.blocks import Block, LeftOut, Reading, describe_left_out, reading
    from dialectree.retrieval.formats import File, UnknownFormat, find_format, list_endings
    from dialectree.retrieval.kept_files import locate_reading, write_whole
    from dialectree.retrieval.papers import Passage, bytes_of, place_blocks
    from dialectree.retrieval.reading_process import ReadingProcess, read_file
    from dialectree.retrieval.text import sound

if TYPE_CHECKING:
    from dialectree.retrieval.readers import UserReader

_NAMED = 3
"""Most notices in the error if no file can be read."""


_PASSAGES = TypeAdapter(tuple[Passage, ...])

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Document:
    """A document: its name, its title and its blocks in reading order."""

    name: str
    """The file's name, or its path in the given folder; its full path if two names are equal."""
    title: str
    """The title that the file shows, else its name without folder and ending."""
    stored: bytes
    """The blocks as JSON."""
    version: Literal[1, 2] = 2
    """The rules to cut and search the document: 1 if an earlier version read it, without headings."""
    path: Path | None = field(default=None, compare=False)
    """The file, if it was just read."""
    left_out: tuple[LeftOut, ...] = field(default=(), compare=False)
    """Text left out of the blocks; known only if the file or its cached reading was just read."""

    @classmethod
    def from_blocks(cls, name: str, blocks: Iterable[Block], title: str | None = None) -> Document:
        """Return the document called ``name`` that consists of ``blocks``."""
        passages = place_blocks(blocks, headings=True)
        return cls.of_passages(sound(name), sound(title or Path(name).stem or name), passages)

    @classmethod
    def of_passages(
        cls, name: str, title: str, passages: Iterable[Passage], version: Literal[1, 2] = 2
    ) -> Document:
        """Return the document of ``passages``, whose offsets are already set."""
        stored = _PASSAGES.dump_json(tuple(passages), exclude_defaults=True)
        return cls(name, title, stored, version)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Return the blocks, with page, heading and offset in characters."""
        return _PASSAGES.validate_json(self.stored)

    @cached_property
    def digest(self) -> str:
        """Return a hash of title and blocks, equal on every machine."""
        hashed = blake2b(self.stored, digest_size=16)
        hashed.update(self.title.encode())
        if self.version > 1:
            hashed.update(f"\0{self.version}".encode())
        return hashed.hexdigest()

    @property
    def file(self) -> str:
        """Return the name of the file that keeps the document."""
        return f"{self.digest}.json"


class Sources(NamedTuple):
    """Documents in the order given, and notices of files that could not be read."""

    documents: tuple[Document, ...]
    notices: tuple[str, ...]
    """One line, with the file's name, for each file that is left out or read incompletely."""


def read_sources(
    paths: str | Path | Sequence[str | Path],
    *,
    reader: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sources:
    """Return the documents in files and folders. The call blocks while it reads.

    A folder is read with its subfolders, in the order of names, without hidden files and links. A
    file that cannot be read, or has an unknown format, becomes a notice. ``progress`` gets the number
    of files done and the number of all files. Nothing is downloaded. ``reader`` replaces our reader: it
    is a function of a path, the class of a LangChain document loader, or the name of either.

    Raises InputError for a missing path, or if no file can be read; SettingsError for a reader
    that cannot be loaded; MissingPackage without the extra ``sources``.

    Example:
        >>> sources = read_sources(["notes.md", "reports"])  # doctest: +SKIP
        >>> [document.title for document in sources.documents]  # doctest: +SKIP
    """
    require("reading sources", "dialectree[sources]")
    path_list = [paths] if isinstance(paths, str | Path) else [*paths]
    if not path_list:
        raise InputError("no sources are named; give files or folders")
    own_reader = None
    if reader is not None:
        from dialectree.retrieval.readers import find_reader

        own_reader = find_reader(reader)
    notices: list[str] = []
    files = _files([Path(path) for path in path_list], notices)
    documents: list[Document] = []
    unknown: dict[str, list[UnknownFormat]] = {}
    with ReadingProcess() as process:
        for at, (path, name) in enumerate(files.items(), 1):
            try:
                document = _document(path, name, process, own_reader, notices)
                documents.append(replace(document, path=path))
            except UnknownFormat as error:
                unknown.setdefault(error.ending, []).append(error)
            except InputError as error:
                notices.append(str(error))
            if progress is not None:
                progress(at, len(files))
    notices += [_unknown_notice(errors) for errors in unknown.values()]
    if not documents:
        why = "; ".join(notices[:_NAMED]) or "there are none"
        more = f"; and {len(notices) - _NAMED} more" if len(notices) > _NAMED else ""
        raise InputError(f"none of the {len(files)} files of sources can be read: {why}{more}")
    return Sources(tuple(documents), tuple(notices))


def _unknown_notice(errors: Sequence[UnknownFormat]) -> str:
    """Return one line for all files of one unknown format."""
    first, *other_errors = errors
    if not other_errors:
        return str(first)
    return (
        f"{len(errors)} files that end in {first.ending} are not read ({first.name}, "
        f"{other_errors[0].name}{', ...' if len(other_errors) > 1 else ''}); give one of {list_endings()}"
    )


def _files(paths: Sequence[Path], notices: list[str]) -> dict[Path, str]:
    """Return each file once, with its name, or with its path if two names are equal."""
    files_by_path: dict[str, tuple[str, Path]] = {}
    for path in paths:
        if not os.path.exists(path):  # also for names that are too long or invalid
            problem = "no such file or folder; give a document or a folder of them"
            raise InputError(describe_missing_file(str(path), problem))
        if path.is_dir():
            for real, name, file in _below(path, notices):
                files_by_path.setdefault(real, (name, file))
        else:
            files_by_path.setdefault(os.path.realpath(path), (path.name, path))
    alike = Counter(name for name, _ in files_by_path.values())
    names = ((path, name if alike[name] == 1 else path.as_posix()) for name, path in files_by_path.values())
    return {path: _printable_name(name) for path, name in names}


def _printable_name(name: str) -> str:
    """Return a file's name on one line, with invalid UTF-8 bytes as ``\\xe9``."""
    return " ".join(os.fsencode(name).decode("utf-8", "backslashreplace").splitlines())


def _below(folder: Path, notices: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield each file below a folder: its real path, its path in the folder, and the path to open it."""

    def note_unreadable_folder(error: OSError) -> None:
        why = (error.strerror or str(error)).lower()
        notices.append(f"{error.filename}: cannot be read ({why}); check the folder")

    root = Path(os.path.realpath(folder))
    for at, folders, files in os.walk(folder, onerror=note_unreadable_folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        real, inside = os.path.realpath(at), Path(at).relative_to(folder)
        for name in sorted([*folders, *(name for name in files if not name.startswith("."))]):
            path = os.path.join(at, name)
            if os.path.islink(path):  # its target in the folder is read itself
                if not Path(os.path.realpath(path)).is_relative_to(root):
                    why = "a link that leads out of its folder; give the file itself"
                    notices.append(f"{path}: {why}")
            elif name not in folders:
                yield os.path.join(real, name), (inside / name).as_posix(), Path(path)


def _document(
    path: Path, name: str, process: ReadingProcess, reader: UserReader | None, notices: list[str]
) -> Document:
    """Return the document in a file, from the cache if it was read before."""
    data = bytes_of(path, name)
    if not data.strip():
        raise InputError(f"{name}: an empty file")
    file = File(name, data, path.parent, path)
    content = os.fsencode(path.name) + b":" + data
    document_with_notices = None
    if reader is not None and reader.takes(name):
        own_place = locate_reading(reader.key + content)
        document_with_notices = _read_once(name, own_place, partial(reader.read, file))
    if document_with_notices is None:
        format = find_format(name, data)
        # A LaTeX file includes others, so its content alone is no key for the cache.
        place = locate_reading(content) if format.name != "latex" else None
        ours = partial(read_file, file, format, process)
        document_with_notices = _read_once(name, place, ours, has_title_page=format.name == "pdf")
        assert document_with_notices is not None
    document, remarks = document_with_notices
    notices += [f"{name}: {notice}" for notice in (*remarks, *describe_left_out(document.left_out))]
    return document


def _read_once(
    name: str, place: Path | None, read: Callable[[], Reading | None], *, has_title_page: bool = False
) -> tuple[Document, list[str]] | None:
    """Return the document from the cache or from ``read``, and its notices.

    Returns None if ``read`` returns None. Raises InputError for a reading without text.
    """
    if place is not None and (cached := _load_cached(place, name)) is not None:
        return cached
    with reading(name):
        fresh_reading = read()
    if fresh_reading is None:
        return None
    if not fresh_reading.blocks:
        raise InputError(f"{name}: no text in it")
    first = next((block for block in fresh_reading.blocks if block.kind != "note"), fresh_reading.blocks[0])
    heading = first.text if first.heading and not has_title_page else None
    document = Document.from_blocks(
        name, fresh_reading.blocks, fresh_reading.title or heading or Path(name).stem
    )
    document = replace(document, left_out=tuple(fresh_reading.left_out))
    _keep(document, [*fresh_reading.notices], place)
    return document, [*fresh_reading.notices]


# Documents on disk by their digests, and cached digests by the contents of files


def documents_folder() -> Path:
    """Return the folder of the cache that keeps documents."""
    return cache_folder() / "documents"


def find_document_file(digest: str, folders: Iterable[Path]) -> Path | None:
    """Return the file of the document with this ``digest`` in the first folder that has it, or None."""
    if not _DIGEST.fullmatch(digest):  # a stranger's run could make it lead anywhere
        return None
    files = (folder / f"{digest}.json" for folder in folders)
    return next((file for file in files if file.is_file()), None)


def write_document(document: Document, folder: Path) -> Path:
    """Write ``document`` to ``folder`` by its digest, whole or not at all; return the file.

    A document in the cache is linked, so that many runs share one copy. Raises OSError if the
    folder cannot be written.
    """
    file, cached = folder / document.file, documents_folder() / document.file
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        os.link(cached, file)
        return file
    title = json.dumps(document.title, ensure_ascii=False).encode()
    head = b"".join([_TITLE, title, _STORED[document.version]])
    write_whole(file, head + document.stored + b"}\n")
    return file


def read_document(file: Path, name: str) -> Document:
    """Return the document in ``file``, called ``name``.

    Raises InputError, with this name, if the file was changed or is damaged.
    """
    try:
        content = file.read_bytes().removesuffix(b"}\n")
        version: Literal[1, 2] = 2 if _STORED[2] in content[:_LONGEST_HEAD] else 1
        head, stored = content.split(_STORED[version], 1)
        document = Document(name, json.loads(head.removeprefix(_TITLE)), stored, version)
        if document.file == file.name:
            return document
        why = "it was changed since it was written"
    except OSError as error:
        why = (error.strerror or str(error)).lower()
    except (ValueError, AttributeError):
        why = "it is damaged"
    raise InputError(f"{name}: its text in {file} cannot be read ({why}); give the source again")


_DIGEST = re.compile("[0-9a-f]{32}")
_TITLE = b'{"title": '
_STORED = {1: b',\n"passages": ', 2: b',\n"blocks": '}
_LONGEST_HEAD = 100_000
"""First bytes of a file, which include the document's title."""


def _load_cached(place: Path, name: str) -> tuple[Document, list[str]] | None:
    """Return the cached document of a file, and its notices; None if it is not cached."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        digest, notices, left_out = json.loads(place.read_bytes())
        document = read_document(file := documents_folder() / f"{digest}.json", name)
        for used in (place, file):
            os.utime(used)
        return replace(document, left_out=tuple(LeftOut(*part) for part in left_out)), notices
    return None


def _keep(document: Document, notices: list[str], place: Path | None) -> None:
    """Cache the document of a file; warn if the folder cannot be written."""
    try:
        write_document(document, documents_folder())
        if place is not None:
            kept_reading = [document.digest, notices, document.left_out]
            write_whole(place, json.dumps(kept_reading).encode())
    except OSError as error:
        log.warning("cannot cache documents in %s: %s", cache_folder(), error)
