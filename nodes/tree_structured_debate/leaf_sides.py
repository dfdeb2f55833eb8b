"""Turn a leaf of TSD into two candidates or a claim for another protocol, and back."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguments import NEUTRAL
from dialectree.nodes.adaptive_reasoning_tree.state import Weighing
from dialectree.nodes.role_switching_debate import state as switching
from dialectree.nodes.role_switching_debate.candidates import drawn
from dialectree.nodes.tree_structured_debate.findings import Judged
from dialectree.nodes.tree_structured_debate.settling import make_finding, missing, settle
from dialectree.nodes.tree_structured_debate.sides import is_polar
from dialectree.nodes.tree_structured_debate.state import Leaf, Settings
from dialectree.protocols.settings import settings
from dialectree.text import figure
from dialectree.trace.events import tell

YES: switching.Candidate = {"label": "A", "text": "Yes"}
NO: switching.Candidate = {"label": "B", "text": "No"}


class BorrowedLeaf(Leaf, switching.Pair, switching.Debated, Weighing, Judged):
    """A leaf that any of the three protocols may settle, on its way to a finding."""

    claim: str
    """A polar question as a claim."""


async def pairing(state: Leaf, runtime: Runtime[Settings]) -> dict[str, object]:
    """Give a polar question the candidates Yes and No; leave any other open."""
    polar = is_polar(state["question"])
    place = (state["id"], str(state["take"]), state["question"])
    return {
        "background": [
            *(f"This is part of a larger question: {question}" for question in state["path"]),
            *(f"Settled elsewhere in the same inquiry: {fact}" for fact in state["facts"]),
            *(f"Left open by the question: {gap}" for gap in state["unclear"]),
        ],
        "options": [YES, NO] if polar else [],
        "assigned": polar,
        "candidates": drawn(YES, NO, settings(runtime, Settings).seed, *place) if polar else {},
        "first": "a",
    }


async def decided(state: BorrowedLeaf) -> Judged:
    """Take the winner as the leaf's answer, with the judge's confidence."""
    outcome = state["outcome"]
    leaves = [] if outcome["answer"] is None else [state["id"]]
    rationale = outcome["rationale"] or ""
    return make_finding(state, outcome["answer"], rationale, outcome["confidence"], leaves)


async def claiming(state: Leaf) -> dict[str, str]:
    """Claim that the answer is yes; nothing is put into other words."""
    return {"claim": f"The answer to the question “{state['question']}” is yes."}


async def verified(state: BorrowedLeaf, runtime: Runtime[Settings]) -> Judged:
    """Answer yes where the claim is likelier true than not, as surely as that is probable."""
    node, probability, verdict = state["id"], state["probability"], state["verdict"]
    if run_of(runtime).overrides.dropped(node) is None:
        for note in verdict["notes"]:
            tell(runtime, node, "noted", {"note": note})
    if probability is None:
        return await missing(state, runtime)
    answer, confidence = ("Yes", probability) if probability > NEUTRAL else ("No", 1 - probability)
    known = f"The claim that the answer is yes has a probability of {figure(probability)}."
    rationale = "\n".join(filter(None, [known, verdict["rationale"]]))
    return settle(runtime, make_finding(state, answer, rationale, confidence, [node]), confidence)
