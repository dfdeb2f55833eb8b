"""The protocols and baselines by the names that commands and records use.

Importing this is cheap: a graph is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from dialectree.errors import InputError

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


class Method(NamedTuple):
    """One way of answering: a protocol, an ablation of it or a baseline of the same task."""

    name: str
    protocol: str
    module: str
    roles: tuple[str, ...]
    """The roles that may be given a model of their own."""

    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph."""
        graph: CompiledStateGraph[Any, Any, Any, Any] = import_module(self.module).graph
        return graph


METHODS = {
    method.name: method
    for method in (
        Method(
            "tsd",
            "tsd",
            "dialectree.graphs.tree_structured_debate",
            (
                "decomposer",
                "decomposition_judge",
                "complexity_evaluator",
                "leaf_debater",
                "leaf_judge",
                "synthesis_debater",
                "synthesis_judge",
                "answer_writer",
            ),
        ),
        Method("single_shot", "tsd", "dialectree.graphs.single_shot", ("answerer",)),
    )
}


def method(name: str, protocol: str | None = None) -> Method:
    """The method called ``name``; InputError with the names there are."""
    known = {n: m for n, m in METHODS.items() if protocol in (None, m.protocol)}
    if name not in known:
        raise InputError(f"--method {name}: there is no such method; known: {', '.join(known)}")
    return known[name]
