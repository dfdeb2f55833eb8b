"""Keep replies in Redis, which several machines share."""

from __future__ import annotations

import asyncio
import json

from dialectree.models.endpoints import Completion
from dialectree.protocols.sources import CACHE_HINT
from dialectree.system import databases


class RedisCache:
    """Completions by the key of their request, each under ``dialectree:reply:KEY``."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        with databases.reaching("the reply cache", self._url, CACHE_HINT):
            client = await databases.redis(self._url)
            text = await client.get(_name(key))
            return Completion(**json.loads(text)) if text is not None else None

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion unless the key has one; a later ``get`` returns it."""
        return asyncio.ensure_future(self._put(key, json.dumps(completion._asdict())))

    async def _put(self, key: str, text: str) -> None:
        with databases.reaching("the reply cache", self._url, CACHE_HINT):
            client = await databases.redis(self._url)
            await client.set(_name(key), text, nx=True)


def _name(key: str) -> str:
    return f"dialectree:reply:{key}"
