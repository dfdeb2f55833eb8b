"""The clarification: asks the person, where there is one, what a question leaves open."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import JsonValue
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.events import tell
from dialectree.nodes.tree_structured_debate.decomposer import Why
from dialectree.nodes.tree_structured_debate.sides import CLARIFIED


class Unclear(TypedDict):
    """What the person is asked about."""

    id: str
    question: str
    unclear: list[str]
    attempt: int


class Clarified(TypedDict, total=False):
    """What the person's answer changes."""

    question: str
    attempt: int
    stopped: Why | None
    unclear: list[str]


async def clarification(state: Unclear, runtime: Runtime[Context]) -> Clarified:
    """Interrupts the run with the request; goes on with the answer. An empty one changes nothing.

    Nothing else happens here: the step runs again from its start when the answer comes.
    """
    request = " ".join(state["unclear"])
    asked = {
        "node": state["id"],
        "kind": "clarification",
        "question": state["question"],
        "request": request,
    }
    answer = _line(interrupt(asked))
    tell(runtime, state["id"], "clarified", answered_by_person(answer))
    if not answer:
        return {"attempt": state["attempt"] + 1}
    return {
        "question": f"{state['question']}{CLARIFIED}{answer})",
        "attempt": state["attempt"] + 1,
        "stopped": None,
        "unclear": [],
    }


def answered_by_person(answer: object) -> dict[str, JsonValue]:
    """What is told of a person's answer to a request."""
    text = _line(answer)
    note = f"the person answered: {text}" if text else "the person gave no answer"
    return {"note": note, "answer": text}


def _line(answer: object) -> str:
    return " ".join(str(answer or "").split())
