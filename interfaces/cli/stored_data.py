"""Describe and delete runs, cached documents and cached replies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dialectree.errors import DialectreeError, InputError
from dialectree.interfaces.cli.stored_replies import count_replies, remove_replies
from dialectree.models.cache import SqliteCache, reply_cache
from dialectree.protocols.sources import CACHE_URL, cache_folder
from dialectree.records.folder import RunFolder
from dialectree.report import words
from dialectree.report.run_index import list_runs
from dialectree.system import clock
from dialectree.text import count, line

_DAY_S = 86_400
_DOCUMENTS = ("documents", "readings", "segments", "corpora", "vectors", "retrievals", "view")
"""Folders of the cache with texts of documents: as they were read, cut, indexed and embedded,
as a retriever returned them, and on pages of runs that were opened in a browser."""


class Deletion(NamedTuple):
    """Something that can be deleted, with its description and its size."""

    description: str
    """A line for people."""
    size: int
    """The size in bytes."""
    delete: Callable[[], None]


def describe_run(folder: RunFolder) -> Deletion:
    """Return the deletion of a run. Its ``delete`` raises RunFolderError for a run under way."""
    files = [*_files_below(folder.path)]
    size = sum(path.lstat().st_size for path in files)
    try:
        record = folder.record()
        about = f"{line(words.question(record), 60)} ({record.method}, {record.status})"
    except DialectreeError:
        about = "a run that cannot be read"

    def delete() -> None:
        with folder.lock():
            folder.remove()
        # Write the index again, without its quotations from this run.
        list_runs(folder.path.parent, lambda fault: None)

    return Deletion(f"{folder.path}: {about}, {count(len(files), 'file')}", size, delete)


def has_sources(folder: RunFolder) -> bool:
    """Return whether a run argues from documents, whose texts the cache may keep, too."""
    with suppress(DialectreeError):
        return bool(folder.record().sources)
    return False


def describe_cache(
    *, documents: bool, replies: bool, older_than_days: float | None = None
) -> Iterator[Deletion]:
    """Yield a deletion of the cached documents and one of the cached replies, if there are any.

    Args:
        documents: Include texts that were read, cut, indexed, embedded and retrieved.
        replies: Include replies of models that were paid for.
        older_than_days: Only documents last used, and replies paid for, more than this many days ago.

    Raises InputError if the replies are in a database of several machines.
    """
    before = None
    if older_than_days is not None:
        before = clock.read_utc_time().timestamp() - older_than_days * _DAY_S
    if documents:
        yield from _describe_documents(before)
    if replies:
        yield from _describe_replies(before)


def _describe_documents(before: float | None) -> Iterator[Deletion]:
    folders = [cache_folder() / name for name in _DOCUMENTS]
    files = [
        path
        for folder in folders
        for path in _files_below(folder)
        if before is None or _last_used(path, folder) < before
    ]

    def delete() -> None:
        for path in files:
            path.unlink(missing_ok=True)
        for folder in folders:
            _remove_empty(folder)

    if files:
        description = f"{cache_folder()}: {count(len(files), 'file')} of documents"
        yield Deletion(description, sum(path.lstat().st_size for path in files), delete)


def _describe_replies(before: float | None) -> Iterator[Deletion]:
    cache = reply_cache(cache_folder())
    if not isinstance(cache, SqliteCache):
        raise InputError(f"replies: {CACHE_URL} names a database that several machines share; clear it there")
    number, size = count_replies(cache, before)
    if number:
        description = f"{cache_folder()}: {number:,} {'reply' if number == 1 else 'replies'} of models"
        yield Deletion(description, size, lambda: remove_replies(cache, before))


def _last_used(path: Path, folder: Path) -> float:
    """Return the time of a file's last use; the files of a corpus are used together."""
    if folder.name == "corpora":
        path = folder / path.relative_to(folder).parts[0]
    return path.lstat().st_mtime


def _files_below(folder: Path) -> Iterator[Path]:
    for at, _, names in os.walk(folder):
        yield from (Path(at, name) for name in names)


def _remove_empty(folder: Path) -> None:
    """Remove folders without a file, the lowest first."""
    for at, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(at)


def total(deletions: Iterable[Deletion]) -> str:
    """Return the total size in words: ``1.2 MB``."""
    size = float(sum(deletion.size for deletion in deletions))
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
