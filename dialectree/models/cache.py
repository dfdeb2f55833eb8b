"""The reply cache: replies that were paid for, kept for all runs of a user or of several servers.

It is a file of the user's (SQLite), or a database that several machines share, where
DIALECTREE_CACHE_URL names one.
"""

from __future__ import annotations

import asyncio
import os
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from dialectree.models.endpoints import Completion
from dialectree.protocols.sources import CACHE_URL, cache_url
from dialectree.system import databases
from dialectree.system.packages import require


class ReplyCache(Protocol):
    """Completions by the key of their request.

    Both methods raise one InputError or DiskFull that says which cache failed and what to do.
    """

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        ...

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion unless the key has one; a later ``get`` returns it."""
        ...


def reply_cache(folder: Path) -> ReplyCache:
    """Return the cache that DIALECTREE_CACHE_URL names; without it, the file in ``folder``."""
    return _reply_cache(cache_url(), folder, os.getpid())


@lru_cache(maxsize=8)
def _reply_cache(url: str | None, folder: Path, _process: int) -> ReplyCache:
    """Return a cache for each process: a forked process cannot use its parent's connection."""
    if url is None:
        from dialectree.models.sqlite_cache import SqliteCache

        return SqliteCache(folder / "replies.sqlite3")
    extra = databases.extra(url, CACHE_URL)
    require(CACHE_URL, f"dialectree[{extra}]")
    if extra == "redis":
        from dialectree.models.redis_cache import RedisCache

        return RedisCache(url)
    from dialectree.models.postgres_cache import PostgresCache

    return PostgresCache(url)
