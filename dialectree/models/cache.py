"""Keep replies that were paid for, in one SQLite file for all runs of a user."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dialectree.errors import DiskFull, InputError
from dialectree.loop import is_ours
from dialectree.models.endpoints import Completion
from dialectree.threads import Threads

_TABLE = """
create table if not exists completions (key text primary key, completion text not null)
without rowid
"""
_QUERY = "select completion from completions where key = ?"
_PATIENCE_S = 30.0
_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # how SQLite puts a quota and a limit on the size of files
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


Rows = list[tuple[str, Completion]]


class _Connections(NamedTuple):
    """Connections to one file."""

    reading: sqlite3.Connection
    writing: sqlite3.Connection


class ReplyCache:
    """Completions by the key of their request.

    One thread writes. A read takes less time than a hand-over to a thread, and waits for no
    writer; in a host's event loop, which must not wait for a file, it is handed over all the same.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = Threads(1, "reply-cache")
        self._reader = Threads(1, "reply-cache-reader")
        self._next: dict[asyncio.AbstractEventLoop, tuple[Rows, asyncio.Task[None]]] = {}
        """What each event loop writes next."""
        self._unwritten: dict[str, Completion] = {}
        self._connections: _Connections | None = None
        self._opening = threading.Lock()
        self._reading = threading.Lock()
        """Reads that overlapped would all see the file as the first one did."""
        atexit.register(self.close)

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        if unwritten := self._unwritten.get(key):
            return unwritten
        loop = asyncio.get_running_loop()
        if self._connections is None:
            await loop.run_in_executor(self._thread, self._open)
        if is_ours(loop):
            return self._get(key)
        completion = await loop.run_in_executor(self._reader, self._get, key)
        return completion or self._unwritten.get(key)

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion, unless there is one; ``get`` returns it from now on.

        The replies that an event loop puts before it turns to the file are written together.
        """
        self._unwritten.setdefault(key, completion)
        loop = asyncio.get_running_loop()
        if loop not in self._next:
            self._next[loop] = [], loop.create_task(self._write(loop))
        rows, task = self._next[loop]
        rows.append((key, completion))
        return asyncio.shield(task)

    async def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            await asyncio.sleep(0)
        finally:
            rows, _ = self._next.pop(loop)
        await loop.run_in_executor(self._thread, self._put, rows)

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        opened, self._connections = self._connections, None
        for connection in opened or ():
            connection.close()

    def _open(self) -> _Connections:
        with self._opening, self._clear_errors():
            if self._connections is None:
                self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
                self._path.touch(0o600)  # SQLite's side files get the mode of this one
                with suppress(PermissionError):  # it is somebody else's
                    self._path.chmod(0o600)
                made = _Connections(self._connected(), self._connected())
                made.writing.execute("pragma journal_mode=wal")
                made.writing.execute("pragma synchronous=normal")
                made.writing.execute(_TABLE)
                self._connections = made
            return self._connections

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
        )

    def _get(self, key: str) -> Completion | None:
        with self._clear_errors():
            reading = self._open().reading
            with self._reading:
                found = reading.execute(_QUERY, (key,)).fetchone()
            return Completion(**json.loads(found[0])) if found else None

    def _put(self, new: Rows) -> None:
        rows = [(key, json.dumps(completion._asdict())) for key, completion in new]
        try:
            with self._clear_errors():
                connection = self._open().writing
                connection.execute("begin immediate")
                connection.executemany("insert or ignore into completions values (?, ?)", rows)
                connection.execute("commit")
        finally:
            for key, _ in new:
                self._unwritten.pop(key, None)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn an error of the file into one line."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self.close()
            if getattr(error, "sqlite_errorcode", None) in _NO_ROOM:
                hint = "free some, or use --no-cache, then resume"
                raise DiskFull(f"no room left for the reply cache {self._path}: {hint}") from error
            hint = "use --no-cache, delete the file, or point DIALECTREE_CACHE_DIR elsewhere"
            raise InputError(f"the reply cache {self._path}: {error}: {hint}") from error


def reply_cache(folder: Path) -> ReplyCache:
    """Return the cache of this process in ``folder``."""
    return _reply_cache(folder, os.getpid())


@lru_cache(maxsize=8)
def _reply_cache(folder: Path, _process: int) -> ReplyCache:
    """Return a cache for each process: a forked one cannot use its parent's connections."""
    return ReplyCache(folder / "replies.sqlite3")
