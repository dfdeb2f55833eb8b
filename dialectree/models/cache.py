"""Replies that were paid for before, in one SQLite file shared by all runs of a user."""

from __future__ import annotations

import asyncio
import atexit
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from dialectree.errors import DiskFull, InputError
from dialectree.models.endpoints import Completion

Item = TypeVar("Item")
Result = TypeVar("Result")

_TABLE = """
create table if not exists completions (key text primary key, completion text not null)
without rowid
"""
_PATIENCE_S = 30.0
LINGER_S = 0.05
"""Seconds that a reply which is in a journal may wait to be written with others."""
_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,  # how SQLite puts a quota and a limit on the size of files
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


class _Batch(NamedTuple, Generic[Item, Result]):
    """What is done in one go."""

    items: list[Item]
    task: asyncio.Task[Result]
    due: asyncio.Event
    """Set once it need not wait for more."""


class _Together(Generic[Item, Result]):
    """Work for a thread. What an event loop asks for in one go is done in one go."""

    def __init__(self, thread: Executor, work: Callable[[list[Item]], Result]) -> None:
        self._thread, self._work = thread, work
        self._next: dict[asyncio.AbstractEventLoop, _Batch[Item, Result]] = {}

    def do(self, item: Item, *, linger: bool = False) -> Awaitable[Result]:
        """The result of the work on ``item`` and on those that come with it.

        The work is in the queue when this returns, before all that is asked for later. ``linger``:
        it may wait for more, for :data:`LINGER_S` seconds.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._next:
            due = asyncio.Event()
            self._next[loop] = _Batch([], loop.create_task(self._begin(loop, due)), due)
        batch = self._next[loop]
        batch.items.append(item)
        if not linger:
            batch.due.set()
        return asyncio.shield(batch.task)

    def hurry(self) -> None:
        """What lingers in this event loop is done now."""
        if batch := self._next.get(asyncio.get_running_loop()):
            batch.due.set()

    async def _begin(self, loop: asyncio.AbstractEventLoop, due: asyncio.Event) -> Result:
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await due.wait()
        finally:
            items = self._next.pop(loop).items
        return await loop.run_in_executor(self._thread, self._work, items)


class ReplyCache:
    """Completions by the key of their request. SQLite runs in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        thread = ThreadPoolExecutor(1, thread_name_prefix="reply-cache")
        self._gets = _Together(thread, self._get)
        self._puts = _Together(thread, self._put)
        self._unwritten: dict[str, Completion] = {}
        self._connection: sqlite3.Connection | None = None
        atexit.register(self.close)

    async def get(self, key: str) -> Completion | None:
        """The completion that was paid for before, or None."""
        return self._unwritten.get(key) or (await self._gets.do(key)).get(key)

    def put(self, key: str, completion: Completion, *, linger: bool = False) -> Awaitable[None]:
        """Keep a completion; the first one stays. Whoever asks for it from now on finds it.

        ``linger``: for who has it elsewhere too. A debate's replies come in bursts, in which its
        next requests are more urgent than a file.
        """
        self._unwritten.setdefault(key, completion)
        return self._puts.do((key, completion), linger=linger)

    def hurry(self) -> None:
        """What lingers in this event loop is written now."""
        self._puts.hurry()

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

    def _get(self, keys: list[str]) -> dict[str, Completion]:
        places = ", ".join("?" * len(keys))
        query = f"select key, completion from completions where key in ({places})"
        with self._clear_errors():
            rows = self._open().execute(query, keys).fetchall()
            return {key: Completion(**json.loads(kept)) for key, kept in rows}

    def _put(self, new: list[tuple[str, Completion]]) -> None:
        rows = [(key, json.dumps(completion._asdict())) for key, completion in new]
        try:
            with self._clear_errors():
                connection = self._open()
                connection.execute("begin immediate")
                connection.executemany("insert or ignore into completions values (?, ?)", rows)
                connection.execute("commit")
        finally:
            for key, _ in new:
                self._unwritten.pop(key, None)

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
