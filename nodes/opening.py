"""The first step of a method without a tree: telling of the question, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from dialectree.context import ProtocolSettings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.nodes.answers import normal
from dialectree.state import Question, Unruled


class Afresh(Unruled):
    """What a question begins with, whatever a host's thread still holds of an earlier one."""

    failed: bool


def require_question(given: Mapping[str, Any], called: str = "question") -> None:
    """InputError where nothing is asked, whatever the question is ``called``."""
    text = given.get("question") or ""
    if not isinstance(text, str):
        raise InputError(f"the {called} is no text")
    if not normal(text):
        raise InputError(f"the {called} is empty")


async def opening(state: Question, runtime: Runtime[ProtocolSettings]) -> Afresh:
    """The question, which nobody splits."""
    require_question(state)
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "leaf"})
    return {"verdict": None, "failed": False}
