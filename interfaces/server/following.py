"""Follow a run by server-sent events. Any process may be conducting the run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from weakref import WeakValueDictionary

from pydantic_core import from_json

from dialectree.records.event_log import lines_from
from dialectree.records.folder import RunFolder
from dialectree.system import clock

PACE_S = 0.15
"""The least seconds between two looks at the file of the events."""
EACH_S = 0.01
"""Seconds between two looks, times the followers: sending to many takes time from the run."""
BEAT_S = 15.0
"""Seconds of silence after which a comment keeps the connection open."""
_AT_ONCE = 100
"""The most events that are sent at once: a client that does not read must not fill the memory."""


class _Feed:
    """The events of one run, read once for all its followers."""

    def __init__(self, folder: RunFolder) -> None:
        self.parts: list[bytes] = []
        """The events so far, each as it is sent."""
        self.over = False
        """Whether no event comes after these."""
        self.followers = 0
        self._folder = folder
        self._read, self._looked = 0, -PACE_S
        self._looking: asyncio.Task[bool] | None = None

    async def grow(self) -> bool:
        """Wait for more events or the end; return False after :data:`BEAT_S` of silence."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> bool:
        give_up = clock.seconds() + BEAT_S
        while not self.over and clock.seconds() < give_up:
            pace = max(PACE_S, EACH_S * self.followers)
            await clock.sleep(self._looked + pace - clock.seconds())
            new, folder_exists = await asyncio.to_thread(self._new)
            self._looked = clock.seconds()
            self._read += sum(map(len, new))
            first = len(self.parts) + 1
            self.parts += [b"id: %d\ndata: %b\n" % numbered for numbered in enumerate(new, first)]
            ended = bool(new) and from_json(new[-1]).get("kind") == "ended"
            self.over = ended or not folder_exists or _is_stopping()
            if new:
                return True
        return self.over

    def _new(self) -> tuple[list[bytes], bool]:
        return lines_from(self._folder.path / "events.jsonl", self._read), self._folder.exists()


_feeds: WeakValueDictionary[Path, _Feed] = WeakValueDictionary()


async def events(folder: RunFolder, after: int) -> AsyncIterator[bytes]:
    """Yield the events after the number ``after`` as they are written, to the end of the run.

    A killed run has no end: its followers wait until somebody resumes it.
    """
    feed = _feeds.get(folder.path)
    if feed is None or feed.over:  # a run that had ended may have been resumed
        feed = _feeds[folder.path] = _Feed(folder)
    feed.followers += 1
    try:
        yield b": the events of a run\n\n"
        while not feed.over or after < len(feed.parts):
            if new := feed.parts[after : after + _AT_ONCE]:
                yield b"".join(new)
                after += len(new)
            elif not await feed.grow():
                yield b":\n\n"
    finally:
        feed.followers -= 1


def _is_stopping() -> bool:
    """Return whether uvicorn was told to stop: it waits until every connection is closed."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))
