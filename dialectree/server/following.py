"""Follow a run by server-sent events, whichever process writes it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

from dialectree.records.event_log import Tail
from dialectree.records.folder import RunFolder
from dialectree.system import clock

PACE_S = 0.1
"""Seconds between two looks at the file of the events."""
BEAT_S = 15.0
"""Seconds of silence after which a comment keeps the connection open."""


async def events(folder: RunFolder, after: int) -> AsyncIterator[str]:
    """Yield the events after the number ``after`` as they are written, to the end of the run.

    A run that was killed has no end: its followers wait for whoever resumes it.
    """
    tail, heard = Tail(folder.path / "events.jsonl", after), clock.seconds()

    def look() -> tuple[list[tuple[int, str]], bool]:
        return tail.read(), folder.exists()

    yield ": the events of a run\n\n"
    while True:
        lines, there = await asyncio.to_thread(look)
        for number, line in lines:
            yield f"id: {number}\ndata: {line}\n\n"
        if tail.ended() or _is_stopping() or not there:
            return
        if lines:
            heard = clock.seconds()
        elif clock.seconds() - heard >= BEAT_S:
            heard = clock.seconds()
            yield ":\n\n"
        await clock.sleep(PACE_S)


def _is_stopping() -> bool:
    """Return whether uvicorn was told to stop: it waits until every connection is closed."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))
