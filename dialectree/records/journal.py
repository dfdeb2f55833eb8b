"""Files of a run on disk: written whole or not at all, and the journals of a run: what models and
retrievers answered."""

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
"""Waits for the disk, for the journals of all runs."""
PROMPTS = "prompts.jsonl"
RETRIEVALS = "retrievals.jsonl"
_SYNC_S = 1.0
"""Seconds after which the disk is told of a line."""


class PromptText(Strict):
    """One line of prompts.jsonl: a message or a JSON Schema that calls sent."""

    hash: str
    text: str


def private(path: str, flags: int) -> int:
    """Open a file, as ``opener`` of ``open``; a new one is readable by its owner only.

    A symbolic link is not followed: somebody else's folder could lead to any file of the user's.
    """
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


@contextmanager
def files(path: Path, then: str = "resume") -> Iterator[None]:
    """Turns what the operating system says of ``path`` into one clear line.

    ``then`` is what to do once there is room again.
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
    """Add ``data`` at the end of ``file``, all of it or nothing; ``sync`` waits for the disk."""
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
    """The complete lines of a file, and whether a torn one follows them."""
    try:
        with open(path, "rb", opener=private) as file:
            return split_lines(file.read())
    except FileNotFoundError:
        return [], False


def split_lines(data: bytes) -> tuple[list[bytes], bool]:
    """Return the complete lines of ``data``, and whether a torn one follows them.

    The data are read at once: in a file that grows, reading line by line would go on behind a torn
    line, in the middle of it.
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
        """Open from the first new text on."""

    def keep(self, texts: Mapping[str, str]) -> None:
        """Write those of ``texts`` that are not there yet."""
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
        """Wait until the disk has them."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class RetrievedText(Strict):
    """A text that a retriever returned, as a segment of a source."""

    id: str
    """Its id in the run, as ``s3:1``."""
    name: str
    """The name of its source: a file, an address or a title."""
    title: str
    text: str
    page: int | None = None
    sentences: list[tuple[int, int]] = Field(min_length=1)
    """Where each sentence begins and ends, in characters of the text."""


class RetrievalLine(Strict):
    """One line of retrievals.jsonl: what was found for a query, the best first."""

    by: str
    """The name of the retriever, or of the model that put segments in order."""
    query: str
    ids: list[str]
    new: list[RetrievedText] = Field(default_factory=list)
    """Those of them that were not returned before."""


class Retrievals:
    """retrievals.jsonl: what was retrieved before, and what is retrieved now.

    A run without a folder keeps them in memory. There is no file before the first of them.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, threading.Lock()
        self._ids: dict[tuple[str, str], list[str]] = {}
        self.passages: dict[str, RetrievedText] = {}
        """All that was returned, by id, in the order in which it was."""
        self.by = ""
        """The name of the retriever that returned something last; empty where none did."""
        if path is not None:
            with files(path):
                lines, torn = whole_lines(path)
                if torn:
                    os.truncate(path, sum(map(len, lines)))
            for line in parse_lines(path, lines, RetrievalLine):
                self._take(line)

    def ids(self, by: str, query: str) -> list[str] | None:
        """Return what was found for ``query``, the best first; None where nobody looked for it."""
        return self._ids.get((by, query))

    def copy_in_memory(self) -> Retrievals:
        """Return a copy in memory, which leaves the file as it is."""
        copy = Retrievals()
        copy._ids, copy.passages, copy.by = {**self._ids}, {**self.passages}, self.by
        return copy

    async def keep(self, line: RetrievalLine) -> None:
        """Keep a retrieval; the disk has it when this returns."""
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
    """calls.jsonl: the calls that were made before, and the ones that are made now."""

    placed: Mapping[tuple[str, Spot], Call] = {}
    """Those made before by key and place: the same request at two places has two replies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with files(path):
            lines, torn = whole_lines(path)
            calls = list(parse_lines(path, lines, Call))
            self.answers = {c.key: c.reply or "" for c in calls if c.source == "person"}
            """What persons answered before, by what they were shown."""
            calls = [call for call in calls if call.source != "person"]
            self.past: Mapping[str, Call] = {call.key: call for call in calls}
            self.placed = {(call.key, call.spot()): call for call in calls}
            self._file = open(path, "ab", buffering=0, opener=private)  # noqa: SIM115 - closed by close()
            if torn:
                self._file.truncate(sum(map(len, lines)))
        self._texts = _Texts(path.with_name(PROMPTS))
        self.retrievals = Retrievals(path.with_name(RETRIEVALS))
        self._waiting: asyncio.TimerHandle | None = None
        """Until the disk is told of what it does not know yet; None where it knows all."""
        self._syncing: Future[None] | None = None
        self._failed: OSError | None = None
        """Why the disk could not keep a line."""

    def append(self, call: Call, texts: Mapping[str, str] | None = None) -> None:
        """The call's line is in the file when this returns: no end of the process can lose it.

        ``texts`` are those that it sent, by hash; they are written first. The disk is told within a
        second, so that a machine without power loses no more. Raises DiskFull or RunFolderError,
        also for an earlier line that the disk could not keep.
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
        """Returns when the disk has every line. Others go on meanwhile."""
        self._begin_sync()
        if self._syncing is not None:
            await asyncio.shield(asyncio.wrap_future(self._syncing))

    def close(self) -> None:
        """No call is added any more. Raises as ``append`` where the disk does not have them all."""
        self._begin_sync()
        if self._syncing is not None:
            wait([self._syncing])
        self._file.close()
        self._texts.close()
        with files(self._path):
            if self._failed is not None:
                raise self._failed
