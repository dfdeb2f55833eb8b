"""Keep replies in a table of PostgreSQL, which several machines share."""

from __future__ import annotations

import asyncio
import json

from dialectree.models.endpoints import Completion
from dialectree.protocols.sources import CACHE_HINT
from dialectree.system import databases

_TABLE = """
create table if not exists dialectree_replies (key text primary key, completion text not null)
"""
_GET = "select completion from dialectree_replies where key = $1"
_PUT = "insert into dialectree_replies values ($1, $2) on conflict do nothing"


class PostgresCache:
    """Completions by the key of their request, in the table ``dialectree_replies``."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        with databases.reaching("the reply cache", self._url, CACHE_HINT):
            pool = await databases.postgres(self._url, _TABLE)
            text = await pool.fetchval(_GET, key)
            return Completion(**json.loads(text)) if text is not None else None

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion unless the key has one; a later ``get`` returns it."""
        return asyncio.ensure_future(self._put(key, json.dumps(completion._asdict())))

    async def _put(self, key: str, text: str) -> None:
        with databases.reaching("the reply cache", self._url, CACHE_HINT):
            pool = await databases.postgres(self._url, _TABLE)
            await pool.execute(_PUT, key, text)
