"""Run a protocol: from the user's input, through its graph, to a record in a folder.

The folder is enough to go on after a crash. A resumed run walks the graph from its start and takes
replies from the journal; its events repeat, and the repeated ones have no effect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import JsonValue

from dialectree import prompts
from dialectree.errors import DialectreeError, KeyRefused, MissingPackage, ReplayMiss, SettingsError
from dialectree.flow.human_input import Ask, answer_requests, payload_of, require_person, without_person
from dialectree.models.door import REPAIRS
from dialectree.models.limits import Budget
from dialectree.models.sizes import at_chance
from dialectree.protocols.forms import validate_input
from dialectree.protocols.grounded import find_reader, has_retriever
from dialectree.protocols.inside import ITSELF, inside
from dialectree.protocols.protocol import Method, method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import UNFINISHED, Call, Evaluated, RunRecord, Verdict, fold, own_calls
from dialectree.records.declared import declarations
from dialectree.records.folder import RunFolder
from dialectree.running.held_run import HeldRun, Watch, create_folder
from dialectree.running.plug_points import DOCUMENTS, OUTCOMES, WatchReading
from dialectree.running.recorded_settings import (
    calibration,
    dump_settings,
    list_role_models,
    read_run_settings,
    require_keys,
    restrict_to_called_roles,
    speakers,
    versions,
    without_models,
)
from dialectree.system import clock
from dialectree.system.loop import finish_in_thread

# Beginning a run


@dataclass
class RunHandle:
    """A run with a folder, ready to be conducted."""

    folder: RunFolder
    record: RunRecord
    method: Method
    context: ProtocolSettings
    budget: Budget | None = None
    """A budget that several runs share; None: the run's own budget, from its settings."""
    expected: tuple[int, int] | None = None
    """The estimated least and most calls; None without an estimate."""
    refusal: DialectreeError | None = None
    """The reason why models cannot be called. A run that needs a call ends with this error."""

    def __post_init__(self) -> None:
        """Tell the record its folder."""
        self.record.set_folder(self.folder.path)

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Walk the graph to its end and complete the record, even after an error.

        ``ask`` answers for a person, and ``watch`` gets every event. A finished run stays as it is.
        Raises Halted, ModelUnavailable or InputError with the record already on disk.
        """
        if self.record.status not in UNFINISHED:
            return self.record
        # The journal of a contested run may have the ruling.
        if self.record.contest is None and self.context.asks():
            require_person(self.context, ask)
        await asyncio.to_thread(self._load_prompts)
        await _run(self, ask, watch)
        return self.record

    def find_changed_prompts(self) -> list[str]:
        """Return a line on each prompt version that the run used before and that no longer exists.

        The remaining calls of the run use today's version, so their replies are new.
        """
        labels = {call.prompt for call in self.folder.ledger() if call.prompt}
        lines: list[str] = []
        for label in sorted(labels):
            name, _, version = label.rpartition("@")
            with suppress(ValueError, OSError):  # a prompt of a package that is not installed now
                if (today := prompts.load(name, int(version)).version) != int(version):
                    was = f"the run was asked in version {version} of the prompt {name}, now gone"
                    lines.append(f"{was}: what is asked from here on is asked in version {today}")
        return lines

    def _load_prompts(self) -> None:
        """Load every prompt, so that a broken one is an error before any call is paid."""
        for folder in self.method.prompts(self.context):
            for name in prompts.names(folder):
                prompts.load(name)


def prepare_graph_input(
    chosen: Method, inputs: Mapping[str, Any], context: ProtocolSettings, reading: WatchReading | None = None
) -> dict[str, JsonValue]:
    """Return the input of the graph of ``chosen``; raise InputError if it cannot be debated.

    ``reading`` gets the progress of reading the sources.
    """
    inputs = validate_input(chosen.protocol.input, inputs)
    sources = inputs.pop("sources", None) if chosen.protocol.grounded else None
    if sources:
        chosen.require_grounded()
    graph_input = chosen.prepare(inputs, context)
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
) -> RunHandle:
    """Begin a run of ``chosen`` with its graph's input (:func:`prepare_graph_input`).

    Its folder is a new one in ``runs``, or ``folder``.
    """
    chosen = chosen.on(graph_input)
    require_keys(chosen, context)
    record = new_record(chosen, graph_input, context)
    record.evaluated = evaluated
    return RunHandle(create_folder(record, runs, folder=folder), record, chosen, context)


def new_record(chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings) -> RunRecord:
    """Return the record of a run that has no id yet; check its models."""
    specs, settings = speakers(chosen, context), dump_settings(context, chosen)
    models = list_role_models(specs, {})
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


def again(folder: RunFolder, new_settings: Mapping[str, Any], runs: Path | None = None) -> RunHandle:
    """Prepare a run that was interrupted, or whose calls failed, to go on.

    ``new_settings`` replace the run's own settings. Old budgets are dropped, and new ones count from zero.
    ``runs`` is the current folder of runs: a run in it may use its loopback address again.
    An unfinished contest goes on even without usable models: its journal may have every reply.
    """
    record, ledger = folder.record(), folder.ledger()
    chosen = method(record.method, record.protocol).on(record.input)
    unfinished = record.status in UNFINISHED
    if not unfinished and not list_failed_calls(record, ledger):
        context = without_models(record, new_settings)  # no call is made
        chosen.require_roles(context, new_settings)
        return RunHandle(folder, record, chosen, context)
    if record.sources:
        DOCUMENTS.require().require_unchanged(record, new_settings.get("reader"))
    try:
        context = read_run_settings(
            record, new_settings, in_runs_folder=runs is not None and folder.lies_under(runs)
        )
        chosen.require_roles(context, new_settings)
        failed = [] if context.replay else list_failed_calls(record, ledger)
        if failed or unfinished:
            require_keys(chosen, context)
            record.models = list_role_models(
                speakers(chosen, context), restrict_to_called_roles(record.models, ledger)
            )
    except (SettingsError, MissingPackage, KeyRefused) as error:
        if record.contest is None or not unfinished:
            raise
        return RunHandle(folder, record, chosen, without_models(record, new_settings), refusal=error)
    if failed:
        _reopen(folder, record, failed)
    return RunHandle(folder, record, chosen, context)


def list_failed_calls(record: RunRecord, ledger: Sequence[Call]) -> list[Call]:
    """Return the calls by which a part of an ended run failed: their replies are missing or invalid.

    Rulings that contradict themselves are not included. An interrupted run has no
    such calls, because it repeats its earlier path.
    """
    if record.status not in ("degraded", "unresolved"):
        return []
    calls = [call for call in own_calls(ledger) if not call.void]
    invalid = {call.spot() for call in calls if call.repair == REPAIRS}
    invalid -= {turn.spot() for node in record.tree.nodes.values() for turn in node.transcript}
    return [call for call in calls if call.error is not None or call.spot() in invalid]


def _reopen(folder: RunFolder, record: RunRecord, failed: Sequence[Call]) -> None:
    """Mark the calls ``failed`` as void, so that they and all that depends on them are repeated.

    The graph runs from its start and repeats all events. The record keeps the old verdict in
    ``earlier``.
    """
    with folder.lock():
        record.earlier = [*record.earlier, record.verdict or Verdict()]
        record.status = "partial"
        folder.write_record(record)
        folder.void(failed)


# Running it


async def _run(started: RunHandle, ask: Ask | None, watch: Watch | None) -> None:
    """Lock the folder, walk the graph, and complete the record; raise the error that ended the run.

    Files are opened and written whole in threads: a server's event loop refuses to wait for them.
    """
    run, folder = OwnRun(started, watch), started.folder
    failure: BaseException | None = None
    try:
        await finish_in_thread(run.begin, folder)
        try:
            run.show_untold()
            if not folder.list_logged_events():
                run.tell_beginning(started.expected)
            await finish_in_thread(run.read_journal, folder)
            run.notices += await asyncio.to_thread(started.find_changed_prompts)
            with started.method.packages():
                await _walk(started, run, ask)
            run.tell_changes()
        except (Exception, asyncio.CancelledError) as error:
            failure = error
            if started.refusal is not None and isinstance(error, ReplayMiss):
                failure = started.refusal
        if (failure := await run.leave(failure, finished=failure is None)) is not None:
            raise failure
    finally:
        run.close_files()  # if the run could not begin, or the program ends


class OwnRun(HeldRun):
    """A run that we drive from its beginning to its end."""

    def __init__(self, started: RunHandle, watch: Watch | None) -> None:
        contest, record = started.record.contest, started.record
        self._old = started.folder.read_contested_record() if contest is not None else None
        """The run that this one contests."""
        super().__init__(
            started.folder.run_id,
            started.context,
            record,
            started.folder,
            () if contest is None else contest.overrides,
            started.budget,
            ended_before=bool(record.earlier),
        )
        self.watch = watch

    def begin(self, folder: RunFolder) -> None:
        """Lock the folder, and go on after earlier events."""
        assert self.record is not None
        self.lock(folder)
        folder.resume_events(from_start=True)
        folder.sync()
        if folder.list_logged_events():
            self.take_up(folder, self.record)

    def tell_changes(self) -> None:
        """Record a contest's changes at their nodes, once all these nodes exist."""
        if self._old is None or self.keeper is None:
            return
        tree, _ = fold(self.keeper.list_logged_events())
        changes = OUTCOMES.require().describe_changes(self.changes, tree, self.overrides.met)
        for event in changes:
            self.tell(event.model_copy(update={"t": clock.stamp(), "run_id": self.run_id}))

    def compare(self) -> None:
        """Add the effect of a contest to its record."""
        if self._old is not None and self.record is not None:
            self.record.contest = OUTCOMES.require().compare_runs(self._old, self.record)


async def _walk(started: RunHandle, run: OwnRun, ask: Ask | None) -> None:
    """Drive the graph to its end; ask the person whenever it stops for an answer."""
    record, context = started.record, started.context
    graph, thread = started.method.graph(), dict[str, Any]()
    if ask is None and record.contest is None and context.asks():
        context = without_person(context)  # the journal of a contest may have answers
    if context.asks():
        graph = graph.copy({"checkpointer": InMemorySaver()})
        thread = {"configurable": {"thread_id": run.run_id}}
    config: Any = {
        "tags": ["dialectree", record.method],
        "metadata": {"run_id": record.run_id, "method": record.method},
        **thread,
    }
    todo: Any = dict(record.input)
    while True:
        with _without_host():
            ended = await graph.ainvoke(todo, config, context=context, control=run, version="v2")
        requests = {stop.id: payload_of(stop.value) for stop in ended.interrupts}
        if not requests:
            return
        assert run.journal is not None
        answers = await answer_requests(requests, run.journal, ask, run.changes, run.tell_who_is_asked)
        todo = Command(resume=answers)


@contextmanager
def _without_host() -> Iterator[None]:
    """Separate a run inside a node of a host's graph from the host's thread, but not from its trace.

    A model's tool may begin a run inside an inner debate of another run.

    If the run used the host's checkpointer, a host that resumes would find the run's graph at its end,
    and the host's new run would get no events.
    """
    host = var_child_runnable_config.get() or {}
    config: RunnableConfig = {}
    if "callbacks" in host:
        config["callbacks"] = host["callbacks"]
    tokens = var_child_runnable_config.set(config), inside.set(ITSELF)
    try:
        yield
    finally:
        var_child_runnable_config.reset(tokens[0])
        inside.reset(tokens[1])
