"""The reply cache: paid replies, stored for all runs of a user or of several servers.

It is an SQLite file of the user, or the shared database that DIALECTREE_CACHE_URL names.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol
from weakref import finalize

from dialectree.errors import DiskFull, InputError
from dialectree.models.asking import Completion
from dialectree.protocols.sources import CACHE_URL, cache_url
from dialectree.system import clock
from dialectree.system.loop import Threads
from dialectree.system.parts import PlugPoint


class ReplyCache(Protocol):
    """A store of completions, by the key of their request.

    The methods raise InputError or DiskFull. These errors say which cache failed and what to do.
    """

    async def get(self, key: str) -> Completion | None:
        """Return the stored completion of ``key``, or None."""
        ...

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Store ``completion``, unless ``key`` has one; a later ``get`` returns the stored completion."""
        ...


class SharedCaches(Protocol):
    """The part that stores replies in a database that several machines share."""

    def open_cache(self, url: str) -> ReplyCache:
        """Return the cache at ``url``; raise SettingsError or MissingPackage if it is unusable."""
        ...


SHARED_CACHES: PlugPoint[SharedCaches] = PlugPoint("shared_caches", CACHE_URL)


def reply_cache(folder: Path) -> ReplyCache:
    """Return the cache that DIALECTREE_CACHE_URL names; without it, the file in ``folder``."""
    return _reply_cache(cache_url(), folder, os.getpid())


@lru_cache(maxsize=8)
def _reply_cache(url: str | None, folder: Path, _process: int) -> ReplyCache:
    """Return a cache for each process: a forked process cannot use its parent's connection."""
    if url is None:
        return SqliteCache(folder / "replies.sqlite3")
    return SHARED_CACHES.require().open_cache(url)


def load_completion(text: str) -> Completion:
    """Return a completion from its text in a cache."""
    return Completion(**json.loads(text))


def dump_completion(completion: Completion) -> str:
    """Return the text that a cache stores for a completion."""
    return json.dumps(completion._asdict())


_SQLITE_TABLES = """
create table if not exists completions (key text primary key, completion text not null)
without rowid;
create table if not exists kept (key text primary key, at integer not null) without rowid;
"""
"""The table ``kept`` has the time of each completion, in seconds since 1970. The row "" has the time
at which the table was created; it stands for completions that have no row, from earlier versions."""
_KEPT = "insert or ignore into kept values (?, ?)"


def _get_timestamp() -> int:
    return int(clock.read_utc_time().timestamp())


_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # SQLite reports a quota and a limit on file sizes like this
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


class _Request(NamedTuple):
    """A completion to read or to store."""

    answer: asyncio.Future[Any]
    key: str
    completion: Completion | None


def _hand_out(loop: asyncio.AbstractEventLoop, results: Iterable[tuple[_Request, Any]]) -> None:
    """Deliver ``results`` to the requests of ``loop``."""
    for (answer, *_), result in results:
        if answer.get_loop() is loop and not answer.done():
            failed = isinstance(result, Exception)
            (answer.set_exception if failed else answer.set_result)(result)


class SqliteCache:
    """A cache in one file of a user. One thread reads and writes, in the order of the requests.

    The thread serves all waiting requests as one batch, because a wide debate sends many at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread, self._lock = Threads(1, "reply-cache"), Lock()
        self._asked: list[_Request] = []
        self._working = False
        self._connection: sqlite3.Connection | None = None

    async def get(self, key: str) -> Completion | None:
        """Return the stored completion of ``key``, or None."""
        completion: Completion | None = await self._ask(key)
        return completion

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Store ``completion``, unless ``key`` has one; a later ``get`` returns the stored completion."""
        return self._ask(key, completion)

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, key: str, completion: Completion | None = None) -> asyncio.Future[Any]:
        """Queue a request, and return the future of its result."""
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        with self._lock:
            self._asked.append(_Request(answer, key, completion))
            idle, self._working = not self._working, True
        if idle:
            try:
                self._thread.submit(self._work)
            except BaseException:  # Ctrl-C while a thread starts: the next request starts one
                self._working = False
                raise
        return answer

    def _work(self) -> None:
        """Answer all requests, one batch at a time."""
        while True:
            with self._lock:
                batch, self._asked = self._asked, []
                self._working = bool(batch)
            if not batch:
                return
            results = [*zip(batch, self._answer(batch), strict=True)]
            for loop in {request.answer.get_loop() for request in batch}:
                with suppress(RuntimeError):  # the loop is closed: no request waits
                    loop.call_soon_threadsafe(_hand_out, loop, results)

    def _answer(self, batch: Sequence[_Request]) -> Sequence[Completion | Exception | None]:
        """Return the result of each request; reads stay valid even if a write fails."""
        results: list[Completion | Exception | None] = []
        try:
            connection = self.open()
            if writes := any(request.completion is not None for request in batch):
                connection.execute("begin immediate")
            try:
                for request in batch:
                    results.append(self._serve(connection, request))
            finally:
                if writes:
                    connection.execute("commit")
        except Exception as error:  # the waiting requests must learn of any error
            read = len(results)
            results += [None] * (len(batch) - read)
            for n, request in enumerate(batch):
                if n >= read or request.completion is not None:
                    results[n] = self.fail(error)
        return results

    def _serve(self, connection: sqlite3.Connection, request: _Request) -> Completion | Exception | None:
        if request.completion is not None:
            row = request.key, dump_completion(request.completion)
            connection.execute("insert or ignore into completions values (?, ?)", row)
            connection.execute(_KEPT, (request.key, _get_timestamp()))
            return None
        query = "select completion from completions where key = ?"
        row = connection.execute(query, (request.key,)).fetchone()
        try:
            return load_completion(row[0]) if row else None
        except (ValueError, TypeError) as error:  # only this request fails
            return InputError(self._describe(error))

    def open(self) -> sqlite3.Connection:
        """Return the open connection to the file; open it, and create the file, if necessary."""
        if self._connection is None:
            self.path.parent.mkdir(0o700, parents=True, exist_ok=True)
            self.path.touch(0o600)  # SQLite's side files get the mode of this one
            with suppress(PermissionError):  # another user owns the file
                self.path.chmod(0o600)
            self._connection = sqlite3.connect(
                self.path, timeout=30, isolation_level=None, check_same_thread=False
            )
            finalize(self, self._connection.close)  # at the end of the program, too
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.executescript(_SQLITE_TABLES)
            self._connection.execute(_KEPT, ("", _get_timestamp()))
        return self._connection

    def fail(self, error: Exception) -> DiskFull | InputError:
        """Close the file and return one line on what is wrong with it."""
        self.close()
        if getattr(error, "sqlite_errorcode", None) in _NO_ROOM:
            hint = "free some, or use `cache=False`"
            return DiskFull(f"no room left for the reply cache {self.path}: {hint}")
        return InputError(self._describe(error))

    def _describe(self, error: Exception) -> str:
        problem = f"the reply cache {self.path}: {error}"
        return f"{problem}: use `cache=False`, delete the file, or point DIALECTREE_CACHE_DIR elsewhere"
