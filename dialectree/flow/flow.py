"""Declare a debate as a graph: its steps, their speakers, and the rules between them.

A :class:`Flow` compiles to an ordinary LangGraph graph, also for drawings, servers and Studio.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import cached_property, partial, wraps
from itertools import pairwise
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite, Send

from dialectree.errors import Contradiction, Dropped, PartFailed
from dialectree.flow.grounding import (
    PartGraph,
    Queries,
    add_channels,
    checker,
    concluding,
    retrieving,
    take_step,
    with_sources,
)
from dialectree.flow.hosting import load_keeper
from dialectree.flow.state import Ruling
from dialectree.flow.steps import conclusion, end_unresolved, opening
from dialectree.models.reading import Mode
from dialectree.models.run import Run, run_of
from dialectree.protocols.forms import annotate_input
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.inside import root
from dialectree.protocols.protocol import Method, methods
from dialectree.protocols.settings import ProtocolSettings, host_run, settings
from dialectree.system.platform_internals import reset_omitted
from dialectree.trace.events import TRACING, tell

Graph = CompiledStateGraph[Any, Any, Any, Any]
Step = Callable[..., Awaitable[Any]]
"""A step of a graph: reads the state, asks at most once, returns an update."""
Rule = Callable[..., Any]
"""Reads the state, and the settings if it has that parameter; returns the next step or steps."""
Update = Mapping[str, object]
Station = str | tuple[str, ...]
"""A step; a tuple is several steps side by side."""

OPENING, UNRESOLVED, CONCLUSION = "opening", "unresolved", "conclusion"
FAILED: Update = {"failed": True}


class Flow:
    """The steps of one graph and the ways between them.

    ``state``, ``input`` and ``output`` are TypedDicts, ``settings`` is the class of the settings.
    A flow that returns a verdict (``output=Ruling``, the default) is a whole protocol: it begins
    with the step ``opening``, and every way to END leads through the step ``conclusion``. A flow
    with another output is a part of a protocol. ``opening`` replaces the usual first step, and
    ``unresolved`` names the step that ends the flow when a required role fails for good.
    """

    def __init__(
        self,
        state: type[Any],
        *,
        input: type[Any],
        output: type[Any] = Ruling,
        settings: type[ProtocolSettings] = ProtocolSettings,
        opening: Step = opening,
        unresolved: str = UNRESOLVED,
    ) -> None:
        self._settings, self._unresolved = settings, unresolved
        self._protocol, self._grounded = output is Ruling, issubclass(settings, GroundedSettings)
        if self._grounded:
            state = add_channels(state)
            input = with_sources(input) if self._protocol else add_channels(input)
            output = output if self._protocol else add_channels(output, sources=False)
        self._state, self._input = state, input
        self._builder: StateGraph[Any, Any, Any, Any] = StateGraph(
            state,
            context_schema=settings,
            input_schema=annotate_input(input, settings) if self._protocol else input,
            output_schema=output,
        )
        self._required: set[str] = set()
        self._parts: set[str] = set()
        """Steps that are graphs: they read only what is sent to them."""
        self._edges: list[tuple[Station, str]] = []
        self._rules: list[tuple[str, Rule, tuple[str, ...]]] = []
        if self._protocol:
            self._builder.add_node(OPENING, self._beginning(opening), input_schema=input)

    def step(
        self, name: str, node: Step | None = None, *, calls_itself: bool = False, evidence: Mode | None = None
    ) -> None:
        """Add a step; without a ``node`` it is only a place where ways meet.

        ``calls_itself`` marks, for the drawing, a step that calls this graph for each child.
        ``evidence`` is for a step that asks several judges: see :meth:`role`.
        """
        recursion = {"recursion": "this very graph, for each child"} if calls_itself else None
        self._builder.add_node(name, self._in_run(node or _meet, evidence), metadata=recursion)

    def evidence(self, name: str, queries: Queries | None = None) -> None:
        """Add a step that retrieves sentences of the user's sources, without a model.

        ``queries`` is pure: it takes the state, and the ``settings`` if it has that parameter, and
        returns texts to search for. The step also searches for what speakers asked for. Without
        ``queries`` the step provides the sentences behind the verdicts on the children. The settings of
        the flow have to derive from :class:`GroundedSettings`. A debate without sources skips it.
        """
        self._require_sources(f"evidence {name}")
        takes_settings = queries is not None and "settings" in inspect.signature(queries).parameters
        current: Any = self._current
        self.step(name, retrieving(name, queries, takes_settings, current))

    def check(self, name: str = "checker") -> None:
        """Add the checker: in one call, it says for each new point if its sentences support it.

        A debate without sources, or without points, skips it.
        """
        self._require_sources(f"check {name}")
        self.role(name, checker, evidence="checks")

    def _require_sources(self, step_label: str) -> None:
        if not self._grounded:
            raise TypeError(f"{step_label}: the settings of the flow must derive from GroundedSettings")

    def role(
        self,
        name: str,
        node: Step,
        *,
        required: bool = False,
        on_failure: Update | None = None,
        on_drop: Update | None = None,
        on_contradiction: Update | None = None,
        evidence: Mode = "hears",
        of: str = "",
    ) -> None:
        """Add a step that asks a model.

        When its call fails for good, the record says so, and the debate goes on with the update
        ``on_failure``. If the role is ``required``, the next way leads to the step that ends the
        flow unresolved. When a person dropped the reply, the update is ``on_drop``, by default
        ``on_failure``. When a ruling contradicts itself, the update is ``on_contradiction``.

        In a debate with sources, ``evidence`` says how the role uses them. A role that ``cites``
        reads the retrieved segments, and points at sentences for its reply, or for each item of its
        list ``of``. A role that reads only what was ``cited``, or the whole ``pool``, names the
        sentences behind its ruling. A role of any other kind reads only the points.

        Every other error ends the run, and a resumed run repeats the step (with LangGraph's
        ``error_handler`` it would not).
        """
        failed = {**(on_failure or {}), **(FAILED if required else {})}
        dropped = failed if on_drop is None else on_drop
        if required:
            self._required.add(name)

        @wraps(node)
        async def attempt(state: Any, runtime: Runtime[Any]) -> object:
            try:
                return await node(state, runtime)
            except Dropped:
                return dropped
            except PartFailed as error:
                data = {"role": error.role or name, "speaker": error.speaker, "fault": str(error)}
                tell(runtime, str(state.get("id", root())), "failed", data)
                if on_contradiction is not None and isinstance(error, Contradiction):
                    return on_contradiction
                return failed

        if evidence != "hears":
            self._require_sources(f"role {name}, evidence {evidence!r}")
        self._builder.add_node(name, self._in_run(attempt, evidence, of))

    def graph(
        self, name: str, graph: Graph, settings: Callable[[Any], ProtocolSettings | None] | None = None
    ) -> None:
        """Add another graph as a step; ``settings`` makes the settings of another protocol's graph."""

        async def call(state: Any) -> Any:
            context = None if settings is None else settings(self._current())
            return await graph.ainvoke(state, context=context)

        if settings is None and not self._protocol:
            self._builder.add_node(name, graph)
            self._parts.add(name)
        else:
            schema = graph.builder.input_schema
            self._builder.add_node(name, self._in_run(call), input_schema=schema)

    def _beginning(self, opening: Step) -> Step:
        """Return the first step, which begins a run where a host drives the graph.

        The step also clears the state that an earlier question left in the host's thread.
        """
        inputs, channels = get_type_hints(self._input), self._builder.schemas[self._state]

        async def open_in_run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
            update = await opening(state, self._with_settings(runtime))
            return {**(update or {}), "run": None, "run_id": run_of(runtime).run_id}

        async def open_host_run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
            graph_input = {name: state[name] for name in inputs if name in state}
            async with load_keeper().begin_run(self._of, graph_input, runtime, self._settings) as run:
                update = await opening(state, self._with_settings(runtime))
            sources = {"sources": [*run.sources]} if run.sources else {}
            return {**(update or {}), **sources, "run": run.build_thread_state(), "run_id": run.run_id}

        @wraps(opening)
        async def begin(state: Any, runtime: Runtime[Any]) -> dict[str, object]:
            open_debate = open_in_run if self._in_a_run(runtime) else open_host_run
            return {**_empty_channels(channels, inputs, await open_debate(state, runtime)), "record": None}

        return begin

    def _with_settings(self, runtime: Runtime[Any]) -> Runtime[Any]:
        """Return ``runtime`` with all settings of the run, even if the host passed only a few."""
        return runtime.override(context=settings(runtime, self._settings))

    def _in_run(self, step: Step, evidence: Mode | None = None, of: str = "") -> Step:
        """Return ``step``, made to take part in the current run of the host's thread.

        In a grounded flow, the step reads the debate's evidence as the mode ``evidence`` says, and adds its
        own evidence.
        """

        @wraps(inspect.unwrap(step))  # LangGraph looks there for graphs that it calls
        async def take_part(*args: Any, **injected: Any) -> Any:
            runtime = get_runtime()
            async with self._open_host_step(runtime):
                if "runtime" in injected:
                    injected["runtime"] = self._with_settings(injected["runtime"])
                if not self._grounded:
                    return await step(*args, **injected)
                context = cast("GroundedSettings", settings(runtime, self._settings))
                bound_step = partial(step, *args, **injected)
                return await take_step(bound_step, args[0], runtime, context, evidence, of)

        return take_part

    def _open_host_step(self, runtime: Runtime[Any]) -> AbstractAsyncContextManager[None]:
        """Return the context of a step, in which a host's run is active, resumed if need be."""
        if not self._protocol or self._in_a_run(runtime):
            return nullcontext()
        run = load_keeper().find_run(self._of, runtime, self._settings)
        return nullcontext() if run is None else run.step()

    def _in_a_run(self, runtime: Runtime[Any] | None) -> bool:
        """Return whether a run is active here, driven by us or by a host.

        If not, this step has to begin or resume the host's run.
        """
        return isinstance(getattr(runtime, "control", None), Run) or host_run.get() is not None

    @cached_property
    def _of(self) -> Method | None:
        """Return the installed method of this graph."""
        for method in methods().values():
            if any(getattr(graph, "builder", None) is self._builder for graph in method.list_loaded_graphs()):
                return method
        return None

    def then(self, *stations: Station) -> None:
        """Lead from each station to the next; a station waits for all steps of the station before it."""
        for before, after in pairwise(stations):
            for target in (after,) if isinstance(after, str) else after:
                self._edges.append((before, target))

    def route(self, source: str, rule: Rule, *sent_to: str) -> None:
        """Let ``rule`` decide where to go from ``source``.

        A rule is pure and total, so it cannot fail when a run is resumed. It takes the state and,
        if it has that parameter, the ``settings``. The drawing shows the names in the rule's return
        type (Literal), and the names in ``sent_to``, which are the targets of the rule's Sends.
        """
        self._rules.append((source, rule, sent_to))

    def fan(self, source: str, to: str, items: Callable[..., Sequence[Mapping[str, Any]]]) -> None:
        """Send each of ``items`` to the step ``to``, all at once.

        ``items`` has the parameters of a rule. Lead on from ``to`` with :meth:`then`: a rule at
        ``to`` would run once for each item.
        """

        def send(state: Any, settings: Any) -> list[Send]:
            takes_settings = "settings" in inspect.signature(items).parameters
            step_inputs = items(state, settings) if takes_settings else items(state)
            return [Send(to, item) for item in step_inputs]

        send.__name__ = getattr(items, "__name__", to)
        self.route(source, send, to)

    def compile(self, name: str) -> Graph:
        """Return the graph, called ``name`` in traces and drawings."""
        if self._protocol:
            self._add_ends()
        for before, target in self._edges:
            before, target = self._place(before), self._place(target)
            if before in self._guarded:
                self._add_rule(before, _always(target), [target])
            else:
                self._builder.add_edge(before if isinstance(before, str) else [*before], target)
        for source, rule, sent_to in self._rules:
            targets = [*_literals(get_type_hints(rule).get("return")), *sent_to]
            self._add_rule(self._place(source), rule, [*map(self._place, targets)])
        graph: Graph = self._builder.compile(name=name)
        if self._grounded and not self._protocol:
            graph.__class__ = PartGraph
        if self._protocol:
            reset_omitted(graph, get_type_hints(self._input))
            if (tracing := TRACING.find()) is not None:
                tracing.show_debate(graph)
        return graph

    def _add_ends(self) -> None:
        steps = self._builder.nodes
        if self._unresolved not in steps and self._required:
            self._builder.add_node(self._unresolved, end_unresolved)
            self._edges.append((self._unresolved, END))
        self._builder.add_node(CONCLUSION, self._in_run(concluding if self._grounded else conclusion))
        self._builder.add_edge(START, OPENING)
        self._builder.add_edge(CONCLUSION, END)

    def _place(self, target: Any) -> Any:
        """Return a step's name; the first and last steps of every protocol replace START and END."""
        ends = {START: OPENING, END: CONCLUSION} if self._protocol else {}
        return ends.get(target, target) if isinstance(target, str) else target

    @cached_property
    def _guarded(self) -> set[str]:
        """Return the steps after which the flow checks if a required role has failed.

        Steps side by side have the check in common, after the step in which they join.
        """
        joins = [(before, to) for before, to in self._edges if not isinstance(before, str)]
        alone = {b for b, _ in self._edges if isinstance(b, str)} | {s for s, *_ in self._rules}
        fed = {to for before, to in self._edges if before in self._required}
        fed |= {to for before, to in joins if self._required.intersection(before)}
        return (self._required & alone) | {to for _, to in joins if to in fed}

    def _add_rule(self, source: str, rule: Rule, targets: Sequence[str]) -> None:
        guard = source in self._guarded
        takes_settings = "settings" in inspect.signature(rule).parameters

        async def decide(state: Any) -> Any:
            # Async: LangGraph would run a plain function in a thread, which takes longer than the rule.
            if guard and state.get("failed"):
                return self._unresolved
            target = rule(state, self._current()) if takes_settings else rule(state)
            return self._with_sources(self._place(target), state)

        decide.__name__ = getattr(rule, "__name__", "rule")
        decide.__doc__ = rule.__doc__  # drawings show it
        decide.__annotations__ = {"state": self._state}
        ends = [*targets, self._unresolved] if guard else targets
        self._builder.add_conditional_edges(source, decide, [*dict.fromkeys(ends)])

    def _with_sources(self, target: Any, state: Any) -> Any:
        """Return ``target``; add the sources to what is sent to another graph."""
        if isinstance(target, list):
            return [self._with_sources(single_target, state) for single_target in target]
        down = {name: state[name] for name in ("sources", "evidence") if state.get(name)}
        if down and isinstance(target, Send) and target.node in self._parts:
            return Send(target.node, {**target.arg, **down})
        return target

    def _current(self) -> ProtocolSettings:
        """Return the settings of the run; the defaults while somebody edits the state of a part.

        A rule with a parameter ``runtime`` would make LangGraph's ``update_state`` fail.
        """
        runtime = get_runtime()
        if self._protocol and not self._in_a_run(runtime):
            return load_keeper().settings_of(runtime, self._settings)
        return self._settings() if runtime is None else settings(runtime, self._settings)


async def _meet(state: Any) -> None:
    """Do nothing: the step is only a place where ways meet."""


def _empty_channels(
    channels: Mapping[str, Any], inputs: Collection[str], update: Mapping[str, object]
) -> dict[str, object]:
    """Return ``update``, which then also empties all that an earlier question left in the thread."""
    emptied: dict[str, object] = {**update}
    for name, channel in channels.items():
        if isinstance(channel, BinaryOperatorAggregate):
            emptied[name] = Overwrite(emptied.get(name, channel.copy().get()))
        elif name not in inputs:
            emptied.setdefault(name, None)
    return emptied


def _always(target: str) -> Rule:
    def rule(state: object) -> str:
        return target

    rule.__name__ = f"then_{target}"
    return rule


def _literals(hint: object) -> list[str]:
    """Return the names in the ``Literal`` types of a return type, at any depth."""
    if get_origin(hint) is Literal:
        return [*get_args(hint)]
    return [name for part in get_args(hint) for name in _literals(part)]
