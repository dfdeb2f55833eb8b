"""The reply cache: replies that were paid for, kept for all runs of a user or of several servers.

It is a file of the user's (SQLite), or a database that several machines share, where
DIALECTREE_CACHE_URL names one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Protocol
from weakref import finalize

from dialectree.errors import DiskFull, InputError
from dialectree.models.asking import Completion
from dialectree.protocols.sources import CACHE_URL, cache_url
from dialectree.system import clock
from dialectree.system.loop import Threads
from dialectree.system.parts import PlugPoint


class ReplyCache(Protocol):
    """Completions by the key of their request.

    Its methods raise one InputError or DiskFull that says which cache failed and what to do.
    """

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        ...

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion unless the key has one; a later ``get`` returns it."""
        ...


class SharedCaches(Protocol):
    """The part that keeps replies in a database that several machines share."""

    def open_cache(self, url: str) -> ReplyCache:
        """Return the cache at an address; SettingsError or MissingPackage where there is none."""
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
    """Return a completion out of a cache."""
    return Completion(**json.loads(text))


def dump_completion(completion: Completion) -> str:
    """Return a completion as a cache keeps it."""
    return json.dumps(completion._asdict())


_SQLITE_TABLES = """
create table if not exists completions (key text primary key, completion text not null)
without rowid;
create table if not exists kept (key text primary key, at integer not null) without rowid;
"""
"""``kept`` has the time of each completion, in seconds since 1970. Under "" it has the time when it
was made: completions of earlier versions count as kept then."""
_OF_AN_AGE = """
from completions left join kept using (key)
where coalesce(kept.at, (select at from kept where key = '')) < ?
"""
_KEPT = "insert or ignore into kept values (?, ?)"


def _now() -> int:
    return int(clock.now().timestamp())


def _until(before: float | None) -> float:
    return float("inf") if before is None else before


_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # SQLite reports a quota and a limit on file sizes like this
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


class SqliteCache:
    """Replies in one file of a user. One thread reads and writes, in the order asked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = Threads(1, "reply-cache")
        self._connection: sqlite3.Connection | None = None

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._get, key)

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion unless the key has one; a later ``get`` returns it."""
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._thread, self._put, key, completion)

    def count(self, before: float | None = None) -> tuple[int, int]:
        """Return how many completions there are, and their size in bytes.

        ``before``, in seconds since 1970, counts those alone that were kept earlier.
        """
        if not self._path.is_file():
            return 0, 0
        try:
            query = f"select count(*), coalesce(sum(length(completion)), 0) {_OF_AN_AGE}"
            number, size = self._open().execute(query, (_until(before),)).fetchone()
            return int(number), int(size)
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from error

    def remove(self, before: float | None = None) -> None:
        """Remove completions, those kept ``before`` a time alone if one is given.

        Nothing of them stays in the file.
        """
        try:
            connection, until = self._open(), (_until(before),)
            connection.execute("pragma secure_delete = on")
            connection.execute(
                f"delete from completions where key in (select key {_OF_AN_AGE})", until
            )
            connection.execute(
                "delete from kept where key != '' and key not in (select key from completions)"
            )
            connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _get(self, key: str) -> Completion | None:
        try:
            query = "select completion from completions where key = ?"
            row = self._open().execute(query, (key,)).fetchone()
            return load_completion(row[0]) if row else None
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            raise self._failure(error) from error

    def _put(self, key: str, completion: Completion) -> None:
        row = key, dump_completion(completion)
        try:
            connection = self._open()
            connection.execute("begin immediate")
            try:
                connection.execute("insert or ignore into completions values (?, ?)", row)
                connection.execute(_KEPT, (key, _now()))
            finally:
                connection.execute("commit")
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
            self._path.touch(0o600)  # SQLite's side files get the mode of this one
            with suppress(PermissionError):  # another user owns the file
                self._path.chmod(0o600)
            self._connection = sqlite3.connect(
                self._path, timeout=30, isolation_level=None, check_same_thread=False
            )
            finalize(self, self._connection.close)  # at the end of the program, too
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.executescript(_SQLITE_TABLES)
            self._connection.execute(_KEPT, ("", _now()))
        return self._connection

    def _failure(self, error: Exception) -> DiskFull | InputError:
        """Close the file and return one line on what is wrong with it."""
        self.close()
        if getattr(error, "sqlite_errorcode", None) in _NO_ROOM:
            hint = "free some, or use `cache=False`"
            return DiskFull(f"no room left for the reply cache {self._path}: {hint}")
        hint = "use `cache=False`, delete the file, or point DIALECTREE_CACHE_DIR elsewhere"
        return InputError(f"the reply cache {self._path}: {error}: {hint}")
