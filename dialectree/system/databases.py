"""Connect to PostgreSQL and Redis: one pool of connections for each event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dialectree.errors import DialectreeError, DiskFull, InputError, SettingsError
from dialectree.system.addresses import veiled

_EXTRAS = {"postgresql": "postgres", "postgres": "postgres", "redis": "redis", "rediss": "redis"}
_CONNECT_S = 10
_COMMAND_S = 30
_CONNECTIONS = 8
"""Connections of one process and event loop. A call to a model needs one for a millisecond."""
_FULL = ("DiskFullError", "OutOfMemoryError")
"""Errors of the drivers that mean that a database has no room left."""
_open: dict[
    tuple[asyncio.AbstractEventLoop, str], tuple[AsyncIterator[Any], asyncio.Task[Any]]
] = {}


def extra(url: str, variable: str) -> str:
    """Return the extra of dialectree that brings the driver for ``url``, which ``variable`` has."""
    try:
        return _EXTRAS[url.partition("://")[0]]
    except KeyError:
        schemes = "postgresql://, redis:// or rediss://"
        raise SettingsError(f"{variable}: the address must begin with {schemes}") from None


async def postgres(url: str, tables: str) -> Any:
    """Return this loop's pool of connections to PostgreSQL; ``tables`` makes what is missing."""
    import asyncpg

    async def connect() -> Any:
        pool = asyncpg.create_pool(
            url, min_size=1, max_size=_CONNECTIONS, timeout=_CONNECT_S, command_timeout=_COMMAND_S
        )
        await pool
        async with pool.acquire() as connection, connection.transaction():
            # "if not exists" fails where two processes make one table at the same time.
            await connection.execute("select pg_advisory_xact_lock(hashtext('dialectree'))")
            await connection.execute(tables)
        return pool

    return await _connected(url, connect, lambda pool: pool.close())


async def redis(url: str) -> Any:
    """Return this loop's client of Redis."""
    from redis.asyncio import BlockingConnectionPool, Redis

    async def connect() -> Any:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=_COMMAND_S,
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=_COMMAND_S,
            decode_responses=True,
        )
        return Redis.from_pool(pool)

    return await _connected(url, connect, lambda client: client.aclose())


async def _connected(
    url: str, connect: Callable[[], Awaitable[Any]], close: Callable[[Any], Awaitable[None]]
) -> Any:
    """Return what ``connect`` opens, once for each event loop; after a failure, try again."""
    key = asyncio.get_running_loop(), url

    async def life() -> AsyncIterator[Any]:
        """Yield the connections; a loop that ends closes its open generators, and so them."""
        try:
            made = await connect()
        except ValueError:  # the driver's message may quote the password
            spelt = "write / ? # @ in a password as %2F %3F %23 %40"
            raise SettingsError(f"{veiled(url)} cannot be read as an address: {spelt}") from None
        try:
            yield made
        finally:
            del _open[key]
            await close(made)

    async def begin(alive: AsyncIterator[Any]) -> Any:
        return await anext(alive)

    def forget(opening: asyncio.Task[Any]) -> None:
        if opening.cancelled() or opening.exception():
            del _open[key]

    if key not in _open:
        alive = life()
        _open[key] = alive, asyncio.create_task(begin(alive))
        _open[key][1].add_done_callback(forget)
    return await asyncio.shield(_open[key][1])


@contextmanager
def reaching(what: str, url: str, hint: str) -> Iterator[None]:
    """Turn a fault of the database at ``url`` into one line on ``what``, without a password."""
    try:
        yield
    except DialectreeError:
        raise
    except _faults(url) as error:
        fault = (str(error) or type(error).__name__).splitlines()[0]
        kind = DiskFull if type(error).__name__ in _FULL else InputError
        raise kind(f"{what} {veiled(url)}: {fault}: {hint}") from error


def _faults(url: str) -> tuple[type[Exception], ...]:
    """Return what the driver for ``url`` raises, and what a damaged entry does."""
    if _EXTRAS[url.partition("://")[0]] == "redis":
        import redis

        return redis.RedisError, OSError, ValueError, TypeError
    import asyncpg

    return asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError, TypeError
