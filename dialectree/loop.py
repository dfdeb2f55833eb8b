"""The event loop, where it is ours: a command's, a program's that has none, an evaluation's.

A host's loop stays as it is.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar
from weakref import WeakSet

from dialectree import streams

T = TypeVar("T")

_SOON_S = 0.2
"""Seconds after which work that was told to stop, and has not, is waited for."""
SELDOM = (20_000, 20, 20)
"""Objects, and then rounds, after which garbage is sought in a process that is ours alone."""
_ours: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


def tune() -> None:
    """Seek garbage seldom, and never in what the imports made: for a process that is ours alone.

    A debate leaves next to none, and seeking it takes a twentieth of the time of a call.
    """
    gc.freeze()
    gc.set_threshold(*SELDOM)
    gc.enable()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, as ``asyncio.run`` does.

    uvloop takes 5 to 10 % off the CPU of a call; it knows no Windows, and where a standard stream
    is closed it ends the process.
    """
    came: list[T] = []

    async def keep() -> None:
        _ours.add(asyncio.get_running_loop())
        # Not returned: asyncio would write all of it out when it gives its signal handler back.
        came.append(await work)

    if sys.platform == "win32" or streams.closed():
        asyncio.run(keep())
    else:
        import uvloop

        uvloop.run(keep())
    return came[0]


def is_ours(loop: asyncio.AbstractEventLoop) -> bool:
    """False for a host's, which ``langgraph dev`` does not let wait for a file, however short."""
    return loop in _ours


def run_beside(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end as ``run`` does, in a thread of its own: this one's loop is a host's.

    An interrupt cancels ``work`` and is raised once that has ended. A second one cancels it again,
    as closing a loop does, and a third waits for nothing. The caller's context holds for
    ``work``, too: by it tracers hear of it.
    """
    begun: Future[Callable[[], object]] = Future()
    ended: Future[T] = Future()
    context = copy_context()

    async def stoppable() -> T:
        own, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
        begun.set_result(lambda: own.call_soon_threadsafe(task.cancel))
        return await task

    def target() -> None:
        try:
            ended.set_result(context.run(run, stoppable()))
        except BaseException as error:  # handed to the caller's thread
            ended.set_exception(error)

    def stop() -> None:
        cancel = begun.result()
        with suppress(RuntimeError):  # its loop is closed: it has ended meanwhile
            cancel()
        wait([ended])

    try:
        threading.Thread(target=target, name="dialectree").start()
        return ended.result()  # before Python 3.13 an interrupted join takes its thread for dead
    except KeyboardInterrupt:
        try:
            stop()
        except KeyboardInterrupt:
            stop()
        raise


async def stopped_aloud(work: Coroutine[Any, Any, T], say: Callable[[], None]) -> T:
    """``work``, to its end; ``say`` is called where it is cancelled and takes its time to end."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        if not (await asyncio.wait([task], timeout=_SOON_S))[0]:
            say()
    return await task
