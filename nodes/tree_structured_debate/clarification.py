"""The clarification: asks the person, where there is one, about the gaps of a question."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import JsonValue

from dialectree.events import tell
from dialectree.nodes.tree_structured_debate.sides import CLARIFIED
from dialectree.nodes.tree_structured_debate.state import Settings, Subtree


async def clarification(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Interrupt the run with the request; go on with the answer. An empty one changes nothing.

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
    tell(runtime, state["id"], "answered", answered_by_person(answer))
    if not answer:
        return {"attempt": state["attempt"] + 1}
    return {
        "question": f"{state['question']}{CLARIFIED}{answer})",
        "attempt": state["attempt"] + 1,
        "unclear": [],
    }


def answered_by_person(answer: object) -> dict[str, JsonValue]:
    """Return what the record says of a person's answer to a request."""
    text = _line(answer)
    note = f"the person answered: {text}" if text else "the person gave no answer"
    return {"note": note, "answer": text}


def _line(answer: object) -> str:
    return " ".join(str(answer or "").split())
