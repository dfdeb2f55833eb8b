"""Use internals of LangGraph for which it has no public names.

Checked with langgraph 1.2.22. ``tests/system/test_platform_internals.py`` fails if another version
behaves differently.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

_SERVERS = ("langgraph_api", "aegra_api")
"""Modules of the servers that run graphs for their clients."""


def on_a_server() -> bool:
    """Return whether a LangGraph server runs the graphs of this process for its clients."""
    return any(name in sys.modules for name in _SERVERS)


def graph_step() -> int:
    """Return the number of the graph's current step; 0 outside a graph."""
    from langchain_core.runnables.config import ensure_config

    return int(ensure_config().get("metadata", {}).get("langgraph_step", 0))


def read_state(name: str) -> Any:
    """Return the value ``name`` in the state of the current step's thread.

    A step sees only the fields of its input schema, and LangGraph's public functions read no other field.
    """
    from langgraph.config import get_config
    from langgraph.pregel._read import ChannelRead

    return ChannelRead.do_read(get_config(), select=name)


def reset_omitted(graph: CompiledStateGraph[Any, Any, Any, Any], inputs: Iterable[str]) -> None:
    """Make ``graph`` set ``inputs`` that a caller omits to None.

    LangGraph keeps omitted inputs from the thread's last question: a question without options would
    get the options of the question before it, even if that was refused.
    """
    from langgraph.graph import START

    def add_omitted_inputs(value: Any) -> Any:
        return {**dict.fromkeys(inputs), **value} if isinstance(value, Mapping) else value

    graph.nodes[START].mapper = add_omitted_inputs


def build_nested_config(name: str) -> RunnableConfig:
    """Return the configuration by which a checkpointer recognises a graph that this step calls.

    LangGraph numbers the graphs that one step calls in the order in which they begin. When the step
    runs again after an interrupt, that order may differ, and a graph would go on in the state of
    another. Here ``name`` replaces the number.
    """
    from langgraph.config import get_config

    configurable: dict[str, Any] = {**get_config().get("configurable", {})}
    if configurable.get("checkpoint_ns"):
        configurable["checkpoint_ns"] = f"{configurable['checkpoint_ns']}|{name}"
    if (scratchpad := configurable.get("__pregel_scratchpad")) is not None:
        configurable["__pregel_scratchpad"] = replace(scratchpad, subgraph_counter=lambda: 0)
    return {"configurable": configurable}
