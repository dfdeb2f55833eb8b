"""Telling what happens, as it happens: one schema for terminal, web page and progress elsewhere.

Our own runs hear events at once; a host gets them on LangGraph's custom stream. Whoever drives the
graph keeps them or not; a node does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from dialectree import clock
from dialectree.records import EventKind


def tell(runtime: Runtime[Any], node: str, kind: EventKind, data: Mapping[str, object]) -> None:
    """Tell of one event at ``node`` of the tree; ``records.Event`` is its schema."""
    event = {"t": clock.stamp(), "run_id": _run_id(runtime), "node": node, "kind": kind}
    hear = getattr(runtime.control, "hear", None) or runtime.stream_writer
    hear({**event, "data": dict(data)})


def _run_id(runtime: Runtime[Any]) -> str:
    """The id of our own run; of a host's run, the one that LangGraph knows it by."""
    own = getattr(runtime.control, "run_id", None)
    if isinstance(own, str):
        return own
    info = runtime.execution_info
    return (info.run_id or info.thread_id or "") if info else ""
