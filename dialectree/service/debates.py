"""Plan, estimate, start, follow, show, contest, resume and cancel debates, for every interface.

An interface (command line, Python, server) only translates: it reads a request, calls one method of
:class:`Debates`, and presents the result in its own way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import JsonValue

from dialectree.errors import DialectreeError, DiskFull, RunNotFound
from dialectree.flow.human_input import Ask, require_person
from dialectree.protocols.protocol import CHECKER, Method, follow_routes, method
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import UNFINISHED, Contest, Event, Node, RunRecord, RunSummary, Verdict
from dialectree.records.folder import RunFolder
from dialectree.running import runner
from dialectree.running.held_run import Watch
from dialectree.running.plug_points import DOCUMENTS, WatchReading
from dialectree.running.recorded_settings import (
    calibration,
    list_role_models,
    require_keys,
    require_models_and_limits,
    speakers,
)
from dialectree.running.runner import RunHandle
from dialectree.service.allowed_files import resolve_allowed_files, resolve_allowed_value
from dialectree.service.plug_points import CONTESTS, ESTIMATES, REPORTS, Wish
from dialectree.system.streams import notice

if TYPE_CHECKING:
    from dialectree.records.estimate import Estimate

_LONG = 20_000
"""Most characters of a text that gets no remark on its length."""


@dataclass(frozen=True)
class DebatePlan:
    """A debate, or a change to a debate, before its first call."""

    estimate: Callable[[], Coroutine[Any, Any, Estimate]]
    """Returns the estimate, without calling a model."""
    begin: Callable[[], RunHandle]
    """Creates the folder of the run and begins the run; reads and writes files."""
    context: ProtocolSettings | None = None
    """The settings of the debate; None for a change to a debate."""
    remarks: list[str] = field(default_factory=list[str])
    """A line on each setting without effect."""
    graph_input: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The input of the debate's graph."""
    require_keys: Callable[[], None] = lambda: None
    """Raises KeyRefused if a model that the debate calls lacks its key."""
    calls: tuple[int, int] | None = None
    """The least and the most calls, if the declaration gives both without an estimate."""


class ActiveRun:
    """A run that has begun, for its caller to await."""

    def __init__(self, started: RunHandle, remarks: Sequence[str] = ()) -> None:
        self.started, self.remarks = started, [*remarks]
        self.fault: DialectreeError | None = None
        """The error that ended the run."""
        self.unreported: DialectreeError | None = None
        """The reason why the reports could not be written; the verdict is saved even so."""

    @property
    def record(self) -> RunRecord:
        """Return the record, as far as it exists."""
        return self.started.record

    async def run_to_end(
        self,
        ask: Ask | None = None,
        watch: Watch | None = None,
        *,
        progress: Watch | None = None,
        wait: bool = True,
    ) -> RunRecord:
        """Walk the graph to its end, and write the reports next to the record, even after an error.

        Args:
            ask: Answers for a person.
            watch: Gets every event.
            progress: Gets every event, including those of earlier parts of the run.
            wait: Wait for the reports. False: a finished run's reports may be written later.
        """

        if progress is not None and self.record.status in UNFINISHED:
            for event in await asyncio.to_thread(self.started.folder.events):
                progress(event)

        def follow(event: Event) -> None:
            for hear in (progress, watch):
                if hear is not None:
                    hear(event)

        try:
            return await self.started.conduct(ask, follow)
        except DialectreeError as error:
            error.run_id = self.record.run_id
            self.fault = error
            raise
        finally:
            await self._report(wait=wait)

    async def _report(self, *, wait: bool) -> None:
        reports = REPORTS.find()
        if isinstance(self.fault, DiskFull):
            self.unreported = self.fault
        if reports is None or self.unreported is not None:
            return
        over = self.record.status not in UNFINISHED
        if over and not wait and reports.write_later(self.started.folder):
            return
        try:
            await asyncio.to_thread(reports.write, self.started.folder, self.record)
        except DialectreeError as error:
            self.unreported = error


class KeptRecord(RunRecord):
    """The record of a run with a folder. Without a ruling its verdict is empty."""

    verdict: Verdict = Verdict()  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def path(self) -> Path:
        """Return the run's folder."""
        assert self._path is not None
        return self._path


class ContestRecord(KeptRecord):
    """The record of a run that contests another one."""

    contest: Contest  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]


Kept = TypeVar("Kept", bound=KeptRecord)


def convert_record(kind: type[Kept], record: RunRecord) -> Kept:
    """Return ``record`` as ``kind``, with an empty verdict if the debate reached none."""
    values = {**record.__dict__, "verdict": record.verdict or Verdict()}
    kept_record = cast("Kept", kind.model_construct(record.model_fields_set, **values))
    if record.path is not None:
        kept_record.set_folder(record.path)
    return kept_record


def add_reports(folder: RunFolder, record: RunRecord) -> None:
    """Write the reports of a run if they are missing and the disk has space."""
    reports, page = REPORTS.find(), folder.path / "report.html"
    if reports is not None and not page.is_file() and record.status != "running":
        with suppress(DialectreeError):
            reports.write(folder, record)


class Debates:
    """The debates in one folder of runs, for the person of this machine or for a client.

    Args:
        runs: The folder of all runs.
        owner: None: the person of this machine, who may give any run by the path of its folder.
            A name: a client of a server, who sees only its own runs. Empty: any client of a
            server without keys, who sees all runs of the folder.
        files_from: The folders whose files an input may name. None: any file.
        host: Models and limits of the host. Settings of a debate replace them, but the smaller
            budget of calls applies.
        person: Whether a person can be asked.
    """

    def __init__(
        self,
        runs: Path,
        *,
        owner: str | None = None,
        files_from: Sequence[str | Path] | None = None,
        host: Mapping[str, Any] | None = None,
        person: bool = False,
    ) -> None:
        self.runs, self.owner, self._files = runs, owner, files_from
        self._host, self._person = host or {}, person

    def configure(
        self, chosen: Method, settings: Mapping[str, Any], warn: Callable[[str], None]
    ) -> ProtocolSettings:
        """Return the settings of a debate; ``warn`` gets a line on each setting without effect."""
        limits = [
            calls for settings_layer in (self._host, settings) if (calls := settings_layer.get("max_calls"))
        ]
        budget = {"max_calls": min(limits)} if limits else {}
        context = chosen.configure({**self._host_of(chosen), **settings, **budget}, warn)
        context = follow_routes(context)
        if not self._person and context.asks():
            require_person(context, None)
        return context

    def _host_of(self, chosen: Method) -> dict[str, Any]:
        """Return the host's settings, without models of roles that ``chosen`` does not have."""
        if not (models := self._host.get("roles")):
            return {**self._host}
        roles = chosen.role_names(build_settings(chosen.protocol.settings))
        return {**self._host, "roles": {role: models[role] for role in roles if role in models}}

    # Debates

    def plan(
        self,
        chosen: Method,
        inputs: Mapping[str, Any],
        settings: Mapping[str, Any],
        reading: WatchReading | None = None,
    ) -> DebatePlan:
        """Read papers and sources, and return the planned debate; raise InputError if it is impossible.

        ``reading`` gets the progress of reading the sources.
        """
        remarks: list[str] = []
        context = self.configure(chosen, settings, remarks.append)
        if self._files is not None:
            inputs = resolve_allowed_files(chosen.protocol.input, inputs, self._files)
        if self.owner and (sources := inputs.get("sources")):
            DOCUMENTS.require().require_own(self.owner, sources, self.runs)
        graph_input = runner.prepare_graph_input(chosen, inputs, context, reading)
        if self.owner and isinstance(sources := graph_input.get("sources"), list):
            DOCUMENTS.require().keep_sent(self.owner, sources, self.runs)
        remarks += [*_long(inputs), *_without_sources(chosen, graph_input, settings)]
        chosen = chosen.on(graph_input)
        if context.calibration is not None:  # before the person confirms the start
            calibration(chosen, context, list_role_models(speakers(chosen, context), {}))

        async def estimate() -> Estimate:
            return await ESTIMATES.require().estimate(chosen, graph_input, context, self.runs)

        return DebatePlan(
            estimate,
            partial(runner.begin, chosen, graph_input, context, self.runs),
            context,
            remarks,
            graph_input,
            partial(require_keys, chosen, context),
            chosen.count_calls(context),
        )

    # Existing runs

    def find(self, run: str) -> RunFolder:
        """Return the folder of a run; ``last`` is the run that was started last.

        See :meth:`RunFolder.find`.
        """
        if run == "last" and not RunFolder(self.runs / run).exists():
            for summary in self.list_runs(notice):
                return RunFolder(self.runs / summary.run_id)
        return RunFolder.find(run, self.runs, self.owner)

    def list_runs(self, warn: Callable[[str], None]) -> list[RunSummary]:
        """Return the runs, the newest first; ``warn`` gets a line on each unreadable run.

        Raises MissingPackage without the part `reports`.
        """
        summaries = REPORTS.require().list_runs(self.runs, warn)
        return [summary for summary in summaries if summary.is_visible_to(self.owner)]

    def result(self, run: str) -> RunRecord:
        """Return the record of a run."""
        return self.find(run).record()

    def node(self, record: RunRecord, name: str) -> Node:
        """Return a node of a run's tree; raise RunNotFound, with the known names, if it is missing."""
        if name not in record.tree.nodes:
            node_names = ", ".join(record.tree.nodes)
            raise RunNotFound(f"`node` {name}: the run has no such node; it has {node_names}")
        return record.tree.nodes[name]

    # Changes to existing runs

    def plan_contest(
        self, run: str | RunFolder, wishes: Iterable[Wish], settings: Mapping[str, Any]
    ) -> DebatePlan:
        """Return the plan of a new run that applies ``wishes`` to a finished run."""
        folder = run if isinstance(run, RunFolder) else self.find(run)
        host = self._host_of(_method(folder.record())) if self._host else {}
        if self._files is not None:
            wishes = [_resolve_wish_source(wish, self._files) for wish in wishes]
        begin = partial(
            CONTESTS.require().start, folder, wishes, self.runs, {**host, **settings}, person=self._person
        )

        async def estimate_contest() -> Estimate:
            trial = await asyncio.to_thread(TemporaryDirectory, prefix="dialectree-")
            try:
                tried = await asyncio.to_thread(begin, into=Path(trial.name))
                return await ESTIMATES.require().estimate_change(tried, self.runs)
            finally:
                await asyncio.to_thread(trial.cleanup)

        return DebatePlan(estimate_contest, begin)

    def take_up(self, run: str | RunFolder, settings: Mapping[str, Any]) -> RunHandle:
        """Return an interrupted run, or one whose calls failed, ready to be conducted."""
        require_models_and_limits(settings, "a resumed run keeps")
        folder = run if isinstance(run, RunFolder) else self.find(run)
        host = self._host_of(_method(folder.record())) if self._host else {}
        return runner.again(folder, {**host, **settings}, self.runs)


def _long(inputs: Mapping[str, Any]) -> Iterator[str]:
    """Yield a remark on each long text, because most calls repeat it."""
    for name, text in inputs.items():
        if isinstance(text, str) and len(text) > _LONG:
            yield f"the {name} has {len(text):,} characters, and most calls repeat it"


def _without_sources(
    chosen: Method, graph_input: Mapping[str, Any], settings: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a remark on each given setting on evidence if the debate has no sources."""
    if chosen.grounded and graph_input.get("sources") is None:
        setting_names = [f"`{name}`" for name in settings if name in chosen.protocol.evidence_settings()]
        setting_names += ["`roles` checker"] * (CHECKER in settings.get("roles", {}))
        yield from (f"{name}: there are no sources, so it changes nothing" for name in setting_names)


def _resolve_wish_source(wish: Wish, folders: Sequence[str | Path]) -> Wish:
    """Return ``wish`` with the full path of its source; raise InputError if it is outside the folders."""
    if wish.change != "add_source" or wish.text:
        return wish
    return wish.model_copy(update={"where": str(resolve_allowed_value("add_source", wish.where, folders))})


def _method(record: RunRecord) -> Method:
    return method(record.method, record.protocol)
