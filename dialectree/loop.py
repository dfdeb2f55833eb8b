"""The event loop, where it is ours: a command's, a program's that has none, an evaluation's.

A host's loop stays as it is.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from dialectree import streams

T = TypeVar("T")

_SOON_S = 0.2
"""Seconds after which work that was told to stop, and has not, is waited for."""
SELDOM = (20_000, 20, 20)
"""Objects, and then rounds, after which garbage is sought in a process that is ours alone."""


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
        # Not returned: asyncio would write all of it out when it gives its signal handler back.
        came.append(await work)

    if sys.platform == "win32" or streams.closed():
        asyncio.run(keep())
    else:
        import uvloop

        uvloop.run(keep())
    return came[0]


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
