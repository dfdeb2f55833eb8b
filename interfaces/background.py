"""Run debates in the background, for interfaces whose clients come back later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dialectree.errors import DialectreeError, InputError, RunFolderError
from dialectree.flow.human_input import Ask, Payload
from dialectree.protocols.protocol import Method
from dialectree.records import RunRecord
from dialectree.report.progress import Progress
from dialectree.running.runner import RunHandle
from dialectree.service.debates import ActiveRun, Debates
from dialectree.service.plug_points import Wish
from dialectree.system import clock

Tell = Callable[[float, float | None, str], Awaitable[None]]
"""Tells a client of the progress: calls so far, expected calls, one line."""
PACE_S = 0.2
"""Seconds between two looks at a debate for which a client waits."""


class BackgroundRun(ActiveRun):
    """A run that goes on in the background."""

    def __init__(self, started: RunHandle, remarks: Sequence[str] = ()) -> None:
        super().__init__(started, remarks)
        self.progress = Progress(started.record.run_id, started.expected)
        self.task: asyncio.Task[RunRecord]
        self.asked: Payload | None = None
        """The open question to a person."""
        self._answer: asyncio.Future[str] | None = None

    def go_on(self, *, person: bool = False) -> None:
        """Conduct the run in the background; with ``person``, a person answers by :meth:`answer`."""
        self.task = asyncio.create_task(self._alone(self._ask if person else None))
        key = self.record.path
        assert key is not None
        _underway[key] = self
        self.task.add_done_callback(lambda _: _underway.pop(key, None))

    async def _ask(self, request: Payload) -> str:
        """Wait for the person's answer."""
        self.asked, self._answer = request, asyncio.get_running_loop().create_future()
        try:
            return await self._answer
        finally:
            self.asked = self._answer = None

    def answer(self, text: str) -> None:
        """Give the person's answer; raise InputError without an open question."""
        if self._answer is None or self._answer.done():
            raise InputError(f"{self.record.run_id}: no question is open; answer when the run asks one")
        self._answer.set_result(text)

    async def _alone(self, ask: Ask | None) -> RunRecord:
        with suppress(DialectreeError):
            await asyncio.to_thread(self.started.method.graph)  # its first import reads files
        with suppress(DialectreeError):  # kept as ``fault``
            await self.run_to_end(ask, progress=self.progress.watch)
        return self.record

    async def follow(self, seconds: float, tell: Tell | None = None) -> bool:
        """Wait until the run has ended, for up to ``seconds``; return whether it has ended.

        Raises the error if the run failed unexpectedly.
        """
        until, before = clock.seconds() + seconds, -1
        while not self.task.done() and (remaining := until - clock.seconds()) > 0:
            if tell is not None and self.progress.calls > before:
                before = self.progress.calls
                await tell(before, self.count_expected(), self.progress.line())
            pace = remaining if tell is None else min(remaining, PACE_S)
            await asyncio.wait([self.task], timeout=pace)
        if self.task.done() and not self.task.cancelled():
            self.task.result()
        return self.task.done()

    async def cancel(self) -> None:
        """Break the run off, and wait until its record is written."""
        self.task.cancel()
        await asyncio.wait([self.task])

    @property
    def ending(self) -> bool:
        """Return whether the run is being broken off, or has ended but is not all written."""
        return bool(self.task.cancelling()) or self.record.status != "running"

    def count_expected(self) -> int | None:
        """Return the estimated maximum of calls, or None if the run has made more."""
        calls = self.progress.expected[1] if self.progress.expected else 0
        return calls if calls >= self.progress.calls else None


_underway: dict[Path, BackgroundRun] = {}
"""The runs in the background of this process, by their folders."""


def is_underway(folder: Path) -> bool:
    """Return whether a run is under way in the background of this process."""
    return folder.absolute() in _underway


class BackgroundDebates(Debates):
    """Debates that clients start, follow, resume and cancel."""

    async def start(
        self, chosen: Method, inputs: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> BackgroundRun:
        """Begin a debate in the background."""
        planned = await asyncio.to_thread(self.plan, chosen, inputs, settings)
        calls = planned.calls or (await planned.estimate()).expected
        started = await asyncio.to_thread(planned.begin)
        started.expected = calls
        return self._go_on(BackgroundRun(started, planned.remarks))

    def _go_on(self, run: BackgroundRun) -> BackgroundRun:
        run.go_on(person=self._person)
        return run

    def underway(self, run: str) -> BackgroundRun | None:
        """Return the run if it is under way in the background of this process."""
        return _underway.get(self.find(run).path.absolute())

    def busy(self, run: str) -> bool:
        """Return whether some process is working on a run."""
        try:
            with self.find(run).lock():
                return False
        except RunFolderError:
            return True

    async def contest(self, run: str, wishes: Iterable[Wish], settings: Mapping[str, Any]) -> BackgroundRun:
        """Begin, in the background, a new run that contests the run ``run``."""
        planned = await asyncio.to_thread(self.plan_contest, run, wishes, settings)
        return self._go_on(BackgroundRun(await asyncio.to_thread(planned.begin)))

    async def resume(self, run: str, settings: Mapping[str, Any]) -> BackgroundRun:
        """Resume a run in the background; a run that is under way is returned unchanged.

        A run that is being broken off has to end first.
        """
        if underway := await asyncio.to_thread(self.underway, run):
            if not underway.ending:
                return underway
            await asyncio.wait([underway.task])
        return self._go_on(BackgroundRun(await asyncio.to_thread(self.take_up, run, settings)))

    async def cancel(self, run: str) -> RunRecord:
        """Break a run off, and return its record. Paid replies stay in its folder."""
        if underway := await asyncio.to_thread(self.underway, run):
            await underway.cancel()
        return await asyncio.to_thread(self.result, run)

    async def break_off(self) -> None:
        """Break off all runs under way in this folder, and wait until their records are written."""
        runs = [run for run in _underway.values() if run.started.folder.lies_under(self.runs)]
        await asyncio.gather(*(run.cancel() for run in runs))
