"""Write the files of a run whole or not at all, and keep its journals: the answers of models and
retrievers."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field, ValidationError

from dialectree.errors import NO_ROOM, DiskFull, RunFolderError, fault_line
from dialectree.records.ledger import Call
from dialectree.records.place import Spot, Strict
from dialectree.system.loop import Threads

Line = TypeVar("Line", bound=BaseModel)
_DISK = Threads(8, "journal")
"""Threads that wait for the disk, shared by the journals of all runs."""
PROMPTS = "prompts.jsonl"
RETRIEVALS = "retrievals.jsonl"
_SYNC_S = 1.0
"""Seconds until a line is synced to the disk."""


class PromptText(Strict):
    """One line of prompts.jsonl: a message or a JSON Schema that calls sent."""

    hash: str
    text: str


def private(path: str, flags: int) -> int:
    """Open a file, as ``opener`` of ``open``; make new files readable only by their owner.

    Does not follow symbolic links: in another person's folder they could lead to any of the user's files.
    """
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


@contextmanager
def files(path: Path, then: str = "resume") -> Iterator[None]:
    """Turn errors of the operating system on ``path`` into one clear line.

    ``then`` says what the user can do after freeing space.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(f"no room left to write {path}: free some, then {then}") from error
        if error.errno == errno.ELOOP:
            raise RunFolderError(f"{path}: a symbolic link, which is not followed") from error
        raise RunFolderError(f"{path}: {error.strerror or error}") from error


def append_whole(file: io.FileIO, data: bytes, *, sync: bool) -> None:
    """Append all or none of ``data`` to ``file``; ``sync`` waits for the disk."""
    end = file.seek(0, os.SEEK_END)
    try:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        if sync:
            os.fsync(file.fileno())
    except OSError:
        file.truncate(end)
        raise


def whole_lines(path: Path) -> tuple[list[bytes], bool]:
    """Return the complete lines of a file, and whether an incomplete line follows them."""
    try:
        with open(path, "rb", opener=private) as file:
            return split_lines(file.read())
    except FileNotFoundError:
        return [], False


def split_lines(data: bytes) -> tuple[list[bytes], bool]:
    """Return the complete lines of ``data``, and whether an incomplete line follows them.

    Read a growing file at once: reading line by line could go on in the middle of an incomplete
    line.
    """
    body, newline, torn = data.rpartition(b"\n")
    return [line + b"\n" for line in body.split(b"\n")] if newline else [], bool(torn)


def parse_lines(path: Path, lines: list[bytes], kind: type[Line]) -> Iterator[Line]:
    for number, line in enumerate(lines, 1):
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            message = f"{path}, line {number} cannot be read: {fault_line(error)}"
            raise RunFolderError(message) from None


def ledger(folder: Path) -> list[Call]:
    """Return every line of calls.jsonl in the folder of a run."""
    path = folder / "calls.jsonl"
    with files(path):
        return list(parse_lines(path, whole_lines(path)[0], Call))


class _Texts:
    """prompts.jsonl: the texts that calls sent, each once, by its hash."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with files(path):
            lines, torn = whole_lines(path)
            if torn:
                os.truncate(path, sum(map(len, lines)))
        self._known = {text.hash for text in parse_lines(path, lines, PromptText)}
        self._file: io.FileIO | None = None
        """The file, opened at the first new text."""

    def keep(self, texts: Mapping[str, str]) -> None:
        """Write the ``texts`` that are not in the file yet."""
        new = texts.keys() - self._known
        if not new:
            return
        if self._file is None:
            self._file = open(self._path, "ab", buffering=0, opener=private)  # noqa: SIM115
        lines = (
            PromptText(hash=name, text=texts[name]).model_dump_json() + "\n" for name in texts if name in new
        )
        append_whole(self._file, "".join(lines).encode(), sync=False)
        self._known |= new

    def sync(self) -> None:
        """Wait until the texts are on the disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class RetrievedText(Strict):
    """A text that a retriever returned, as a segment of a source."""

    id: str
    """Its id in the run, such as ``s3:1``."""
    name: str
    """The name of its source: a file, an address or a title."""
    title: str
    text: str
    page: int | None = None
    sentences: list[tuple[int, int]] = Field(min_length=1)
    """The start and end of each sentence, in characters of the text."""


class RetrievalLine(Strict):
    """One line of retrievals.jsonl: the texts found for a query, the best first."""

    by: str
    """The name of the retriever, or of the model that put segments in order."""
    query: str
    ids: list[str]
    new: list[RetrievedText] = Field(default_factory=list)
    """The texts that were not returned before."""


class Retrievals:
    """retrievals.jsonl: the earlier and the new retrievals of a run.

    A run without a folder keeps them in memory. The first retrieval creates the file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, threading.Lock()
        self._ids: dict[tuple[str, str], list[str]] = {}
        self.passages: dict[str, RetrievedText] = {}
        """All returned texts by id, in the order of their return."""
        self.by = ""
        """The name of the retriever that returned the last texts; "" before the first ones."""
        if path is not None:
            with files(path):
                lines, torn = whole_lines(path)
                if torn:
                    os.truncate(path, sum(map(len, lines)))
            for line in parse_lines(path, lines, RetrievalLine):
                self._take(line)

    def ids(self, by: str, query: str) -> list[str] | None:
        """Return the ids found for ``query``, the best first; None if it is a new query."""
        return self._ids.get((by, query))

    def copy_in_memory(self) -> Retrievals:
        """Return a copy in memory, which leaves the file as it is."""
        copy = Retrievals()
        copy._ids, copy.passages, copy.by = {**self._ids}, {**self.passages}, self.by
        return copy

    async def keep(self, line: RetrievalLine) -> None:
        """Keep a retrieval; when this returns, it is on the disk."""
        self._take(line)
        if self._path is not None:
            await asyncio.wrap_future(_DISK.submit(self._write, self._path, line))

    def _take(self, line: RetrievalLine) -> None:
        self._ids[line.by, line.query] = line.ids
        self.passages |= {passage.id: passage for passage in line.new}
        self.by = line.by if line.new else self.by

    def _write(self, path: Path, line: RetrievalLine) -> None:
        data = line.model_dump_json().encode() + b"\n"
        with self._lock, files(path), open(path, "ab", buffering=0, opener=private) as file:
            append_whole(file, data, sync=True)


class Journal:
    """calls.jsonl: the earlier and the new calls of a run."""

    placed: Mapping[tuple[str, Spot], Call] = {}
    """Earlier calls by key and place: one request at two places has two replies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with files(path):
            lines, torn = whole_lines(path)
            calls = list(parse_lines(path, lines, Call))
            self.answers = {c.key: c.reply or "" for c in calls if c.source == "person"}
            """Earlier answers of persons, by the digest of what they were shown."""
            calls = [call for call in calls if call.source != "person"]
            self.past: Mapping[str, Call] = {call.key: call for call in calls}
            self.placed = {(call.key, call.spot()): call for call in calls}
            self._file = open(path, "ab", buffering=0, opener=private)  # noqa: SIM115 - closed by close()
            if torn:
                self._file.truncate(sum(map(len, lines)))
        self._texts = _Texts(path.with_name(PROMPTS))
        self.retrievals = Retrievals(path.with_name(RETRIEVALS))
        self._waiting: asyncio.TimerHandle | None = None
        """The timer of the next sync; None if all lines are synced."""
        self._syncing: Future[None] | None = None
        self._failed: OSError | None = None
        """The error of the last write that failed on the disk."""

    def append(self, call: Call, texts: Mapping[str, str] | None = None) -> None:
        """Write the call's line to the file: when this returns, a crash of the process cannot lose it.

        ``texts`` are the texts that the call sent, by hash; they are written first. The line is synced
        within a second: a power failure can lose only the last second. Raises DiskFull or RunFolderError,
        also for an earlier line that could not be synced.
        """
        with files(self._path):
            if self._failed is not None:
                raise self._failed
            self._texts.keep(texts or {})
            append_whole(self._file, call.model_dump_json().encode() + b"\n", sync=False)
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(_SYNC_S, self._begin_sync)

    def _begin_sync(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            self._syncing = _DISK.submit(self._sync, self._syncing)

    def _sync(self, before: Future[None] | None) -> None:
        if before is not None:  # a slow disk
            wait([before])
        try:
            self._texts.sync()
            os.fsync(self._file.fileno())
        except OSError as error:
            self._failed = self._failed or error

    async def settle(self) -> None:
        """Wait until every line is on the disk, without blocking other tasks."""
        self._begin_sync()
        if self._syncing is not None:
            await asyncio.shield(asyncio.wrap_future(self._syncing))

    def close(self) -> None:
        """Close the file. Raises the errors of ``append`` if a line could not be synced."""
        self._begin_sync()
        if self._syncing is not None:
            wait([self._syncing])
        self._file.close()
        self._texts.close()
        with files(self._path):
            if self._failed is not None:
                raise self._failed
