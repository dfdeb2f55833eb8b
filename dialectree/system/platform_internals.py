"""Touch the inside of LangGraph, by names that its public face has no word for.

Seen with langgraph 1.2.22. ``tests/system/test_platform_internals.py`` fails when another version
behaves otherwise.
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
    """Tell whether a LangGraph server runs the graphs of this process for its clients."""
    return any(name in sys.modules for name in _SERVERS)


def graph_step() -> int:
    """Return the number of the step of the graph that is under way; 0 outside of a graph."""
    from langchain_core.runnables.config import ensure_config

    return int(ensure_config().get("metadata", {}).get("langgraph_step", 0))


def read_state(name: str) -> Any:
    """Return the value ``name`` of the state of the thread that the current step belongs to.

    A step sees only what its input schema names. Public names read nothing beside it.
    """
    from langgraph.config import get_config
    from langgraph.pregel._read import ChannelRead

    return ChannelRead.do_read(get_config(), select=name)


def reset_omitted(graph: CompiledStateGraph[Any, Any, Any, Any], inputs: Iterable[str]) -> None:
    """Let ``graph`` set the ``inputs`` that a caller omits to None.

    LangGraph keeps in a thread what an input leaves out: a question without options would be
    answered with those of the question before it, even if that one was refused.
    """
    from langgraph.graph import START

    def add_omitted_inputs(value: Any) -> Any:
        return {**dict.fromkeys(inputs), **value} if isinstance(value, Mapping) else value

    graph.nodes[START].mapper = add_omitted_inputs


def build_nested_config(name: str) -> RunnableConfig:
    """Return the configuration by which a checkpointer knows a graph that this step calls.

    LangGraph numbers the graphs that one step calls in the order in which they begin. When the step
    runs again after an interrupt, that order may be another one, and each graph would go on in the
    state of another. Here ``name`` stands in the place of the number.
    """
    from langgraph.config import get_config

    configurable: dict[str, Any] = {**get_config().get("configurable", {})}
    if configurable.get("checkpoint_ns"):
        configurable["checkpoint_ns"] = f"{configurable['checkpoint_ns']}|{name}"
    if (scratchpad := configurable.get("__pregel_scratchpad")) is not None:
        configurable["__pregel_scratchpad"] = replace(scratchpad, subgraph_counter=lambda: 0)
    return {"configurable": configurable}
