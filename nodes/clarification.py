"""The clarification: asks the person, where there is one, what a question leaves open."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import interrupt
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.events import tell
from dialectree.nodes.decomposer import Why


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
    answer = " ".join(str(interrupt(asked) or "").split())
    note = f"the person answered: {answer}" if answer else "the person gave no answer"
    told = {"note": note, "answer": answer}
    tell(runtime, state["id"], "clarified", told)
    if not answer:
        return {"attempt": state["attempt"] + 1}
    return {
        "question": f"{state['question']}\n(Clarified by the person who asks: {answer})",
        "attempt": state["attempt"] + 1,
        "stopped": None,
        "unclear": [],
    }
