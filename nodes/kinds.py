"""The kinds of node functions."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar

from langgraph.runtime import Runtime

State = TypeVar("State", contravariant=True)
Update = TypeVar("Update", covariant=True)


class Node(Protocol[State, Update]):
    """A step of a graph: reads the state, asks once, returns an update."""

    def __call__(self, state: State, runtime: Runtime[Any]) -> Awaitable[Update]: ...


SAME_GRAPH = {"recursion": "this very graph, for each child"}
"""Metadata that marks recursion in a drawing."""
