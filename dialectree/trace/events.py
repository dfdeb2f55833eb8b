"""Telling what happens, as it happens: one schema for terminal, web page and progress elsewhere.

Every run hears its events at once. A host gets them on LangGraph's custom stream, too. Whoever
drives the graph keeps them or not; a node does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from dialectree.protocols.settings import host_run
from dialectree.records import EventKind
from dialectree.system import clock
from dialectree.trace import tracing


def tell(
    runtime: Runtime[Any],
    node: str,
    kind: EventKind,
    data: Mapping[str, object],
    *,
    took_s: float = 0.0,
) -> None:
    """Tell of one event at ``node`` of the tree; ``records.Event`` is its schema.

    ``took_s`` is how long it took, for a trace.
    """
    own = getattr(runtime.control, "run_id", None) is not None
    run = runtime.control if own else host_run.get()
    name = getattr(run, "run_id", "")
    event = {"t": clock.stamp(), "run_id": name, "node": node, "kind": kind, "data": dict(data)}
    hear = getattr(run, "hear", None)
    if hear is not None:
        hear(event)
    if hear is None or not own:
        runtime.stream_writer(event)
    if (tracer := tracing.tracer()) is not None:
        tracer.hear(event, took_s)
