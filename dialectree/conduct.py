"""Conducts one run: from a question, through a graph, to a record in a folder.

The folder alone is enough to go on after a crash. A resumed run walks the graph from its start and
is answered from the journal, so the same events are told again and change nothing.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import JsonValue, ValidationError

from dialectree import clock, comparison, prompts
from dialectree.context import EMBEDDED, ProtocolSettings, RetrievalSettings, build, rebuilt
from dialectree.errors import DialectreeError, InputError, SettingsError
from dialectree.human_input import Ask, answer_requests, require_person, without_person
from dialectree.models.door import Run
from dialectree.models.error_mapping import one_line
from dialectree.models.limits import Budget, require_prices
from dialectree.models.specs import Spec, require_embeddings, resolve
from dialectree.protocol import Method, ProtocolInput, method, protocol
from dialectree.records import Call, Event, Held, RunRecord, RunStatus, fold
from dialectree.runs import RunFolder

Watch = Callable[[Event], None]

GRACE_S = 5.0
"""Seconds that a cancelled run waits for the calls under way."""
_BUDGETS = ("max_calls", "max_tokens", "max_seconds", "max_cost")
_LONGEST = 200_000
"""Characters of a question, a claim or an option."""
_PACKAGES = ("dialectree", "langgraph", "langchain-core", "langchain-openai", "pydantic")


@dataclass
class Started:
    """A run that has its folder, before and while it is conducted."""

    folder: RunFolder
    record: RunRecord
    method: Method
    context: ProtocolSettings
    budget: Budget | None = None
    """One that several runs share; none: this run's own, by its settings."""

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Walk the graph to its end and complete the record, whatever happens on the way.

        ``ask`` answers for the person, ``watch`` sees every event. A run that is finished stays as
        it is. Raises Halted, ModelUnavailable or InputError with the record already on disk.
        """
        if self.record.status in ("running", "partial"):
            if self.record.contest is None:  # in a contest a ruling may be known
                require_person(self.context, ask)
            for folder in self.method.prompts(self.context):
                for name in prompts.names(folder):
                    prompts.load(name)  # one that cannot be read is found before anything is paid
            await _conduct(self, ask, watch)
        return self.record


def start(
    chosen: Method,
    given: Mapping[str, Any],
    context: ProtocolSettings,
    runs: Path,
    *,
    folder: RunFolder | None = None,
) -> Started:
    """Begin a run of ``chosen``; its folder lies in ``runs``, or is ``folder``.

    ``given`` is the user's input, as the protocol declares it. Raises InputError where it cannot
    be debated.
    """
    return begin(chosen, prepared(chosen, given, context), context, runs, folder=folder)


def prepared(
    chosen: Method, given: Mapping[str, Any], context: ProtocolSettings
) -> dict[str, JsonValue]:
    """Return what the graph of ``chosen`` takes; InputError where it cannot be debated."""
    return chosen.prepare(checked(chosen.protocol.input, given), context)


def begin(
    chosen: Method,
    graph_input: Mapping[str, JsonValue],
    context: ProtocolSettings,
    runs: Path,
    *,
    folder: RunFolder | None = None,
) -> Started:
    """Begin a run of ``chosen`` with what its graph takes; see :func:`start`."""
    specs = speakers(chosen, context)
    folder = folder or RunFolder.create(runs)
    record = RunRecord(
        run_id=folder.run_id,
        protocol=chosen.protocol.name,
        method=chosen.name,
        demonstration=any(spec.name == EMBEDDED for spec in specs.values()),
        input={name: value for name, value in graph_input.items() if value is not None},
        settings=kept(context, chosen),
        models=named(specs, {}),
        started=clock.stamp(),
        versions={**versions()},
    )
    folder.write_record(record)
    return Started(folder, record, chosen, context)


def again(folder: RunFolder, given: Mapping[str, Any]) -> Started:
    """A run that was broken off, with its own settings but for those ``given``.

    Budgets count from now on, and only those that are given now.
    """
    record = folder.record()
    unfinished = record.status in ("running", "partial")
    reckoned = protocol(record.protocol).outcome == "probability"
    if record.contest is not None and reckoned and unfinished:
        of = record.contest.run
        raise InputError(f"{record.run_id} contests {of} and is not resumed: contest {of} again")
    chosen = method(record.method, record.protocol)
    context = settled(record, given)
    chosen.require_roles(context, given)
    if unfinished:
        before = spoken(record.models, folder.ledger())
        record.models = named(speakers(chosen, context), before)
    return Started(folder, record, chosen, context)


def checked(kind: type[ProtocolInput], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's input without outer blanks; InputError where it is none for ``kind``.

    A text is never empty and never endless.
    """
    for name in given:
        if name not in kind.model_fields:
            raise InputError(
                f"{name}: there is no such input; known: {', '.join(kind.model_fields)}"
            )
    tidied: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = given.get(name)
        if value is None and not field.is_required():
            continue
        tidied[name] = _tidied(value, name)
    try:
        return kind.model_validate(tidied).model_dump(exclude_none=True)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where, message = ".".join(map(str, fault["loc"])), fault["msg"]
        raise InputError(f"{where}: {message[:1].lower()}{message[1:]}") from None


def _tidied(value: object, name: str) -> object:
    if isinstance(value, list | tuple):
        return [_tidied(part, f"{name.removesuffix('s')} {n}") for n, part in enumerate(value, 1)]
    if isinstance(value, str):
        return tidy(value, name)
    if value is None:
        raise InputError(f"the {name} is missing")
    return value


def tidy(text: str, name: str) -> str:
    """Return what a person wrote, without its outer blanks; never empty and never endless."""
    text = text.encode("utf-8", "replace").decode().strip()
    if not text:
        raise InputError(f"the {name} is empty")
    if len(text) > _LONGEST:
        raise InputError(f"the {name} is longer than {_LONGEST:,} characters")
    return text


def settled(record: RunRecord, given: Mapping[str, Any]) -> ProtocolSettings:
    """Return the settings of a run, but for those ``given`` and for its budgets."""
    kind = protocol(record.protocol).settings
    kept = {name: value for name, value in record.settings.items() if name not in _BUDGETS}
    if given.get("replay"):
        kept.pop("cache", None)  # a run without the cache is replayed from its own calls
    try:
        return rebuilt(kind, kept, given, f"{record.run_id}/run.json")
    except SettingsError as error:
        build(kind, **given)  # raises where the record is not to blame
        raise SettingsError(f"{record.run_id}/run.json, settings: {error}") from None


@cache
def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{p: version(p) for p in _PACKAGES}}


def speakers(chosen: Method, context: ProtocolSettings) -> dict[str, Spec]:
    """The spec of every role; a spec that is none is an error before anything runs.

    The same holds for an address that may not have the key, that of the embeddings included.
    """
    if "embeddings" in chosen.reads() and isinstance(context, RetrievalSettings):
        require_embeddings(context)
    specs = {role: resolve(context.speaker(role), context) for role in chosen.roles(context)}
    require_prices(context, (spec.name for spec in specs.values()))
    return specs


def named(specs: Mapping[str, Spec], before: Mapping[str, str]) -> dict[str, str]:
    """The model of every role, behind those that spoke in it ``before``."""
    models = {role: model.split(", ") for role, model in before.items()}
    return {
        role: ", ".join(dict.fromkeys([*models.get(role, []), spec.address]))
        for role, spec in specs.items()
    }


def spoken(models: Mapping[str, str], calls: Iterable[Call]) -> dict[str, str]:
    """Those of a record's ``models`` whose roles made one of ``calls``."""
    made = {name for call in calls for name in (call.role, f"{call.role}_{call.who}".lower())}
    return {role: model for role, model in models.items() if role in made}


def kept(context: ProtocolSettings, chosen: Method) -> dict[str, JsonValue]:
    """The settings as a record keeps them: those that were given, and the defaults of the day.

    What only other protocols ask for is left out, and so are the models of their roles.
    """
    recorded = chosen.reads().union(ProtocolSettings.model_fields)
    known: dict[str, JsonValue] = context.model_dump(
        mode="json", include={*recorded} - {"model", "roles", "replay"}
    )
    if (inner := chosen.leaf_settings(context)) and (leaf := chosen.leaf(context)):
        known["leaf"] = inner.model_dump(mode="json", include={*leaf.reads()})
    roles = chosen.role_names(context)
    known["model"] = _names(context.model)
    known["roles"] = _names({name: context.roles[name] for name in roles if name in context.roles})
    return known


def _names(speaker: object) -> JsonValue:
    if isinstance(speaker, dict):
        return {role: _names(value) for role, value in speaker.items()}
    return str(speaker) if isinstance(speaker, str) else f"live:{type(speaker).__name__}"


async def _conduct(started: Started, ask: Ask | None, watch: Watch | None) -> None:
    folder, record, context = started.folder, started.record, started.context
    old = folder.contested() if record.contest is not None else None
    held = record.contest.held if record.contest is not None else []
    missing = missing_in_papers(record)
    with folder.held():
        folder.resume_events()
        if record.ended is not None or folder.told():
            _begun_again(record, folder)
        began, before = clock.seconds(), record.usage.wall_s
        ended: BaseException | None = None
        passed: list[str] = []
        try:
            async with calling(folder, context, held, started.budget) as run:
                try:
                    await _walk(started, run, ask, watch)
                    _tell_of_changes(started, run, watch)
                finally:
                    record.usage.embedding_s += round(run.embedding_s, 6)
            if started.budget is None:  # one that several runs share is told of for all of them
                passed = run.budget.overrun()
        except (Exception, asyncio.CancelledError) as error:
            ended = error
        record.usage.wall_s = round(before + clock.seconds() - began, 6)
        complete(record, folder, ended)
        record.notices = [*missing, *record.notices, *passed]
        if ended is None and old is not None:
            record.contest = comparison.compared(old, record)
        if ended is None:  # others go on while the disk is waited for
            await asyncio.to_thread(folder.write_record, record)
        else:
            folder.write_record(record)
    if ended is not None:
        raise ended


def missing_in_papers(record: RunRecord) -> list[str]:
    """Say what is missing in the papers that a run compares, and what stands in its place."""
    papers: Any = record.input.get("papers", [])
    return [notice for paper in papers for notice in paper.get("notices", [])]


def _begun_again(record: RunRecord, folder: RunFolder) -> None:
    """From now on a run that was broken off is under way, also for whoever finds it killed."""
    record.status, record.ended, record.notices = "running", None, []
    folder.write_record(record)


def _tell_of_changes(started: Started, run: Run, watch: Watch | None) -> None:
    """What persons changed, told of the nodes that it concerns once all of them are there."""
    folder, contest = started.folder, started.record.contest
    if contest is None:
        return
    for event in comparison.told(contest.held, fold(folder.told())[0], run.changes.met):
        event = event.model_copy(update={"t": clock.stamp(), "run_id": folder.run_id})
        if folder.tell(event) and watch is not None:
            watch(event)


@asynccontextmanager
async def calling(
    folder: RunFolder,
    context: ProtocolSettings,
    held: Sequence[Held] = (),
    budget: Budget | None = None,
) -> AsyncIterator[Run]:
    """A run that calls models and keeps a journal of it.

    Calls under way at the end are waited for, so that what is paid is kept. Where the run is
    cancelled they are given up after :data:`GRACE_S` seconds, or when it is cancelled again.
    """
    journal = folder.journal()
    run = Run(folder.run_id, context, journal, held, budget)
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
    overrides = record.contest.held if record.contest is not None else []
    requests = await stream(graph, dict(record.input), record, context, run, folder, watch, thread)
    while requests:
        assert run.journal is not None
        answers = await answer_requests(requests, run.journal, ask, overrides)
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
) -> dict[str, Mapping[str, str]]:
    """Walk ``graph`` and keep every event; what it asks a person for, by interrupt."""
    config: RunnableConfig = {
        "run_name": f"{record.method} {record.run_id}",
        "tags": ["dialectree", record.method],
        "metadata": {"run_id": record.run_id, "method": record.method},
        **(thread or {}),
    }

    def hear(told: Mapping[str, object]) -> None:
        event = Event.model_validate(told)
        folder.tell(event)
        if watch is not None:
            watch(event)

    run.hear = hear
    with _of_its_own():
        ended = await graph.ainvoke(todo, config, context=context, control=run, version="v2")
    return {stop.id: stop.value for stop in ended.interrupts}


@contextmanager
def _of_its_own() -> Iterator[None]:
    """A run inside a node of a host's graph keeps its own journal, and none of the host's threads.

    With the host's checkpointer a host that resumes would find the graph at its end, and nothing
    would be told to the run that it begins then. Whoever traces the host goes on tracing.
    """
    host = var_child_runnable_config.get() or {}
    kept: RunnableConfig = {}
    if "callbacks" in host:
        kept["callbacks"] = host["callbacks"]
    token = var_child_runnable_config.set(kept)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def complete(record: RunRecord, folder: RunFolder, ended: BaseException | None) -> None:
    """Fold what happened into the record, and say how it ended."""
    folder.tell_of(record, folder.told())
    record.ended = clock.stamp()
    record.status = _status(record, ended)
    record.notices = [] if ended is None else [_notice(ended)]


def _notice(ended: BaseException) -> str:
    if isinstance(ended, asyncio.CancelledError):
        return str(ended) or "interrupted"
    return str(ended) if isinstance(ended, DialectreeError) else one_line(repr(ended))


def _status(record: RunRecord, ended: BaseException | None) -> RunStatus:
    if ended is not None:
        return "partial"
    if record.verdict is None or record.verdict.answer is None:
        return "unresolved"
    nodes = record.tree.nodes.values()
    missing = any(
        node.status == "missing" and node.kind != "argument" and not node.dropped for node in nodes
    )
    return "degraded" if missing or record.degraded() else "answered"


def leave_reports(folder: RunFolder, record: RunRecord) -> None:
    """Leave report.md and report.html in the run's folder; RunFolderError where they do not fit."""
    from dialectree.report import html, markdown

    calls = folder.calls()
    folder.write("report.md", markdown(record, calls))
    folder.write("report.html", html(record, calls))
