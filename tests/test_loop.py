"""The event loop of our own runs."""

from __future__ import annotations

import asyncio
import signal
import threading
import time

import pytest

from dialectree.system import loop, streams


class Record:
    """What a run comes to; to write a whole one out takes long."""

    written = 0

    def __repr__(self) -> str:
        self.written += 1
        return "record"


@pytest.mark.parametrize("closed", [False, True], ids=["uvloop", "asyncio"])
def test_what_a_run_comes_to_is_not_written_out(
    monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    monkeypatch.setattr(streams, "closed", lambda: closed)
    record = Record()

    async def work() -> Record:
        await asyncio.sleep(0)
        return record

    assert loop.run(work()) is record
    assert record.written == 0


def test_what_a_run_raises_is_raised() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        loop.run(work())


def interrupt() -> None:
    """Ctrl-C for the thread of the tests, which waits by then."""
    waiting = threading.main_thread().ident
    assert waiting is not None
    time.sleep(0.05)
    signal.pthread_kill(waiting, signal.SIGINT)


@pytest.mark.parametrize("times", [1, 2])
def test_each_of_two_interrupts_cancels_what_runs_beside_a_loop_and_its_end_is_waited_for(
    times: int,
) -> None:
    said: list[str] = []

    async def work() -> None:
        while len(said) < times:
            interrupt()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                said.append("cancelled")
        await asyncio.sleep(0.05)
        said.append("ended")

    with pytest.raises(KeyboardInterrupt):
        loop.run_beside(work())
    assert said == ["cancelled"] * times + ["ended"]
