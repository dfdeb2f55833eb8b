"""The branching of a question: which children it keeps, and what each may spend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langgraph.runtime import Runtime

from dialectree.context import settings
from dialectree.events import tell
from dialectree.maths.tree import children_that_fit, hardest, shares
from dialectree.nodes.answers import normal
from dialectree.nodes.tree_structured_debate.findings import parent
from dialectree.nodes.tree_structured_debate.sides import as_asked
from dialectree.nodes.tree_structured_debate.state import Question, Settings, Subtree


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Take a question up."""
    told = {"text": state["question"], "depth": state["depth"], "parent": parent(state["id"])}
    tell(runtime, state["id"], "opened", told)
    return {"take": 1, "facts": [], "attempt": 1, "unclear": []}


async def branching(state: Subtree, runtime: Runtime[Settings]) -> dict[str, list[Question]]:
    """Keep as many children as fit: the hardest if they were rated, else the first."""
    drafted, wanted = state["drafted"], settings(runtime, Settings).max_children
    count = children_that_fit(state["budget"], min(len(drafted), wanted))
    kept = hardest(state["difficulty"] or [0.0] * len(drafted), count)
    path = [*state["path"], state["question"]]
    children: list[Question] = [
        {
            "id": f"{state['id']}.{n}",
            "question": drafted[place]["text"],
            "path": path,
            "depth": state["depth"] + 1,
            "budget": budget,
        }
        for n, (place, budget) in enumerate(zip(kept, shares(state["budget"], count), strict=True))
    ]
    for note in repetitions(children, state["question"], state["id"]):
        tell(runtime, state["id"], "noted", {"note": note})
    tell(runtime, state["id"], "branched", {"children": [child["id"] for child in children]})
    return {"children": children}


def repetitions(children: Sequence[Question], question: str, node: str) -> Iterator[str]:
    """Return a note on each child that asks the same as its parent ``node`` or an earlier child.

    Such a split is paid for twice. It is recorded and shown, never acted upon: the paper leaves
    non-overlap to the decomposition judge.
    """
    first = {normal(as_asked(question)): node}
    for child in children:
        same = first.setdefault(normal(child["question"]), child["id"])
        if same != child["id"]:
            yield f"{child['id']} asks the same as {same}"
