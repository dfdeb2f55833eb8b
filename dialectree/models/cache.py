"""The reply cache: replies that were paid for, kept for all runs of a user or of several servers.

It is a file of the user's (SQLite), or a database that several machines share, where
DIALECTREE_CACHE_URL names one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary, finalize

from dialectree.errors import DialectreeError, DiskFull, InputError, SettingsError
from dialectree.models.asking import Completion
from dialectree.protocols.sources import CACHE_HINT, CACHE_URL, cache_url
from dialectree.system import clock
from dialectree.system.addresses import veiled
from dialectree.system.loop import Threads
from dialectree.system.packages import require

ReplyCache: TypeAlias = "SqliteCache | SharedCache"
"""Completions by the key of their request.

Its methods raise one InputError or DiskFull that says which cache failed and what to do.
"""


def reply_cache(folder: Path) -> ReplyCache:
    """Return the cache that DIALECTREE_CACHE_URL names; without it, the file in ``folder``."""
    return _reply_cache(cache_url(), folder, os.getpid())


@lru_cache(maxsize=8)
def _reply_cache(url: str | None, folder: Path, _process: int) -> ReplyCache:
    """Return a cache for each process: a forked process cannot use its parent's connection."""
    if url is None:
        return SqliteCache(folder / "replies.sqlite3")
    scheme = url.partition("://")[0]
    if scheme not in ("postgresql", "postgres", "redis", "rediss"):
        schemes = "postgresql://, redis:// or rediss://"
        raise SettingsError(f"{CACHE_URL}: the address must begin with {schemes}")
    extra, connect = ("redis", _redis) if "redis" in scheme else ("postgres", _postgres)
    require(CACHE_URL, f"dialectree[{extra}]")
    return SharedCache(url, connect)


def _loaded(text: str) -> Completion:
    return Completion(**json.loads(text))


def _dumped(completion: Completion) -> str:
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
            return _loaded(row[0]) if row else None
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            raise self._failure(error) from error

    def _put(self, key: str, completion: Completion) -> None:
        row = key, _dumped(completion)
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


_CONNECTIONS, _CONNECT_S, _COMMAND_S = 8, 10, 30
"""Connections of one process and event loop. A call to a model needs one for a millisecond."""
_FAULTS = {"OSError", "ValueError", "TypeError", "RedisError", "PostgresError", "InterfaceError"}
"""Errors of the drivers, and of a damaged entry, by name: a driver is imported where it is used."""
_FULL = ("DiskFullError", "OutOfMemoryError")


class _Texts(NamedTuple):
    """An open database of texts."""

    get: Callable[[str], Awaitable[str | None]]
    add: Callable[[str, str], Awaitable[object]]
    """Keep a text unless the key has one."""
    close: Callable[[], Awaitable[None]]


class SharedCache:
    """Replies in a database that several machines share, with connections for each event loop."""

    def __init__(self, url: str, connect: Callable[[str], Awaitable[_Texts]]) -> None:
        self._url, self._connect = url, connect
        self._open: dict[asyncio.AbstractEventLoop, tuple[_Texts, AsyncIterator[_Texts]]] = {}
        self._opening = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]()

    async def get(self, key: str) -> Completion | None:
        """Return the completion that was paid for before, or None."""
        with self._reaching():
            text = await (await self._texts()).get(key)
            return _loaded(text) if text is not None else None

    def put(self, key: str, completion: Completion) -> asyncio.Future[None]:
        """Keep a completion unless the key has one; a later ``get`` returns it."""
        return asyncio.ensure_future(self._put(key, _dumped(completion)))

    async def _put(self, key: str, text: str) -> None:
        with self._reaching():
            await (await self._texts()).add(key, text)

    async def _texts(self) -> _Texts:
        """Return the database, opened once for each event loop; after a failure, try again."""
        loop = asyncio.get_running_loop()
        async with self._opening.setdefault(loop, asyncio.Lock()):
            if loop not in self._open:
                life = self._life(loop)
                self._open[loop] = await anext(life), life
            return self._open[loop][0]

    async def _life(self, loop: asyncio.AbstractEventLoop) -> AsyncIterator[_Texts]:
        """Yield the database; a loop that ends closes its open generators, and so it."""
        try:
            texts = await self._connect(self._url)
        except ValueError:  # the driver's message may quote the password
            url, spelt = veiled(self._url), "write / ? # @ in a password as %2F %3F %23 %40"
            raise SettingsError(f"{url} cannot be read as an address: {spelt}") from None
        try:
            yield texts
        finally:
            self._open.pop(loop, None)
            await texts.close()

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turn a fault of the database into one line without a password."""
        try:
            yield
        except Exception as error:
            names = {kind.__name__ for kind in type(error).__mro__}
            if isinstance(error, DialectreeError) or not names & _FAULTS:
                raise
            fault = (str(error) or type(error).__name__).splitlines()[0]
            kind = DiskFull if type(error).__name__ in _FULL else InputError
            raise kind(f"the reply cache {veiled(self._url)}: {fault}: {CACHE_HINT}") from error


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
            "create table if not exists dialectree_replies"
            " (key text primary key, completion text not null)"
        )
    read = "select completion from dialectree_replies where key = $1"
    write = "insert into dialectree_replies values ($1, $2) on conflict do nothing"
    return _Texts(
        lambda key: pool.fetchval(read, key),
        lambda key, text: pool.execute(write, key, text),
        pool.close,
    )
