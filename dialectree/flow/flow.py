"""Declare a debate as a graph: its steps, who speaks in them, and the rules that lead on.

A :class:`Flow` compiles to an ordinary LangGraph graph. Drawings, servers and Studio see nothing
new.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin, get_type_hints

from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite, Send

from dialectree.errors import Contradiction, Dropped, PartFailed
from dialectree.flow.hosting import HostedRun, hosted
from dialectree.flow.state import Hosted, Ruling
from dialectree.flow.steps import conclusion, opening, unresolved
from dialectree.models.run import Run, run_of
from dialectree.protocols.forms import described
from dialectree.protocols.protocol import Method, methods
from dialectree.protocols.settings import ProtocolSettings, host_run, settings
from dialectree.system.platform_internals import reset_omitted
from dialectree.trace.events import tell
from dialectree.trace.tracing import DebateGraph, show

Graph = CompiledStateGraph[Any, Any, Any, Any]
Step = Callable[..., Awaitable[Any]]
"""A step of a graph: reads the state, asks at most once, returns an update."""
Rule = Callable[..., Any]
"""Reads the state, and the settings if it has that parameter; returns the next step or steps."""
Update = Mapping[str, object]
Station = str | tuple[str, ...]
"""A step, or several that run side by side."""

OPENING, UNRESOLVED, CONCLUSION = "opening", "unresolved", "conclusion"
FAILED: Update = {"failed": True}
SAME_GRAPH = {"recursion": "this very graph, for each child"}
"""Metadata that marks recursion in a drawing."""


class Flow:
    """The steps of one graph and the ways between them.

    ``state``, ``input`` and ``output`` are TypedDicts, ``settings`` is the class of the settings.
    A flow that returns a verdict (``output=Ruling``, the default) is a whole protocol: it begins
    with the step ``opening``, and every way to END leads through the step ``conclusion``. A flow
    with another output is a part of one.

    ``opening`` takes the place of the usual first step.

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
        self._state, self._input = state, input
        self._settings, self._unresolved = settings, unresolved
        self._builder: StateGraph[Any, Any, Any, Any] = StateGraph(
            state,
            context_schema=settings,
            input_schema=described(input, settings) if output is Ruling else input,
            output_schema=output,
        )
        self._required: set[str] = set()
        self._edges: list[tuple[Station, str]] = []
        self._rules: list[tuple[str, Rule, tuple[str, ...]]] = []
        self._protocol = output is Ruling
        if self._protocol:
            channels = self._builder.schemas[state]
            first = _afresh(self._set(opening), channels, get_type_hints(input))
            self._builder.add_node(OPENING, self._beginning(first), input_schema=input)

    def step(self, name: str, node: Step | None = None, *, calls_itself: bool = False) -> None:
        """Add a step; without a ``node`` it is only a place where ways meet.

        ``calls_itself`` marks one that calls this very graph for each child.
        """
        recursion = SAME_GRAPH if calls_itself else None
        self._builder.add_node(name, self._in_run(self._set(node or _meet)), metadata=recursion)

    def role(
        self,
        name: str,
        node: Step,
        *,
        required: bool = False,
        on_failure: Update | None = None,
        on_drop: Update | None = None,
        on_contradiction: Update | None = None,
    ) -> None:
        """Add a step that asks a model.

        When its call fails for good, the record says so, and the debate goes on with ``on_failure``
        in the state. Without a ``required`` role it cannot go on: the next way leads to the step
        that ends the flow unresolved. A reply that a person dropped leaves ``on_drop``, by default
        the same as a failure. ``on_contradiction`` is left by a ruling that contradicts itself.

        Only PartFailed is the failure of one part. Every other error ends the run. (LangGraph's
        ``error_handler`` would also keep the errors that end a run: when the run is resumed, the
        step would not be taken up again.)
        """
        failed = {**(on_failure or {}), **(FAILED if required else {})}
        dropped = failed if on_drop is None else on_drop
        if required:
            self._required.add(name)

        ask = self._set(node)

        @wraps(node)
        async def attempt(state: Any, runtime: Runtime[Any]) -> object:
            try:
                return await ask(state, runtime)
            except Dropped:
                return dropped
            except PartFailed as error:
                data = {"role": error.role or name, "speaker": error.speaker, "fault": str(error)}
                tell(runtime, str(state.get("id", "0")), "failed", data)
                if on_contradiction is not None and isinstance(error, Contradiction):
                    return on_contradiction
                return failed

        self._builder.add_node(name, self._in_run(attempt))

    def graph(
        self,
        name: str,
        graph: Graph,
        settings: Callable[[Any], ProtocolSettings | None] | None = None,
    ) -> None:
        """Add another graph as a step; ``settings`` makes those of another protocol's graph."""
        if settings is None and not self._protocol:
            self._builder.add_node(name, graph)
            return

        async def call(state: Any, runtime: Runtime[Any]) -> Any:
            context = None if settings is None else settings(self._current(runtime))
            return await graph.ainvoke(state, context=context)

        self._builder.add_node(name, self._in_run(call), input_schema=graph.builder.input_schema)

    def _set(self, node: Step) -> Step:
        """Return ``node``, which finds the whole settings of its run, whatever a host passed."""
        if "runtime" not in inspect.signature(node).parameters:
            return node

        @wraps(node)
        async def run(state: Any, runtime: Runtime[Any]) -> Any:
            context = settings(runtime, self._settings)
            return await node(state, runtime.override(context=context))

        return run

    def _beginning(self, opening: Step) -> Step:
        """Return the first step, which begins a run where a host drives the graph."""
        inputs = get_type_hints(self._input)

        @wraps(opening)
        async def begin(state: Any, runtime: Runtime[Any]) -> dict[str, object]:
            if self._in_a_run(runtime):
                update: dict[str, object] = await opening(state, runtime)
                return {**update, "run": None, "record": None, "run_id": run_of(runtime).run_id}
            given = {name: state[name] for name in inputs if name in state}
            async with hosted().begun(self._of, given, runtime, self._settings) as run:
                update = await opening(state, runtime)
            return {**update, "run": run.stored(), "record": None, "run_id": run.run_id}

        return begin

    def _in_run(self, step: Step) -> Step:
        """Return ``step``, which takes part in the run that the host's thread is in."""
        if not self._protocol:
            return step

        @wraps(inspect.unwrap(step))  # where LangGraph looks for graphs that it calls
        async def take_part(*args: Any, **injected: Any) -> Any:
            runtime, run = get_runtime(), None
            if not self._in_a_run(runtime):
                run = hosted().taken_up(self._of, runtime, self._settings)
            if run is None:
                return await step(*args, **injected)
            async with run.step():
                return await step(*args, **injected)

        return take_part

    def _in_a_run(self, runtime: Runtime[Any]) -> bool:
        """Tell whether the run is one of our own, or that of the protocol around this one."""
        return isinstance(runtime.control, Run) or host_run.get() is not None

    @cached_property
    def _of(self) -> Method | None:
        """The installed method whose graph this is."""
        return _method_of(self._builder)

    def then(self, *stations: Station) -> None:
        """Lead from each station to the next. Steps side by side are waited for together."""
        for before, after in pairwise(stations):
            for target in (after,) if isinstance(after, str) else after:
                self._edges.append((before, target))

    def route(self, source: str, rule: Rule, *sent_to: str) -> None:
        """Let ``rule`` decide where to go from ``source``.

        A rule is pure and total, so it cannot fail when a run is resumed. It takes the state and,
        if it has such a parameter, the ``settings``. The drawing shows the names in its return
        type (Literal), and those ``sent_to`` by Send.
        """
        self._rules.append((source, rule, sent_to))

    def fan(self, source: str, to: str, items: Callable[..., Sequence[Mapping[str, Any]]]) -> None:
        """Send each of ``items`` to the step ``to``, all at once.

        ``items`` takes what a rule takes. Lead on from ``to`` with :meth:`then`: a rule there would
        be asked once for each item.
        """
        takes_settings = _takes_settings(items)

        def send(state: Any, settings: Any) -> list[Send]:
            sent = items(state, settings) if takes_settings else items(state)
            return [Send(to, item) for item in sent]

        send.__name__ = getattr(items, "__name__", to)
        self.route(source, send, to)

    def compile(self, name: str) -> Graph:
        """Return the graph, called ``name`` in traces and drawings."""
        if self._protocol:
            self._add_ends()
        places = {START: OPENING, END: CONCLUSION} if self._protocol else {}
        guarded = self._guarded()
        for before, target in self._edges:
            target = places.get(target, target)
            if isinstance(before, str):
                before = places.get(before, before)
            if before in guarded:
                self._add_rule(before, _always(target), [target], guard=True)
            else:
                self._builder.add_edge(before if isinstance(before, str) else [*before], target)
        for source, rule, sent_to in self._rules:
            ways = [*_literals(get_type_hints(rule).get("return")), *sent_to]
            source = places.get(source, source)
            self._add_rule(source, rule, ways, guard=source in guarded, places=places)
        graph: Graph = self._builder.compile(name=name)
        if self._protocol:
            reset_omitted(graph, get_type_hints(self._input))
            show(graph, DebateGraph)
        return graph

    def _add_ends(self) -> None:
        steps = self._builder.nodes
        if self._unresolved not in steps and self._required:
            self._builder.add_node(self._unresolved, unresolved)
            self._edges.append((self._unresolved, END))
        self._builder.add_node(CONCLUSION, self._in_run(_concluded))
        self._builder.add_edge(START, OPENING)
        self._builder.add_edge(CONCLUSION, END)

    def _guarded(self) -> set[str]:
        """Return the steps after which it counts whether a required role has failed.

        Where several steps are waited for, it is the step that they join in.
        """
        joins = {to for before, to in self._edges if self._required.intersection(_parts(before))}
        alone = {b for b, _ in self._edges if isinstance(b, str)} | {s for s, *_ in self._rules}
        joined = {to for before, to in self._edges if not isinstance(before, str)}
        return (self._required & alone) | (joins & joined)

    def _add_rule(
        self,
        source: str,
        rule: Rule,
        ways: Sequence[str],
        *,
        guard: bool,
        places: Mapping[str, str] | None = None,
    ) -> None:
        takes_settings, places = _takes_settings(rule), places or {}
        ends = [places.get(way, way) for way in ways]

        async def decide(state: Any) -> Any:
            # LangGraph would send a plain function to a thread, which takes longer than the rule.
            if guard and state.get("failed"):
                return self._unresolved
            way = rule(state, self._current()) if takes_settings else rule(state)
            return places.get(way, way) if isinstance(way, str) else way

        decide.__name__ = getattr(rule, "__name__", "rule")
        decide.__doc__ = rule.__doc__  # the documents show it
        decide.__annotations__ = {"state": self._state}
        ends += [self._unresolved] if guard else []
        self._builder.add_conditional_edges(source, decide, [*dict.fromkeys(ends)])

    def _current(self, runtime: Runtime[Any] | None = None) -> ProtocolSettings:
        """Return the settings of the run; in a part of a graph that is edited, the defaults.

        A rule with a parameter ``runtime`` would make LangGraph's ``update_state`` fail.
        """
        runtime = runtime or get_runtime()
        if self._protocol:
            return hosted().settings_of(runtime, self._settings)
        return self._settings() if runtime is None else settings(runtime, self._settings)


async def _concluded(state: Hosted, runtime: Runtime[Any]) -> dict[str, Any]:
    """Tell of the verdict, and leave the record in the host's thread."""
    ruling, run = await conclusion(state, runtime), host_run.get()
    ended: dict[str, Any] = {}
    if state.get("run") and isinstance(run, HostedRun):
        ended = await run.finish()
    return {**ruling, **ended}


async def _meet(state: Any) -> None:
    """Change nothing."""


def _parts(station: Station) -> tuple[str, ...]:
    return (station,) if isinstance(station, str) else station


def _always(target: str) -> Rule:
    def rule(state: object) -> str:
        return target

    rule.__name__ = f"then_{target}"
    return rule


def _takes_settings(rule: Callable[..., object]) -> bool:
    return "settings" in inspect.signature(rule).parameters


def _literals(hint: object) -> list[str]:
    """Return the names in the ``Literal`` types of a return type, however deep they stand."""
    if get_origin(hint) is Literal:
        return [*get_args(hint)]
    return [name for part in get_args(hint) for name in _literals(part)]


def _afresh(node: Step, channels: Mapping[str, Any], given: Iterable[str]) -> Step:
    """Return ``node``, which also empties what an earlier question left in a host's thread."""

    @wraps(node)
    async def opening(state: Any, runtime: Runtime[Any]) -> dict[str, object]:
        update: dict[str, object] = await node(state, runtime) or {}
        for name, channel in channels.items():
            if isinstance(channel, BinaryOperatorAggregate):
                update[name] = Overwrite(update.get(name, channel.copy().get()))
            elif name not in given:
                update.setdefault(name, None)
        return update

    return opening


def _method_of(builder: StateGraph[Any, Any, Any, Any]) -> Method | None:
    """Return the installed method whose graph was built by ``builder``."""
    for one in methods().values():
        module, _, attribute = one.variant.graph.partition(":")
        graph = getattr(sys.modules.get(module), attribute, None)
        if graph is not None and graph.builder is builder:
            return one
    return None
