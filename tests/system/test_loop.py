"""Event loops and threads of our own, interrupts and forks included."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from dialectree.system import loop
from dialectree.system.loop import Threads
from tests.endpoint import LocalEndpoint
from tests.waiting import PATIENCE_S


class Record:
    """What a run comes to; to write a whole one out takes long."""

    written = 0

    def __repr__(self) -> str:
        self.written += 1
        return "record"


@pytest.mark.parametrize("closed", [False, True], ids=["uvloop", "asyncio"])
def test_what_a_run_comes_to_is_not_written_out(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    monkeypatch.setattr(loop, "find_closed_streams", lambda: closed)
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
def test_each_of_two_interrupts_cancels_what_runs_beside_a_loop_and_its_end_is_waited_for(times: int) -> None:
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


INTERRUPTED = """
import os
import threading
from dialectree.system.loop import Threads

begin = threading.Thread.start

def interrupted(thread):
    begin(thread)
    raise KeyboardInterrupt  # where the second Ctrl-C came, while it waits for the thread

threads = Threads(8, "these")
threading.Thread.start = interrupted
try:
    threads.submit(os.write, 1, b"is done\\n")  # in one piece: both may come at once
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""


def test_an_interrupt_while_a_thread_begins_lets_the_program_end() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["interrupted", "is done"]


PAPER = {"title": "Heat", "abstract": "We study heat.", "body": "Heat is warm. " * 30}
OTHER = {"title": "Cold", "abstract": "We study cold.", "body": "Cold is not warm. " * 30}
FORKING = f"""
import multiprocessing
import sys
import dialectree

def debates(question):
    decided = dialectree.decide(question, ["hot", "cold"], model=sys.argv[1])
    compared = dialectree.compare(
        {PAPER!r}, {OTHER!r}, topic=question, model=sys.argv[1], embeddings="bm25", max_depth=1
    )
    print(decided.usage.calls, compared.status, flush=True)

debates("Is fire hot?")
forked = multiprocessing.get_context("fork").Process(target=debates, args=("Is ice hot?",))
forked.start()
forked.join({PATIENCE_S / 2})
print(forked.exitcode, flush=True)
if forked.exitcode is None:
    forked.kill()
debates("Is fire hot?")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_debates_and_its_parent_goes_on() -> None:
    with LocalEndpoint() as endpoint:
        done = subprocess.run(
            [sys.executable, "-c", FORKING, f"openai:any@{endpoint.url}"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
    assert done.stdout.splitlines() == ["9 answered", "10 answered", "0", "9 answered"]


def test_threads_are_begun_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(1, "these")
    mine = threads.submit(lambda: 1)
    assert mine.result() == 1
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert [threads.submit(abs, n).result() for n in range(3)] == [0, 1, 2]
    assert len(threads._pools) == 2


def test_what_is_cancelled_together_comes_to_its_end_together() -> None:
    ends: list[str] = []

    async def part(name: str, takes_s: float) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(takes_s)  # as a call does that is paid for
            ends.append(name)

    async def cancelled() -> None:
        work = asyncio.create_task(loop.finish_all([part("quick", 0.0), part("slow", 0.05)]))
        await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert ends == ["quick", "slow"]

    asyncio.run(cancelled())


def test_one_that_fails_is_raised_when_the_others_have_ended() -> None:
    ends: list[str] = []

    async def fail() -> None:
        raise ValueError("no")

    async def end() -> None:
        await asyncio.sleep(0.01)
        ends.append("ended")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(loop.finish_all([fail(), end()]))
    assert ends == ["ended"]


def test_a_thread_is_waited_for_to_its_end_however_often_one_cancels() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), list[int]()

    def work(number: int) -> int:
        begun.set()
        go_on.wait(PATIENCE_S)
        ended.append(number)
        return number

    async def cancel_twice() -> None:
        task = asyncio.ensure_future(loop.finish_in_thread(work, 1))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [1]

    asyncio.run(cancel_twice())
    assert asyncio.run(loop.finish_in_thread(work, 2)) == 2
