"""The steps of an expansion that ask no model: opening, clarification and branching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langgraph.runtime import Runtime

from dialectree.answers import normal
from dialectree.flow.human_input import ask_person
from dialectree.maths.tree import children_that_fit, hardest, shares
from dialectree.nodes.tree_structured_debate.findings import parent
from dialectree.nodes.tree_structured_debate.sides import CLARIFIED, as_asked
from dialectree.nodes.tree_structured_debate.state import Question, Settings, Subtree
from dialectree.protocols.settings import settings
from dialectree.trace.events import tell


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Take a question up."""
    opened = {"text": state["question"], "depth": state["depth"], "parent": parent(state["id"])}
    tell(runtime, state["id"], "opened", opened)
    return {"take": 1, "facts": [], "attempt": 1, "unclear": []}


async def clarification(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask the person what the question leaves open; an empty answer changes nothing."""
    answer = ask_person(
        runtime,
        node=state["id"],
        kind="clarification",
        question=state["question"],
        request=" ".join(state["unclear"]),
    )
    clarified = {"question": f"{state['question']}{CLARIFIED}{answer})", "unclear": []}
    return {"attempt": state["attempt"] + 1, **(clarified if answer else {})}


async def branching(state: Subtree, runtime: Runtime[Settings]) -> dict[str, list[Question]]:
    """Keep as many children as fit: the hardest if they were rated, else the first."""
    node, drafted, budget = state["id"], state["drafted"], state["budget"]
    most = min(len(drafted), settings(runtime, Settings).max_children)
    count = children_that_fit(budget, most)
    chosen = hardest(state["difficulty"] or [0.0] * len(drafted), count)
    children: list[Question] = [
        {
            "id": f"{node}.{n}",
            "question": drafted[place],
            "path": [*state["path"], state["question"]],
            "depth": state["depth"] + 1,
            "budget": share,
        }
        for n, (place, share) in enumerate(zip(chosen, shares(budget, count), strict=True))
    ]
    for note in repetitions(children, state["question"], node):
        tell(runtime, node, "noted", {"note": note})
    tell(runtime, node, "branched", {"children": [child["id"] for child in children]})
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
