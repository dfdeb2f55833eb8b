"""The law of every stopping rule: it says where to go, whatever the state, and changes nothing."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.strategies import SearchStrategy

from dialectree import testing


def check_rule(
    module: ModuleType, name: str, states: SearchStrategy[Any], contexts: SearchStrategy[Any]
) -> None:
    """Check the rule ``name`` of a graph's ``module`` with any state and any settings."""
    rule = getattr(module, name)

    @seed(1)
    @hypothesis_settings(max_examples=60, deadline=None, database=None)
    @given(state=states, context=contexts)
    def check(state: dict[str, Any], context: Any) -> None:
        testing.check_rule(module.graph, rule, state, context)

    check()
