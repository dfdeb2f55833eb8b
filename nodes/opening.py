"""The first step of a method without a tree: telling of the question."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.context import Context
from dialectree.events import tell
from dialectree.state import Question


async def opening(state: Question, runtime: Runtime[Context]) -> None:
    """The question, which nobody splits."""
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "leaf"})
