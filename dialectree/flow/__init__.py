"""Make graphs from steps and rules: ``Flow``, and what its steps share.

Names load on first use, so that importing ``dialectree.flow.steps`` does not import LangGraph's
graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialectree.flow.flow import Flow as Flow
    from dialectree.flow.flow import Graph as Graph
    from dialectree.flow.flow import Rule as Rule
    from dialectree.flow.flow import Step as Step

_NAMES = ("Flow", "Graph", "Rule", "Step")


def __getattr__(name: str) -> object:
    """Load ``Flow`` and its types on first use."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dialectree.flow import flow

    return getattr(flow, name)
