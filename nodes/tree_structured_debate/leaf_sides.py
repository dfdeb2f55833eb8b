"""Turn a leaf of TSD into two candidates or a claim for another protocol, and back."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.context import settings
from dialectree.events import tell
from dialectree.formatting import figure
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguments import NEUTRAL
from dialectree.nodes.adaptive_reasoning_tree.state import Weighing
from dialectree.nodes.role_switching_debate.candidates import drawn
from dialectree.nodes.role_switching_debate.state import Candidate
from dialectree.nodes.tree_structured_debate.findings import Finding, Judged
from dialectree.nodes.tree_structured_debate.missing import missing
from dialectree.nodes.tree_structured_debate.sides import is_polar
from dialectree.nodes.tree_structured_debate.state import Leaf, Settings
from dialectree.state import Verdict

YES: Candidate = {"label": "A", "text": "Yes"}
NO: Candidate = {"label": "B", "text": "No"}


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


class Decided(Leaf):
    """A leaf after its role-switching debate."""

    outcome: Verdict


async def decided(state: Decided) -> Judged:
    """Take the winner as the leaf's answer, with the judge's confidence."""
    outcome = state["outcome"]
    rationale = outcome["rationale"] or ""
    return {"finding": _finding(state, outcome["answer"], rationale, outcome["confidence"])}


async def claiming(state: Leaf) -> dict[str, str]:
    """Claim that the answer is yes; nothing is put into other words."""
    return {"claim": f"The answer to the question “{state['question']}” is yes."}


class Verified(Leaf, Weighing):
    """A leaf after its argument tree."""


async def verified(state: Verified, runtime: Runtime[Settings]) -> Judged:
    """Answer yes where the claim is likelier true than not, as surely as that is probable."""
    probability, verdict = state["probability"], state["verdict"]
    dropped = run_of(runtime).overrides.dropped(state["id"])
    for note in verdict["notes"] if dropped is None else []:
        tell(runtime, state["id"], "noted", {"note": note})
    if probability is None:
        return await missing(state, runtime)
    answer, confidence = ("Yes", probability) if probability > NEUTRAL else ("No", 1 - probability)
    known = f"The claim that the answer is yes has a probability of {figure(probability)}."
    rationale = "\n".join(filter(None, [known, verdict["rationale"]]))
    fields = {
        "answer": answer,
        "rationale": rationale,
        "confidence": confidence,
        "local_confidence": confidence,
    }
    settled = {"take": state["take"], "verdict": fields, "provenance": [state["id"]]}
    tell(runtime, state["id"], "settled", settled)
    return {"finding": _finding(state, answer, rationale, confidence)}


def _finding(state: Leaf, answer: str | None, rationale: str, confidence: float | None) -> Finding:
    return {
        "id": state["id"],
        "question": state["question"],
        "answer": answer,
        "rationale": rationale,
        "confidence": confidence,
        "leaves": [] if answer is None else [state["id"]],
        "unclear": state["unclear"],
        "take": state["take"],
    }
