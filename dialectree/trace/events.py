"""Report the progress of a run in events.

Every run receives its events at once. A host gets them on LangGraph's custom stream, too. A node
does not know whether the program that runs the graph stores the events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from dialectree.protocols.inside import Inside, inside
from dialectree.protocols.settings import host_run
from dialectree.records import Call, EventKind
from dialectree.system import clock
from dialectree.system.parts import PlugPoint

Delay = Literal["rate_limit", "retry"]
"""The reason of a pause: the endpoint asks for it, or an attempt failed."""
Why = Literal["queued", "starting", "asked"] | Delay
"""The state of a call without a reply. ``queued``: it waits for a slot. ``starting``: it waits until a
model's server on this machine has started. ``asked``: it was sent. A ``Delay``: it pauses."""
Pause = Callable[[float, Delay, str, int], Awaitable[None]]
"""Pauses a call. Takes the seconds, the reason, the fault and the number of the next attempt. Raises
the error, if one ends the run during the pause."""


class Tracer(Protocol):
    """The tracer of one debate."""

    def hear(self, event: Mapping[str, Any], took_s: float) -> None:
        """Show the news of ``event`` at its node of the tree."""
        ...

    def replay(
        self,
        config: RunnableConfig,
        metadata: Mapping[str, Any],
        messages: Sequence[tuple[str, str]],
        parameters: Mapping[str, Any],
        call: Call,
    ) -> None:
        """Show a reply from the journal, the cache or a person."""
        ...


class Tracing(Protocol):
    """The part that shows debates in traces."""

    def show_debate(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        """Let traces show the graph of a whole protocol as a debate."""
        ...

    def tracer(self) -> Tracer | None:
        """Return the tracer of the debate in which this code runs, if it is traced."""
        ...


TRACING: PlugPoint[Tracing] = PlugPoint("tracing", "a trace of a debate")


def find_tracer() -> Tracer | None:
    """Return the tracer of the debate in which this code runs, if it is traced."""
    tracing = TRACING.find()
    return None if tracing is None else tracing.tracer()


def build_opening_data(node: str, data: Mapping[str, object], here: Inside) -> dict[str, object]:
    """Return the data of an event that opens ``node``, with facts from its id and its debate."""
    text = data["text"]
    if node == here.node and here.text is not None:
        text = here.text
    above = node.rpartition(".")[0]
    place = {"text": text, "depth": node.count("."), **({"parent": above} if above else {})}
    inner: dict[str, object] = {"protocol": here.protocols[-1]} if here.protocols else {}
    if inner and node == here.node:
        inner |= {"part": True} if above else {}
        inner |= {"data": {"options": [*here.options]}} if here.options else {}
    return {**place, **data, **place, **inner}


def tell(
    runtime: Runtime[Any], node: str, kind: EventKind, data: Mapping[str, object], *, took_s: float = 0.0
) -> None:
    """Report one event at ``node`` of the tree; ``records.Event`` is its schema.

    Raise ValueError for a node outside the debate. The event of an opened node gets the node's depth
    and parent, too. In a debate inside another one, it also gets the protocol of the inner debate.

    Args:
        took_s: duration in seconds, for a trace.
    """
    here = inside.get()
    if not here.holds(node):
        raise ValueError(f"an event at node {node}, which lies outside the debate at {here.node}")
    if kind == "opened":
        data = build_opening_data(node, data, here)
    control_is_run = getattr(runtime.control, "run_id", None) is not None
    run = runtime.control if control_is_run else host_run.get()
    name = getattr(run, "run_id", "")
    event = {"t": clock.stamp(), "run_id": name, "node": node, "kind": kind, "data": dict(data)}
    hear = getattr(run, "hear", None)
    if hear is None:
        runtime.stream_writer(event)
    elif (number := hear(event)) and not control_is_run:
        runtime.stream_writer({"n": number, **event})
    if (tracer := find_tracer()) is not None:
        tracer.hear(event, took_s)
