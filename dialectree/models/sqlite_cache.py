"""Keep replies that were paid for, in one SQLite file for all runs of a user."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import weakref
from contextlib import suppress
from pathlib import Path

from dialectree.errors import DiskFull, InputError
from dialectree.models.endpoints import Completion
from dialectree.system.threads import Threads

_TABLE = """
create table if not exists completions (key text primary key, completion text not null)
without rowid
"""
_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # SQLite reports a quota and a limit on file sizes like this
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


class SqliteCache:
    """Completions by the key of their request. One thread reads and writes, in the order asked."""

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

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _get(self, key: str) -> Completion | None:
        try:
            query = "select completion from completions where key = ?"
            row = self._open().execute(query, (key,)).fetchone()
            return Completion(**json.loads(row[0])) if row else None
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            raise self._failure(error) from error

    def _put(self, key: str, completion: Completion) -> None:
        row = key, json.dumps(completion._asdict())
        try:
            self._open().execute("insert or ignore into completions values (?, ?)", row)
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
            weakref.finalize(self, self._connection.close)  # at the end of the program, too
            self._connection.execute("pragma journal_mode=wal")
            self._connection.execute("pragma synchronous=normal")
            self._connection.execute(_TABLE)
        return self._connection

    def _failure(self, error: Exception) -> DiskFull | InputError:
        """Close the file and return one line on what is wrong with it."""
        self.close()
        if getattr(error, "sqlite_errorcode", None) in _NO_ROOM:
            hint = "free some, or use --no-cache"
            return DiskFull(f"no room left for the reply cache {self._path}: {hint}")
        hint = "use --no-cache, delete the file, or point DIALECTREE_CACHE_DIR elsewhere"
        return InputError(f"the reply cache {self._path}: {error}: {hint}")
