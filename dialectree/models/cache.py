"""Replies that were paid for before, in one SQLite file shared by all runs of a user."""

from __future__ import annotations

import asyncio
import atexit
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from dialectree.errors import DiskFull, InputError
from dialectree.models.endpoints import Completion

_TABLE = """
create table if not exists completions (key text primary key, completion text not null)
without rowid
"""
_PATIENCE_S = 30.0
_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # how SQLite puts a quota and a limit on the size of files
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


class ReplyCache:
    """Completions by the key of their request. SQLite runs in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reply-cache")
        self._connection: sqlite3.Connection | None = None
        atexit.register(self.close)

    async def get(self, key: str) -> Completion | None:
        """The completion that was paid for before, or None."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._get, key)

    async def put(self, key: str, completion: Completion) -> None:
        """Keep a completion; the first one stays."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._put, key, completion)

    def close(self) -> None:
        """Done with; whoever asks again opens the file again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.execute(_TABLE)
        return self._connection

    def _get(self, key: str) -> Completion | None:
        query = "select completion from completions where key = ?"
        with self._clear_errors():
            row = self._open().execute(query, (key,)).fetchone()
            return Completion(**json.loads(row[0])) if row else None

    def _put(self, key: str, completion: Completion) -> None:
        values = (key, json.dumps(completion._asdict()))
        with self._clear_errors():
            self._open().execute("insert or ignore into completions values (?, ?)", values)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """What is wrong with the file, in one line."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self.close()
            if getattr(error, "sqlite_errorcode", None) in _NO_ROOM:
                hint = "free some, or use --no-cache, then resume"
                raise DiskFull(f"no room left for the reply cache {self._path}: {hint}") from error
            hint = "use --no-cache, delete the file, or point DIALECTREE_CACHE_DIR elsewhere"
            raise InputError(f"the reply cache {self._path}: {error}: {hint}") from error


@lru_cache(maxsize=8)
def reply_cache(folder: Path) -> ReplyCache:
    """The cache of this process in ``folder``."""
    return ReplyCache(folder / "replies.sqlite3")
