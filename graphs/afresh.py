"""How a question begins in a host's thread, where another one may have been asked before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph

Graph = TypeVar("Graph", bound=CompiledStateGraph[Any, Any, Any, Any])


def afresh(graph: Graph) -> Graph:
    """``graph``, to which what is not given with a question is not given.

    LangGraph keeps in a thread what an input leaves out: a question without options would be
    answered with those of the question before it, even if that one was refused.
    """
    parts = [*get_type_hints(graph.builder.input_schema)]

    def whole(given: Any) -> Any:
        return {**dict.fromkeys(parts), **given} if isinstance(given, Mapping) else given

    graph.nodes[START].mapper = whole
    return graph
