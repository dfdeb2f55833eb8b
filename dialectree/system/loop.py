"""Run work in our own event loops and threads: for a command, a program, an evaluation."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar

from dialectree.system.streams import find_closed_streams

P = ParamSpec("P")
T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, as ``asyncio.run`` does.

    uvloop saves 5 to 10 % of the CPU time of a call. It does not run on Windows, and it ends the
    process if a standard stream is closed.
    """
    results: list[T] = []

    async def collect() -> None:
        # Not returned: asyncio would format the whole result when it restores its signal handler.
        results.append(await work)

    if sys.platform == "win32" or find_closed_streams():
        asyncio.run(collect())
    else:
        import uvloop

        uvloop.run(collect())
    return results[0]


def run_beside(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end in a new thread, because this thread's loop belongs to a host.

    An interrupt cancels ``work`` and is raised when ``work`` has ended. A second interrupt cancels
    ``work`` again, as closing a loop does. A third interrupt does not wait for the
    end. ``work`` keeps the caller's context, which tracers read.
    """
    cancel_future: Future[Callable[[], object]] = Future()
    ended: Future[T] = Future()
    context = copy_context()

    async def stoppable() -> T:
        running_loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
        cancel_future.set_result(lambda: running_loop.call_soon_threadsafe(task.cancel))
        return await task

    def target() -> None:
        try:
            ended.set_result(context.run(run, stoppable()))
        except BaseException as error:  # handed to the caller's thread
            ended.set_exception(error)

    def stop() -> None:
        cancel = cancel_future.result()
        with suppress(RuntimeError):  # its loop is closed: the work has ended meanwhile
            cancel()
        wait([ended])

    try:
        threading.Thread(target=target, name="dialectree").start()
        return ended.result()  # before Python 3.13, an interrupted join treats its thread as dead
    except KeyboardInterrupt:
        try:
            stop()
        except KeyboardInterrupt:
            stop()
        raise


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, in a new thread if a loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(work)
    return run_beside(work)


async def finish_all(work: Iterable[Awaitable[T]]) -> list[T]:
    """Await all ``work`` side by side; return the results, in order.

    If a part fails or is cancelled, the others still finish, so that calls they paid for are not
    lost. ``asyncio.gather`` alone raises as soon as the first part fails.

    Raises:
        BaseException: The error of the first failed part, in order.
    """
    ended = await asyncio.gather(*work, return_exceptions=True)
    results: list[T] = []
    for result in ended:
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results


async def finish_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``work`` in a thread and return its result; raise a cancellation only after its end.

    Then the files that the thread opened can be closed; ``asyncio.to_thread`` alone would leave them open.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    result = running.result()
    if cancelled is not None:
        raise cancelled
    return result


class Threads(Executor):
    """Run work in at most ``at_once`` threads; a forked process gets threads of its own.

    ``multiprocessing`` forks by default on Linux. A pool copied into the new process counts threads
    that exist only in the old process, and would wait for ever.
    """

    def __init__(self, at_once: int, name: str) -> None:
        self._at_once, self._name = at_once, name
        self._pools: dict[int, ThreadPoolExecutor] = {}
        """The pools by process. The pool of a forking process stays here: ending it would wait for ever."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``work`` in a thread of this process, and return its future."""
        process = os.getpid()
        if (pool := self._pools.get(process)) is None:
            new_pool = ThreadPoolExecutor(self._at_once, thread_name_prefix=self._name)
            pool = self._pools.setdefault(process, new_pool)
        try:
            return pool.submit(work, *args, **kwargs)
        except KeyboardInterrupt:
            # The pool may not know a thread that was about to begin: nothing would stop it, and the
            # program would wait for it at its end.
            self._pools.pop(process, None)
            pool.shutdown(wait=False)
            raise
