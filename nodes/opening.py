"""The first step of a method without a tree: telling of the question."""

from __future__ import annotations

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.events import tell
from dialectree.state import Question


class Afresh(TypedDict):
    """What a question begins with, whatever a host's thread still holds of an earlier one."""

    failed: bool


async def opening(state: Question, runtime: Runtime[Context]) -> Afresh:
    """The question, which nobody splits."""
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "leaf"})
    return {"failed": False}
