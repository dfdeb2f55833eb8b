"""Run a protocol: from the user's input, through its graph, to a record in a folder.

The folder alone is enough to go on after a crash. A resumed run walks the graph from its start and
gets its answers from the journal, so the same events are told again and change nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import JsonValue

from dialectree import prompts
from dialectree.errors import DialectreeError, MissingPackage, ReplayMiss, SettingsError
from dialectree.flow.human_input import (
    Ask,
    Payload,
    answer_requests,
    payload_of,
    require_person,
    told_of,
    without_person,
)
from dialectree.models.door import REPAIRS, Run
from dialectree.models.limits import Budget
from dialectree.models.sizes import at_chance
from dialectree.protocols.forms import checked
from dialectree.protocols.grounded import find_reader, has_retriever
from dialectree.protocols.inside import ITSELF, inside
from dialectree.protocols.protocol import Method, method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import (
    UNFINISHED,
    Call,
    Evaluated,
    Event,
    EventKind,
    Override,
    RunRecord,
    RunStatus,
    Verdict,
    fold,
    own_calls,
)
from dialectree.records.declared import declarations
from dialectree.records.folder import SOURCES, RunFolder, Unkept
from dialectree.records.run import source_notices
from dialectree.running.plug_points import (
    DOCUMENTS,
    OUTCOMES,
    WatchReading,
    keep_sources,
    locate_sources,
)
from dialectree.running.recorded_settings import (
    calibration,
    kept,
    named,
    settled,
    speakers,
    spoken,
    versions,
    without_models,
)
from dialectree.system import clock
from dialectree.text import line

Watch = Callable[[Event], None]

INTERRUPTED = "interrupted"
"""The notice in the record of a run that was cancelled."""
GRACE_S = 5.0
"""Seconds that a cancelled run waits for the calls under way."""


# Beginning a run


@dataclass
class Started:
    """A run that has its folder."""

    folder: RunFolder
    record: RunRecord
    method: Method
    context: ProtocolSettings
    budget: Budget | None = None
    """A budget that several runs share; None: the run's own, by its settings."""
    expected: tuple[int, int] | None = None
    """The least and the most calls that were estimated; None where nothing was."""
    refusal: DialectreeError | None = None
    """Why no model can be asked. The run ends with it if one has to be."""

    def __post_init__(self) -> None:
        """Tell the record where it lies."""
        self.record.set_folder(self.folder.path)

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Walk the graph to its end and complete the record, however it ends.

        ``ask`` answers for a person, and ``watch`` gets every event. A finished run stays as it is.
        Raises Halted, ModelUnavailable or InputError with the record already on disk.
        """
        if self.record.status not in UNFINISHED:
            return self.record
        if self.record.contest is None:  # the journal of a contested run may have the ruling
            require_person(self.context, ask)
        await asyncio.to_thread(self._load_prompts)
        await _run(self, ask, watch)
        return self.record

    def find_changed_prompts(self) -> list[str]:
        """Return a line on each prompt in whose words the run was asked before and that is gone.

        What the run still has to ask is asked in the words of today, and its replies are new ones.
        """
        labels = {call.prompt for call in self.folder.ledger() if call.prompt}
        lines: list[str] = []
        for label in sorted(labels):
            name, _, version = label.rpartition("@")
            with suppress(ValueError, OSError):  # a prompt of a package that is not here now
                if (today := prompts.load(name, int(version)).version) != int(version):
                    was = f"the run was asked in version {version} of the prompt {name}, now gone"
                    lines.append(f"{was}: what is asked from here on is asked in version {today}")
        return lines

    def _load_prompts(self) -> None:
        """Load every prompt: a broken one is an error before anything is paid."""
        for folder in self.method.prompts(self.context):
            for name in prompts.names(folder):
                prompts.load(name)


def prepared(
    chosen: Method,
    given: Mapping[str, Any],
    context: ProtocolSettings,
    reading: WatchReading | None = None,
) -> dict[str, JsonValue]:
    """Return what the graph of ``chosen`` takes; raise InputError where it cannot be debated.

    ``reading`` is told how far the sources are read.
    """
    given = checked(chosen.protocol.input, given)
    sources = given.pop("sources", None) if chosen.protocol.grounded else None
    if sources:
        chosen.require_grounded()
    graph_input = chosen.prepare(given, context)
    if sources:
        reader = find_reader(context)
        graph_input["sources"] = DOCUMENTS.require().read_given(sources, reading, reader)
    elif chosen.grounded and has_retriever(context):
        graph_input["sources"] = []
    return graph_input


def begin(
    chosen: Method,
    graph_input: Mapping[str, JsonValue],
    context: ProtocolSettings,
    runs: Path,
    *,
    folder: RunFolder | None = None,
    evaluated: Evaluated | None = None,
) -> Started:
    """Begin a run of ``chosen`` with what its graph takes (:func:`prepared`).

    Its folder lies in ``runs``, or is ``folder``.
    """
    chosen = chosen.on(graph_input)
    record = new_record(chosen, graph_input, context)
    record.evaluated = evaluated
    texts = locate_sources(record.sources)
    folder = folder or RunFolder.create(runs)
    record.run_id = folder.run_id
    keep_sources(texts, folder)
    folder.write_record(record, sync=False)  # the disk has it before the first call is made
    return Started(folder, record, chosen, context)


def new_record(
    chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings
) -> RunRecord:
    """Return the record of a run that has no id yet; raise an error for a wrong model."""
    specs, settings = speakers(chosen, context), kept(context, chosen)
    models = named(specs, {})
    return RunRecord(
        run_id="",
        protocol=chosen.protocol.name,
        method=chosen.name,
        demonstration=any(map(at_chance, specs.values())),
        input={name: value for name, value in graph_input.items() if value is not None},
        settings=settings,
        models=models,
        calibration=calibration(chosen, context, models),
        declared=declarations(chosen, settings),
        started=clock.stamp(),
        versions={**versions()},
    )


def again(folder: RunFolder, given: Mapping[str, Any], runs: Path | None = None) -> Started:
    """Take up a run that was broken off or whose calls failed.

    It has its own settings except those ``given``. Budgets count anew, and only those given now.
    ``runs`` is the folder of runs that is in use: a run in there goes on at its loopback address.
    A contest in which nobody has to be asked goes on without the models of its record.
    """
    record, ledger = folder.record(), folder.ledger()
    chosen = method(record.method, record.protocol).on(record.input)
    unfinished = record.status in UNFINISHED
    if record.sources:
        DOCUMENTS.require().require_unchanged(record, given.get("reader"))
    try:
        context = settled(record, given, own=runs is not None and folder.lies_under(runs))
        chosen.require_roles(context, given)
        failed = [] if context.replay else failed_calls(record, ledger)
        if failed or unfinished:
            record.models = named(speakers(chosen, context), spoken(record.models, ledger))
    except (SettingsError, MissingPackage) as error:
        if record.contest is None or not unfinished:
            raise
        return Started(folder, record, chosen, without_models(record, given), refusal=error)
    if failed:
        _reopen(folder, record, failed)
    return Started(folder, record, chosen, context)


def failed_calls(record: RunRecord, ledger: Sequence[Call]) -> list[Call]:
    """Return the calls of a run that ended without a part, for no reply or for invalid ones.

    A ruling that contradicts itself is not among them. A run that was broken off takes the path
    that it took before.
    """
    if record.status not in ("degraded", "unresolved"):
        return []
    calls = [call for call in own_calls(ledger) if not call.void]
    invalid = {call.spot() for call in calls if call.repair == REPAIRS}
    invalid -= {turn.spot() for node in record.tree.nodes.values() for turn in node.transcript}
    return [call for call in calls if call.error is not None or call.spot() in invalid]


def _reopen(folder: RunFolder, record: RunRecord, failed: Sequence[Call]) -> None:
    """Let the calls ``failed`` be made again, and all that depends on them.

    The graph runs from its start and tells all events anew. The verdict that the run ended with
    stays in the record.
    """
    with folder.held():
        record.earlier = [*record.earlier, record.verdict or Verdict()]
        record.status = "partial"
        folder.write_record(record)
        folder.void(failed)


# Running it


async def _run(started: Started, ask: Ask | None, watch: Watch | None) -> None:
    """Walk the graph while the folder is locked, then write the record; raise what ended it.

    Files are opened and written whole in threads: a server's event loop refuses to wait for them.
    """
    folder, record, contest = started.folder, started.record, started.record.contest
    contested = folder.contested() if contest is not None else None
    overrides = contest.overrides if contest is not None else []
    ended: BaseException | None = None
    notices: list[str] = []
    async with _holding(folder):
        told = partial(_told, folder, watch)
        if folder.told():
            for event in [*folder.resumption(record)]:
                told(event)
            await asyncio.to_thread(_mark_as_running, record, folder)
        else:
            told(event_of(record, "began", began_with(record, started.expected)))
        began, before = clock.seconds(), record.usage.wall_s
        try:
            async with calling(
                folder,
                started.context,
                overrides,
                started.budget,
                ended_before=bool(record.earlier),
            ) as run:
                run.calibration, run.models = record.calibration, record.models
                run.notices += await asyncio.to_thread(started.find_changed_prompts)
                try:
                    with started.method.packages():
                        await _walk(started, run, ask, watch)
                    _tell_changes(started, run, watch)
                finally:
                    record.usage.embedding_s += round(run.embedding_s, 6)
                    notices = run.notices
            if started.budget is None:  # whoever shares a budget reports it for all of its runs
                notices = [*notices, *run.budget.overrun()]
        except (Exception, asyncio.CancelledError) as error:
            ended = error
            if started.refusal is not None and isinstance(error, ReplayMiss):
                ended = started.refusal
        record.usage.wall_s = round(before + clock.seconds() - began, 6)
        complete(record, folder, ended, notices)
        if ended is None and contested is not None:
            record.contest = OUTCOMES.require().compare_runs(contested, record)
        # In a thread: others go on meanwhile, and a cancelled run has its record all the same.
        try:
            await asyncio.shield(asyncio.to_thread(folder.write_record, record))
        finally:
            told(event_of(record, "ended", ended_with(record)))
    if ended is not None:
        raise ended


def _told(folder: RunFolder, watch: Watch | None, event: Event) -> None:
    """Keep ``event``, and show it to ``watch`` if it says something new."""
    if folder.tell(event) and watch is not None:
        watch(event)


def event_of(
    record: RunRecord, kind: EventKind, data: Mapping[str, JsonValue], node: str = "0"
) -> Event:
    """Return an event of the run of ``record``, by default of the whole run."""
    return Event(t=clock.stamp(), run_id=record.run_id, node=node, kind=kind, data={**data})


def began_with(record: RunRecord, expected: tuple[int, int] | None = None) -> dict[str, JsonValue]:
    """Return the data of a ``began`` event; ``expected`` are the calls that were estimated."""
    head = record.model_dump(
        mode="json", include={"protocol", "method", "input", "models", "settings"}
    )
    return head if expected is None else {**head, "estimate": [*expected]}


def ended_with(record: RunRecord) -> dict[str, JsonValue]:
    """Return the data of an ``ended`` event."""
    return record.model_dump(mode="json", include={"status", "usage", "notices"})


@asynccontextmanager
async def _holding(folder: RunFolder) -> AsyncIterator[None]:
    """Hold ``folder``, with its earlier events; a server's event loop must not wait for files."""
    held = folder.held()

    def enter() -> None:
        held.__enter__()
        folder.resume_events(from_start=True)
        folder.sync()

    entering = asyncio.ensure_future(asyncio.to_thread(enter))
    try:
        await asyncio.wait([entering])
        entering.result()
        yield
    finally:
        await asyncio.shield(asyncio.wait([entering]))
        held.__exit__(None, None, None)


def missing_in_input(record: RunRecord) -> list[str]:
    """Return what is missing in the papers and sources of a run, a line each."""
    papers: Any = record.input.get("papers") or []
    return source_notices([*papers, *record.sources])


def _mark_as_running(record: RunRecord, folder: RunFolder) -> None:
    """Say in the record of a broken-off run that it is under way again, in case it is killed."""
    record.status, record.ended, record.notices = "running", None, []
    folder.write_record(record)


def _tell_changes(started: Started, run: Run, watch: Watch | None) -> None:
    """Tell of a contest's changes at their nodes, once all of these are there."""
    folder, contest = started.folder, started.record.contest
    if contest is None:
        return
    tree, _ = fold(folder.told())
    for event in OUTCOMES.require().describe_changes(contest.overrides, tree, run.overrides.met):
        event = event.model_copy(update={"t": clock.stamp(), "run_id": folder.run_id})
        _told(folder, watch, event)


@asynccontextmanager
async def calling(
    folder: RunFolder,
    context: ProtocolSettings,
    overrides: Sequence[Override] = (),
    budget: Budget | None = None,
    *,
    ended_before: bool = False,
) -> AsyncIterator[Run]:
    """Open a run that calls models and keeps a journal.

    At the end it waits for the calls under way, so that no paid reply is lost. A cancelled run
    gives them up after :data:`GRACE_S` seconds, or when it is cancelled again.
    """
    journal = folder.journal()
    run = Run(folder.run_id, context, journal, overrides, budget, ended_before=ended_before)
    run.sources_at = folder.path / SOURCES
    try:
        yield run
    except asyncio.CancelledError:
        try:
            await run.land(within=GRACE_S)
        finally:
            run.abandon()
        raise
    finally:
        try:
            await run.land()
            await journal.settle()
        finally:
            journal.close()
    if run.unkept is not None:
        raise run.unkept


async def _walk(started: Started, run: Run, ask: Ask | None, watch: Watch | None) -> None:
    """Drive the graph to its end; get a person's answer whenever it stops for one."""
    folder, record, context = started.folder, started.record, started.context
    if ask is None and record.contest is None:  # the journal of a contested run may have answers
        context = without_person(context)
    graph = started.method.graph()
    thread: RunnableConfig = {}
    if context.asks():
        graph = graph.copy({"checkpointer": InMemorySaver()})
        thread = {"configurable": {"thread_id": folder.run_id}}
    overrides = record.contest.overrides if record.contest is not None else []

    def told(payload: Payload) -> None:
        event = event_of(record, "asked", told_of(payload), payload["node"])
        _told(folder, watch, event)

    requests = await stream(graph, dict(record.input), record, context, run, folder, watch, thread)
    while requests:
        assert run.journal is not None
        answers = await answer_requests(requests, run.journal, ask, overrides, told)
        todo: Command[Any] = Command(resume=answers)
        requests = await stream(graph, todo, record, context, run, folder, watch, thread)


async def stream(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    todo: Any,
    record: RunRecord,
    context: ProtocolSettings,
    run: Run,
    folder: RunFolder,
    watch: Watch | None = None,
    thread: RunnableConfig | None = None,
) -> dict[str, Payload]:
    """Walk ``graph``, keep every event, and return what it stops to ask a person."""
    config: RunnableConfig = {
        "tags": ["dialectree", record.method],
        "metadata": {"run_id": record.run_id, "method": record.method},
        **(thread or {}),
    }

    def hear(data: Mapping[str, object]) -> int:
        event = Event.model_validate(data)
        _told(folder, watch, event)
        return event.n

    run.hear = hear
    with _without_host():
        ended = await graph.ainvoke(todo, config, context=context, control=run, version="v2")
    return {stop.id: payload_of(stop.value) for stop in ended.interrupts}


@contextmanager
def _without_host() -> Iterator[None]:
    """Keep a run inside a node of a host's graph out of the host's thread, but in its trace.

    A tool of a model may begin a run of its own inside an inner debate of another run.

    With the host's checkpointer a host that resumes would find the graph at its end, and the run
    that it begins then would hear of no event.
    """
    host = var_child_runnable_config.get() or {}
    own: RunnableConfig = {}
    if "callbacks" in host:
        own["callbacks"] = host["callbacks"]
    tokens = var_child_runnable_config.set(own), inside.set(ITSELF)
    try:
        yield
    finally:
        var_child_runnable_config.reset(tokens[0])
        inside.reset(tokens[1])


# Ending it


def complete(
    record: RunRecord,
    kept_in: RunFolder | Unkept,
    ended: BaseException | None,
    notices: Sequence[str] = (),
) -> None:
    """Fold the events into the record, and write there how the run ended."""
    took = record.usage.model_dump(include={"wall_s", "embedding_s"})
    kept_in.tell_of(record, kept_in.told())
    record.usage = record.usage.model_copy(update=took)
    record.ended = clock.stamp()
    record.status = _status(record, ended)
    reason = [] if ended is None else [_notice(ended)]
    record.notices = [*missing_in_input(record), *reason, *notices]


def _notice(ended: BaseException) -> str:
    if isinstance(ended, asyncio.CancelledError):  # a host may give it an object
        return next((why for why in ended.args if isinstance(why, str) and why), INTERRUPTED)
    return str(ended) if isinstance(ended, DialectreeError) else line(repr(ended), 300)


def _status(record: RunRecord, ended: BaseException | None) -> RunStatus:
    if ended is not None:
        return "partial"
    if record.verdict is None or record.verdict.answer is None:
        return "unresolved"
    missing = any(
        node.status == "missing" and node.kind != "argument" and not node.dropped
        for node in record.tree.nodes.values()
    )
    return "degraded" if missing or record.degraded() else "answered"
