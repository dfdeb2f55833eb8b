"""Replies that were paid for before, in one SQLite file shared by all runs of a user."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from dialectree.errors import DiskFull, InputError
from dialectree.records import Call

_TABLE = (
    "create table if not exists replies (key text primary key, call text not null) without rowid"
)


class ReplyCache:
    """Calls by their key. Used from one thread of its own, never from the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reply-cache")
        self._local = threading.local()

    def _open(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            connection.execute(_TABLE)
            self._local.connection = connection
        return connection

    async def get(self, key: str) -> Call | None:
        """The call that was made before, or None."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._get, key)

    async def put(self, key: str, call: Call) -> None:
        """Keep a call; the first one stays."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._put, key, call)

    def _get(self, key: str) -> Call | None:
        with _faults(self._path):
            query = "select call from replies where key = ?"
            row = self._open().execute(query, (key,)).fetchone()
        return Call.model_validate_json(row[0]) if row else None

    def _put(self, key: str, call: Call) -> None:
        with _faults(self._path):
            values = (key, call.model_dump_json())
            self._open().execute("insert or ignore into replies values (?, ?)", values)


class _faults:
    """What SQLite says of the cache's file, as one clear line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
            raise DiskFull(f"no room left for the reply cache {self._path}") from error
        if isinstance(error, sqlite3.Error | OSError):
            hint = "use --no-cache, or point DIALECTREE_CACHE_DIR elsewhere"
            raise InputError(f"the reply cache {self._path}: {error}: {hint}") from error


@lru_cache(maxsize=8)
def reply_cache(folder: Path) -> ReplyCache:
    """The cache of this process in ``folder``."""
    return ReplyCache(folder / "replies.sqlite3")
