"""The reply cache in the shared database that DIALECTREE_CACHE_URL names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from dialectree.errors import DialectreeError, DiskFull, InputError, SettingsError
from dialectree.models.asking import Completion
from dialectree.models.cache import dump_completion, load_completion
from dialectree.protocols.sources import CACHE_HINT, CACHE_URL
from dialectree.system.addresses import redact_passwords
from dialectree.system.packages import require


def open_cache(url: str) -> SharedCache:
    """Return the cache at ``url``; raise SettingsError or MissingPackage if it is unusable."""
    scheme = url.partition("://")[0]
    if scheme not in ("postgresql", "postgres", "redis", "rediss"):
        schemes = "postgresql://, redis:// or rediss://"
        raise SettingsError(f"{CACHE_URL}: the address must begin with {schemes}")
    extra, connect = ("redis", _redis) if "redis" in scheme else ("postgres", _postgres)
    require(CACHE_URL, f"dialectree[{extra}]")
    return SharedCache(url, connect)


_CONNECTIONS, _CONNECT_S, _COMMAND_S = 8, 10, 30
"""Connections of one process and event loop; seconds to connect; seconds for a command. A call to a
model needs a connection for a millisecond."""
_FAULTS = {"OSError", "ValueError", "TypeError", "RedisError", "PostgresError", "InterfaceError"}
"""Names of the errors of the drivers, and of a damaged entry. Drivers are imported only when used."""
_FULL = ("DiskFullError", "OutOfMemoryError")


class _Texts(NamedTuple):
    """An open database of texts."""

    get: Callable[[str], Awaitable[str | None]]
    add: Callable[[str, str], Awaitable[object]]
    """Store a text unless the key has one."""
    close: Callable[[], Awaitable[None]]


class SharedCache:
    """Replies in a database that several machines share, with connections for each event loop."""

    def __init__(self, url: str, connect: Callable[[str], Awaitable[_Texts]]) -> None:
        self._url, self._connect = url, connect
        self._open: dict[asyncio.AbstractEventLoop, tuple[_Texts, AsyncIterator[_Texts]]] = {}
        self._opening = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]()

    async def get(self, key: str) -> Completion | None:
        """Return the stored completion of ``key``, or None."""
        with self._reaching():
            text = await (await self._texts()).get(key)
            return load_completion(text) if text is not None else None

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Store ``completion``, unless ``key`` has one; a later ``get`` returns the stored completion."""
        return asyncio.ensure_future(self._put(key, dump_completion(completion)))

    async def _put(self, key: str, text: str) -> None:
        with self._reaching():
            await (await self._texts()).add(key, text)

    async def _texts(self) -> _Texts:
        """Return the database, opened once for each event loop; after a failure, the next call retries."""
        loop = asyncio.get_running_loop()
        async with self._opening.setdefault(loop, asyncio.Lock()):
            if loop not in self._open:
                life = self._life(loop)
                self._open[loop] = await anext(life), life
            return self._open[loop][0]

    async def _life(self, loop: asyncio.AbstractEventLoop) -> AsyncIterator[_Texts]:
        """Yield the database. When a loop ends, it closes this generator, and so the database."""
        try:
            texts = await self._connect(self._url)
        except ValueError:  # the driver's message may quote the password
            url, spelt = (redact_passwords(self._url), "write / ? # @ in a password as %2F %3F %23 %40")
            raise SettingsError(f"{url} cannot be read as an address: {spelt}") from None
        try:
            yield texts
        finally:
            self._open.pop(loop, None)
            await texts.close()

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turn a fault of the database into an error of one line, without a password."""
        try:
            yield
        except Exception as error:
            names = {kind.__name__ for kind in type(error).__mro__}
            if isinstance(error, DialectreeError) or not names & _FAULTS:
                raise
            fault = (str(error) or type(error).__name__).splitlines()[0]
            kind = DiskFull if type(error).__name__ in _FULL else InputError
            raise kind(f"the reply cache {redact_passwords(self._url)}: {fault}: {CACHE_HINT}") from error


async def _redis(url: str) -> _Texts:
    """Connect to Redis, where each reply is kept under ``dialectree:reply:KEY``."""
    from redis.asyncio import BlockingConnectionPool, Redis

    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=_COMMAND_S,
        socket_connect_timeout=_CONNECT_S,
        socket_timeout=_COMMAND_S,
        decode_responses=True,
    )
    client: Any = Redis.from_pool(pool)
    return _Texts(
        lambda key: client.get(f"dialectree:reply:{key}"),
        lambda key, text: client.set(f"dialectree:reply:{key}", text, nx=True),
        client.aclose,
    )


async def _postgres(url: str) -> _Texts:
    """Connect to PostgreSQL, where the replies are in the table ``dialectree_replies``."""
    import asyncpg

    pool: Any = await asyncpg.create_pool(
        url, min_size=1, max_size=_CONNECTIONS, timeout=_CONNECT_S, command_timeout=_COMMAND_S
    )
    async with pool.acquire() as connection, connection.transaction():
        # "if not exists" fails where two processes make one table at the same time.
        await connection.execute("select pg_advisory_xact_lock(hashtext('dialectree'))")
        await connection.execute(
            "create table if not exists dialectree_replies (key text primary key, completion text not null)"
        )
    read = "select completion from dialectree_replies where key = $1"
    write = "insert into dialectree_replies values ($1, $2) on conflict do nothing"
    return _Texts(
        lambda key: pool.fetchval(read, key), lambda key, text: pool.execute(write, key, text), pool.close
    )
