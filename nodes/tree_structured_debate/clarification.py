"""The clarification: asks the person, where there is one, about the gaps of a question."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.human_input import ask_person
from dialectree.nodes.tree_structured_debate.sides import CLARIFIED
from dialectree.nodes.tree_structured_debate.state import Settings, Subtree


async def clarification(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask the person what the question leaves open; an empty answer changes nothing."""
    answer = ask_person(
        runtime,
        node=state["id"],
        kind="clarification",
        question=state["question"],
        request=" ".join(state["unclear"]),
    )
    if not answer:
        return {"attempt": state["attempt"] + 1}
    return {
        "question": f"{state['question']}{CLARIFIED}{answer})",
        "attempt": state["attempt"] + 1,
        "unclear": [],
    }
