"""The law of every stopping rule: it says where to go, whatever the state, and changes nothing."""

from __future__ import annotations

from types import ModuleType
from typing import Any, get_type_hints

from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.strategies import SearchStrategy
from langgraph.types import Send


def check_rule(
    module: ModuleType, name: str, states: SearchStrategy[Any], contexts: SearchStrategy[Any]
) -> None:
    """Check the rule ``name`` of a graph's ``module`` with any state and any settings."""
    rule = getattr(module, name)
    steps = {*module.graph.get_graph().nodes, "__end__"}

    @seed(1)
    @hypothesis_settings(max_examples=60, deadline=None, database=None)
    @given(state=states, context=contexts)
    def check(state: dict[str, Any], context: Any) -> None:
        before = repr(state)
        arguments = (state, context) if "settings" in get_type_hints(rule) else (state,)
        chosen = rule(*arguments)
        assert repr(state) == before
        for way in chosen if isinstance(chosen, list) else [chosen]:
            assert (way.node if isinstance(way, Send) else way) in steps
        assert chosen == rule(*arguments)

    check()
