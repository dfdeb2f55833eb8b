"""The debates of a server: those under way in the background, and those in the folder of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dialectree import contests
from dialectree.contests import Wish
from dialectree.errors import DialectreeError, RunFolderError, RunNotFound
from dialectree.mcp.results import Debate, Report, Row, RunList, finished
from dialectree.protocols.protocol import Method, method
from dialectree.protocols.settings import ProtocolSettings, build
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.report import markdown
from dialectree.report.progress import Account
from dialectree.running import estimates
from dialectree.running.runner import Started, again, begin, leave_reports, prepared
from dialectree.service.fields import allowed_files
from dialectree.system import clock, streams
from dialectree.trace.activity import Activity

Tell = Callable[[float, float | None, str], Awaitable[None]]
"""Tells a client of the progress: calls so far, expected calls, one line."""
PACE_S = 0.2
"""Seconds between two looks at a debate that somebody waits for."""


class Underway:
    """A debate that goes on in the background."""

    def __init__(self, started: Started, notes: list[str]) -> None:
        self.started, self.notes = started, notes
        self.calls = 0
        self.fault: DialectreeError | None = None
        self._account = Account(started.folder.run_id, None)
        self._began = clock.seconds()
        started.follow = self._count
        self.task = asyncio.create_task(self._conduct())

    def _count(self, activity: Activity) -> None:
        self.calls += activity.state == "answered"

    async def _conduct(self) -> None:
        """Walk the graph to its end, and leave the reports beside the record."""
        try:
            await self.started.conduct(watch=self._account.watch)
        except DialectreeError as error:
            self.fault = error
        finally:
            try:
                await asyncio.to_thread(leave_reports, self.started.folder, self.started.record)
            except DialectreeError as error:
                streams.notice(str(error))

    async def follow(self, until: float, tell: Tell) -> bool:
        """Wait until the debate has ended, or until then; return whether it has ended."""
        before = -1
        while not self.task.done() and (remaining := until - clock.seconds()) > 0:
            if self.calls > before:
                before = self.calls
                await tell(before, self._expected(), self._account.line())
            await asyncio.wait([self.task], timeout=min(remaining, PACE_S))
        return self.task.done()

    async def cancel(self) -> None:
        """Break the debate off, and wait until its record is written."""
        self.task.cancel()
        await asyncio.wait([self.task])

    def _expected(self) -> int | None:
        """Return the most calls that were estimated, unless there are more already."""
        most = self.started.expected[1] if self.started.expected else 0
        return most if most >= self.calls else None

    def state(self) -> Debate:
        """Return how far the debate has come, or what came of it."""
        record = self.started.record
        if self.task.done():
            if not self.task.cancelled():
                self.task.result()  # raises a fault of ours
            return finished(record, self.notes)
        name = record.run_id
        return Debate(
            run_id=name,
            method=record.method,
            status="running",
            question=str(record.input["question"]),
            notes=self.notes,
            started=record.started,
            calls=self.calls,
            expected_calls=self._expected(),
            seconds=round(clock.seconds() - self._began, 1),
            next=f'It goes on. Call `result` with run_id "{name}" to wait for it.',
        )


class Debates:
    """All debates of one server. At the end those under way are broken off, to be resumed.

    ``own`` are the models and limits that the server's owner chose, and ``papers`` the folders
    whose files a client may name.
    """

    def __init__(self, runs: Path, papers: list[Path], own: Mapping[str, Any]) -> None:
        self._runs, self._papers, self._own = runs, papers, own
        self._underway: dict[str, Underway] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.break_off()

    async def break_off(self) -> None:
        """Break off all that is under way, and wait until every record is written."""
        await asyncio.gather(*(one.cancel() for one in [*self._underway.values()]))

    def configure(
        self, chosen: Method, wished: Mapping[str, Any], warn: Callable[[str], None]
    ) -> ProtocolSettings:
        """Return the settings of a debate: the owner's, and what a client may wish.

        A client's budget of calls counts where it is the smaller one.
        """
        limits = [calls for one in (self._own, wished) if (calls := one.get("max_calls"))]
        budget = {"max_calls": min(limits)} if limits else {}
        return chosen.configure({**self._own_of(chosen), **wished, **budget}, warn)

    def _own_of(self, chosen: Method) -> dict[str, Any]:
        """Return the owner's settings, without the models of roles that ``chosen`` has not."""
        roles = chosen.role_names(build(chosen.protocol.settings))
        models = self._own.get("roles", {})
        return {**self._own, "roles": {role: models[role] for role in roles if role in models}}

    async def estimate(
        self, chosen: Method, inputs: Mapping[str, Any], wished: Mapping[str, Any]
    ) -> estimates.Estimate:
        """Estimate a debate; no model is called."""
        context, graph_input = await self._prepared(chosen, inputs, wished, [])
        return await estimates.estimate(chosen, graph_input, context, self._runs)

    async def start(
        self, chosen: Method, inputs: Mapping[str, Any], wished: Mapping[str, Any]
    ) -> Underway:
        """Begin a debate in the background."""
        notes: list[str] = []
        context, graph_input = await self._prepared(chosen, inputs, wished, notes)
        expected = await estimates.estimate(chosen, graph_input, context, self._runs)
        started = await asyncio.to_thread(begin, chosen, graph_input, context, self._runs)
        started.expected = expected.expected
        return self._go_on(started, notes)

    async def _prepared(
        self,
        chosen: Method,
        inputs: Mapping[str, Any],
        wished: Mapping[str, Any],
        notes: list[str],
    ) -> tuple[ProtocolSettings, dict[str, Any]]:
        """Return settings and the graph's input; it may read papers, of allowed folders only."""
        context = self.configure(chosen, wished, notes.append)
        allowed = allowed_files(chosen.protocol.input, inputs, self._papers)
        return context, await asyncio.to_thread(prepared, chosen, allowed, context)

    async def contest(self, name: str, wishes: list[Wish]) -> Underway:
        """Begin a run in which ``wishes`` change something in a finished one."""
        folder = self._folder(name)
        own = self._own_of(self._method(folder.record()))
        begun = await asyncio.to_thread(
            contests.start, folder, wishes, self._runs, own, person=False
        )
        return self._go_on(begun, [])

    def resume(self, name: str) -> Underway:
        """Go on with a run that was broken off; one under way stays as it is."""
        folder = self._folder(name)
        if folder.run_id in self._underway:
            return self._underway[folder.run_id]
        own = self._own_of(self._method(folder.record()))
        return self._go_on(again(folder, own, self._runs), [])

    def underway(self, name: str) -> Underway | None:
        """Return the run if it is under way in this server."""
        return self._underway.get(self._folder(name).run_id)

    def state(self, name: str) -> Debate:
        """Return how a run stands."""
        folder = self._folder(name)
        if one := self._underway.get(folder.run_id):
            return one.state()
        record = folder.record()
        found = finished(record, [])
        if record.status == "running" and _busy(folder):
            found.status, found.next = "running", "Another process is working on it."
        return found

    def newest(self, limit: int) -> RunList:
        """Return the newest runs; one that cannot be read is left out, and named on stderr."""
        rows = []
        for folder, record in islice(RunFolder.readable(self._runs, streams.notice), limit):
            status = "partial" if record.status == "running" else record.status
            rows.append(
                Row(
                    run_id=record.run_id,
                    method=record.method,
                    status="running" if folder.run_id in self._underway else status,
                    question=str(record.input["question"]),
                    started=record.started,
                    answer=record.verdict.answer if record.verdict else None,
                    contests=record.contest.run if record.contest else None,
                )
            )
        return RunList(runs=rows)

    def show(self, name: str, node: str | None) -> Report:
        """Return a run, or one of its nodes, in full."""
        folder = self._folder(name)
        record = folder.record()
        if node is not None and node not in record.tree.nodes:
            known = ", ".join(record.tree.nodes)
            raise RunNotFound(f"node {node}: the run has no such node; it has {known}")
        return Report(
            run_id=record.run_id,
            nodes=[*record.tree.nodes],
            report=markdown(record, folder.calls()) if node is None else None,
            node=record.tree.nodes[node] if node is not None else None,
        )

    def _folder(self, name: str) -> RunFolder:
        """Return the folder of a run in the folder of runs, and nowhere else."""
        with suppress(RunNotFound):
            folder = RunFolder.find(name, self._runs)
            if folder.path.parent.resolve() == self._runs.resolve():
                return folder
        raise RunNotFound(f"there is no run {name!r}; `runs` lists them")

    @staticmethod
    def _method(record: RunRecord) -> Method:
        return method(record.method, record.protocol)

    def _go_on(self, started: Started, notes: list[str]) -> Underway:
        one = Underway(started, notes)
        self._underway[started.folder.run_id] = one
        one.task.add_done_callback(lambda _: self._underway.pop(started.folder.run_id, None))
        return one


def _busy(folder: RunFolder) -> bool:
    """Return whether some process is working on a run."""
    try:
        with folder.held():
            return False
    except RunFolderError:
        return True
