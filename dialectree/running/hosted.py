"""Keep the runs that a host drives: a LangGraph server, an agent, a graph of somebody's own.

The first step of a protocol's graph begins such a run and writes its id and its settings into the
thread's state. Later steps resume the run from there, in this process or in another one. On a
server, or if a folder of runs is named, the run has an ordinary folder.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, cast

from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.runtime import RunControl, Runtime
from langgraph.types import StreamWriter
from pydantic import JsonValue

from dialectree.errors import Halted, InputError, SettingsError
from dialectree.flow.human_input import is_request, payload_of
from dialectree.models.run import shared_budget
from dialectree.protocols.grounded import find_reader, has_retriever
from dialectree.protocols.protocol import Method, follow_routes
from dialectree.protocols.settings import (
    EMBEDDED,
    Own,
    ProtocolSettings,
    accept_settings,
    find_changes,
    find_ignored,
    host_run,
    of_the_run,
    read_settings,
    settings,
)
from dialectree.protocols.sources import runs_folder
from dialectree.records import Event, RunRecord
from dialectree.records.folder import SOURCES, RunFolder, Unkept, new_id
from dialectree.running.held_run import GRACE_S, HeldRun, create_folder
from dialectree.running.plug_points import DOCUMENTS, keep_sources, locate_sources
from dialectree.running.recorded_settings import (
    BUDGETS,
    calibration,
    list_role_models,
    make_placeholder_models,
    restrict_to_called_roles,
    speakers,
)
from dialectree.running.runner import new_record
from dialectree.system import clock
from dialectree.system.loop import finish_in_thread
from dialectree.system.platform_internals import on_a_server, read_state
from dialectree.text import line

IDLE_S = 2.0
"""Seconds without a step after which the folder is released: the host may have stopped."""
WAIT_S = 10.0
"""Seconds that a run waits for another process to release its folder."""
_RESTING = 256
NO_MODEL = (
    "no model is named: put `model` (such as openai:NAME) into the context of the run or of its "
    "assistant, or DIALECTREE_MODEL into the server's environment (local:smollm2 there chooses "
    "the embedded model, whose answers are no better than chance)"
)

_RUN_ID = re.compile(r"[\w-]+")
_nowhere = Path()
_folder: ContextVar[Path | None] = ContextVar("folder", default=None)
_active: dict[str, HostedRun] = {}
_resting: OrderedDict[str, HostedRun] = OrderedDict()
"""Runs without a folder that a host may continue, the latest last."""


@contextmanager
def keeping(runs: str | Path | None) -> Iterator[None]:
    """Inside the block, keep new runs of graphs in the folder ``runs``; None: in no folder."""
    token = _folder.set(_nowhere if runs is None else Path(runs))
    try:
        yield
    finally:
        _folder.reset(token)


def _runs() -> Path | None:
    """Return the folder that keeps a host's runs, or None."""
    folder = _folder.get()
    if folder is None:
        folder = runs_folder() or (Path("runs") if on_a_server() else None)
    return None if folder is _nowhere else folder


class Host(NamedTuple):
    """What the host of a run passed to the graph."""

    control: RunControl | None
    context: object
    """The context, as the host passed it."""
    write: StreamWriter
    """Writes to the host's stream."""


class StepCounter:
    """Count the active steps of a run, and notice when none has begun for a while."""

    def __init__(self) -> None:
        self._active = 0
        self.stopped = False
        """True once a step stopped the host's graph, for a person or for good."""
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Count a step that begins."""
        self._active += 1
        if self._timer is not None:
            self._timer.cancel()

    def end(self) -> bool:
        """Count a step that ends; return whether no other step is active."""
        self._active -= 1
        return not self._active

    def call_when_idle(self, leave: Callable[[], None]) -> None:
        """Call ``leave`` if no step begins within :data:`IDLE_S` seconds."""
        self._timer = asyncio.get_running_loop().call_later(IDLE_S, leave)


class HostedRun(HeldRun):
    """A run that a host drives; see :func:`begin_run` and :func:`find_run`.

    Its files are open while steps follow one another. When the host stops, for a person or for
    good, they are closed, so that another process can go on.
    """

    def __init__(
        self,
        key: str,
        context: ProtocolSettings,
        runtime: Runtime[Any],
        method: Method | None,
        record: RunRecord | None = None,
        keeper: RunFolder | Unkept | None = None,
    ) -> None:
        self.host = Host(runtime.control, runtime.context, runtime.stream_writer)
        shares = self.host.context if isinstance(self.host.context, type(context)) else context
        budget = shared_budget(self.host.control, shares)
        super().__init__(key, context, record, keeper, budget=budget)
        self.own_budget = True
        self.key, self.method = key, method
        """The run's id in the thread's state, and the method of its graph."""
        self.ignored = find_ignored(self.host.context, type(context))
        """The names of settings in the host's context that only other protocols have."""
        if method is not None and isinstance(keeper, Unkept):
            self.log = keeper.append
        self.sources: Sequence[Any] = ()
        """The sources as the graph takes them."""
        self.owner = None if record is None else record.owner
        """The client of a server who owns the run."""
        self._opening = asyncio.Lock()
        self._steps = StepCounter()
        self._asked: set[str] = set()
        self._failure: BaseException | None = None
        self._leaving: asyncio.Task[None] | None = None
        _active[key] = self

    def tell(self, event: Event) -> None:
        """Keep an event of the whole run, and send it to the host's stream."""
        if self.keeper is not None:
            self.keeper.tell(event)
            self.show(event)

    def show(self, event: Event) -> None:
        """Send an event of the whole run to the host's stream."""
        self.host.write(event.model_dump(mode="json"))

    def build_thread_state(self) -> dict[str, Any]:
        """Return the run's fields in the thread's state."""
        recorded = self.record.settings if self.record is not None else {}
        return {"id": self.run_id, "settings": recorded, "ignored": self.ignored}

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this run and its settings current inside the block."""
        tokens = host_run.set(self), of_the_run.set((self.host.context, self.context))
        try:
            yield
        finally:
            host_run.reset(tokens[0])
            of_the_run.reset(tokens[1])

    @asynccontextmanager
    async def step(self) -> AsyncIterator[None]:
        """Enclose one step of the run; steps may run side by side."""
        self._steps.begin()
        try:
            async with self._opening:
                if self.keeper is None:
                    await finish_in_thread(self._find)
            self.show_untold()
            with self.current():
                yield
        except GraphBubbleUp as stop:
            self._steps.stopped = True
            self._tell_requests(stop)
            raise
        except (Exception, asyncio.CancelledError) as error:
            await self._give_up(error)  # at once: LangGraph does not wait for steps side by side
            if isinstance(error, Halted) and isinstance(self._failure, Exception):
                raise self._failure from None  # the reason why this step was halted
            raise
        finally:
            if self._steps.end() and _active.get(self.key) is self:
                await self.rest()

    def _tell_requests(self, stop: GraphBubbleUp) -> None:
        """Record each request to a person once."""
        for request in stop.args[0] if isinstance(stop, GraphInterrupt) else ():
            value: object = request.value
            if self.record is None or request.id in self._asked or not is_request(value):
                continue
            self._asked.add(request.id)  # the stop of an inner debate also passes the outer one
            self.tell_who_is_asked(payload_of(value))

    async def rest(self) -> None:
        """Release the files, because no step is active: at once if the host stopped, else a little later."""
        if self._steps.stopped:
            await self._leave(None)
        else:
            self._steps.call_when_idle(self._wait_no_longer)

    async def _give_up(self, error: BaseException) -> None:
        """Complete the record of a failed or cancelled run, even if it is cancelled again."""
        if _active.get(self.key) is self:
            del _active[self.key]
            self._failure = error
            self._leaving = asyncio.ensure_future(self._leave(error))
        if self._leaving is None:
            return
        try:
            await asyncio.shield(self._leaving)
        except asyncio.CancelledError:
            await asyncio.wait([self._leaving], timeout=GRACE_S)
            raise

    def _wait_no_longer(self) -> None:
        self._leaving = asyncio.ensure_future(self._leave(None))

    async def finish(self) -> dict[str, Any]:
        """Complete the record; return the run's final fields in the thread's state."""
        await self._leave(None, finished=True)
        record = None
        if self.record is not None:
            record = await asyncio.to_thread(self.record.model_dump, mode="json")
        return {"run": self.build_thread_state(), "run_id": self.run_id, "record": record}

    async def _leave(self, failure: BaseException | None, *, finished: bool = False) -> None:
        """Close the files, and complete the record if the run ended."""
        if _active.get(self.key) is self:
            del _active[self.key]
        if isinstance(self.keeper, Unkept):
            _resting[self.key] = self
            _resting.move_to_end(self.key)
            if len(_resting) > _RESTING:
                _resting.popitem(last=False)
        ended = await self.leave(failure, finished=finished)
        if ended is not None and ended is not failure:
            raise ended

    # The methods below wait for files, so they run in a thread.

    def _find(self) -> None:
        """Find the earlier files of the run, and go on in them."""
        runs = _runs()
        folder = None if runs is None else _folder_of(runs, self.key, self.owner)
        if folder is None:
            self.keeper = Unkept()  # earlier events and the record are lost
            if self.method is not None:
                self.log = self.keeper.append
                self.models = list_role_models(speakers(self.method, self.context), {})
                self.calibration = calibration(self.method, self.context, self.models)
            return
        self.open(folder, WAIT_S)
        record = folder.record()
        if record.status not in ("running", "partial"):
            self.close_files()
            folder = self._fork(folder, record)
            self.open(folder, WAIT_S)
            record = folder.record()
        folder.resume_events()
        if self.method is not None:
            self.method = self.method.on(record.input)
            models = restrict_to_called_roles(record.models, folder.ledger())
            record.models = list_role_models(speakers(self.method, self.context), models)
        usage, before = record.usage, folder.read_stored_record().usage
        usage.wall_s = max(usage.wall_s, before.wall_s)
        usage.embedding_s = max(usage.embedding_s, before.embedding_s)
        self.take_up(folder, record)
        self.calibration, self.models = record.calibration, record.models
        self.run_id, self.record, self.keeper = record.run_id, record, folder

    def _fork(self, folder: RunFolder, record: RunRecord) -> RunFolder:
        """Return the folder of a new run that continues from a step of a finished run."""
        new = RunFolder.create(folder.path.parent)
        update = {"run_id": new.run_id, "status": "running", "started": clock.stamp()}
        events = [event.model_copy(update={"run_id": new.run_id}) for event in folder.events()]
        new.copy_texts(folder)
        keep_sources(locate_sources(record.sources, folder.path / SOURCES), new)
        new.write_whole(record.model_copy(update=update), events, folder.ledger())
        return new

    def create(self, runs: Path) -> None:
        """Create the folder of the run."""
        assert self.record is not None
        client = self.owner if self.record.sources else None
        client_folders = [DOCUMENTS.require().locate_sent(client, runs)] if client else []
        folder = create_folder(self.record, runs, *client_folders)
        self.open(folder, WAIT_S)
        folder.sync()
        self.keeper = folder

    def discard(self) -> None:
        """Delete the folder of the run."""
        self.close_files()
        if isinstance(self.keeper, RunFolder):
            self.keeper.remove()

    def require_readable(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Raise InputError for another client's document: a client may write any digest into its input."""
        if self.owner and sources:
            runs = _runs() or _nowhere
            DOCUMENTS.require().require_own(self.owner, [*sources], runs, self.sources_at)

    def find_notices(self, *, finished: bool) -> list[str]:
        """Return the notices for the record, first a line on each of the host's settings without effect."""
        lacks = f"{self.record.method if self.record else ''} has no such setting, so it changes nothing"
        ignored = (f"{name}: {lacks}" for name in sorted({*self.ignored}))
        return [*ignored, *super().find_notices(finished=finished)]


@asynccontextmanager
async def begin_run(
    method: Method | None,
    graph_input: Mapping[str, JsonValue],
    runtime: Runtime[Any],
    kind: type[ProtocolSettings],
) -> AsyncIterator[HostedRun]:
    """Begin a run of ``method`` with the input ``graph_input`` of its graph.

    The run's folder exists before the run's id is published. A run with refused input leaves no folder.
    """
    context = settings(runtime, kind)
    if graph_input.get("sources"):
        owner = _owner(runtime)
        graph_input = {
            **graph_input,
            "sources": await asyncio.to_thread(
                _read_host_sources, method, graph_input["sources"], owner, context
            ),
        }
    elif has_retriever(context) and (method is None or method.grounded):
        graph_input = {**graph_input, "sources": []}
    else:
        graph_input = {name: entry for name, entry in graph_input.items() if name != "sources"}
    run = await asyncio.to_thread(_new, method, graph_input, context, runtime)
    run.sources = cast("list[Any]", graph_input.get("sources") or [])
    runs = _runs() if run.record is not None else None
    try:
        if runs is not None:
            await finish_in_thread(run.create, runs)
        if run.record is not None:
            run.tell_beginning()
        with run.current():
            yield run
    except BaseException as error:
        del _active[run.key]
        if run.record is not None:
            run.record.status, run.record.notices = "partial", [line(str(error), 300)]
            run.tell_end(run.record, run.keeper or Unkept())
            run.show_untold()
        await asyncio.to_thread(run.discard)
        raise
    await run.rest()


def _read_host_sources(
    method: Method | None, sources: Any, owner: str | None, context: ProtocolSettings
) -> list[JsonValue]:
    """Return the sources that a host gives to a graph; a server reads no files that a client names."""
    if method is not None:
        method.require_grounded()
    reader, documents = find_reader(context), DOCUMENTS.require()
    if not on_a_server():
        return documents.read_given(sources, reader=reader)
    source_list = sources if isinstance(sources, list) else [sources]
    if not all(isinstance(source, dict) for source in source_list):
        raise InputError("sources: attach the files; a name or a path is not read here")
    if owner:
        documents.require_own(owner, source_list, _runs() or _nowhere)
    client_sources = [{name: source[name] for name in source if name != "path"} for source in source_list]
    return documents.read_given(client_sources, reader=reader)


def _new(
    method: Method | None,
    graph_input: Mapping[str, JsonValue],
    context: ProtocolSettings,
    runtime: Runtime[Any],
) -> HostedRun:
    context = follow_routes(context)
    if on_a_server():
        _require_model(method, context)
    name, record = new_id(), None
    if method is not None:
        method = method.on(graph_input)
        record = new_record(method, graph_input, context)
        record.run_id, record.owner = name, _owner(runtime)
        about = runtime.execution_info
        record.thread = None if about is None else about.thread_id
    return HostedRun(name, context, runtime, method, record, Unkept())


def _owner(runtime: Runtime[Any]) -> str | None:
    """Return the name of the client for whom a server drives the graph; None without one."""
    user = runtime.server_info.user if runtime.server_info is not None else None
    return None if user is None else str(user.identity)


def _folder_of(runs: Path, key: str, owner: str | None) -> RunFolder | None:
    """Return the folder of the run ``key`` if it belongs to ``owner``.

    A client may write anything into its thread's state: a path, or another client's run.
    """
    folder = RunFolder(runs / key)
    if not _RUN_ID.fullmatch(key) or not folder.exists():
        return None
    return folder if folder.record().owner == owner else None


def _require_model(method: Method | None, context: ProtocolSettings) -> None:
    """Raise SettingsError if the embedded model would speak without being chosen."""
    models = {"": context.model} if method is None else method.models(context)
    if "model" not in context.model_fields_set and EMBEDDED in models.values():
        raise SettingsError(NO_MODEL)


def find_run(method: Method | None, runtime: Runtime[Any], kind: type[ProtocolSettings]) -> HostedRun | None:
    """Return the run that the thread's state names, or None."""
    stored = read_state("run")
    if not stored:
        return None
    key = stored["id"]
    run = _active.get(key)
    if run is not None and run.host.control is runtime.control and run.halted is None:
        return run
    context = _resume_settings(runtime, kind, stored)
    owner = _owner(runtime)
    if key not in _resting or _resting[key].owner != owner:
        run = HostedRun(key, context, runtime, method)
        run.owner = owner
    else:
        earlier = _resting.pop(key)
        run = HostedRun(key, context, runtime, method, earlier.record, earlier.keeper)
    run.ignored += stored.get("ignored", [])
    return run


def _resume_settings(runtime: Runtime[Any], kind: type[Own], stored: Mapping[str, Any]) -> Own:
    """Return the settings of the run in a thread's state, with the changes that the host names now.

    The earlier budgets of the run do not carry over.
    """
    recorded = {name: value for name, value in stored["settings"].items() if name not in BUDGETS}
    changes = find_changes(runtime.context, kind)
    if changes is None:
        return settings(runtime, kind)
    if on_a_server():  # a client may write what it wants into the state of its thread
        return accept_settings(kind, changes, recorded)
    return read_settings(kind, recorded, f"run {stored['id']}", changes)


def settings_of(runtime: Runtime[Any] | None, kind: type[Own]) -> Own:
    """Return the run's settings, for a rule of the graph.

    While somebody edits a thread's state, the rule has no ``runtime`` and calls no model.
    """
    stored = read_state("run")
    if not stored:
        return kind() if runtime is None else settings(runtime, kind)
    run = _active.get(stored["id"])
    if run is not None and isinstance(run.context, kind):
        return run.context
    if runtime is not None:
        return _resume_settings(runtime, kind, stored)
    recorded = {**stored["settings"], **make_placeholder_models(kind, stored["settings"])}
    return read_settings(kind, recorded, f"run {stored['id']}")
