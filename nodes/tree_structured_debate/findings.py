"""Settle a part of a tree, and open it again for a second pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from dialectree.flow.jury import Count
from dialectree.nodes.tree_structured_debate.sides import Side
from dialectree.nodes.tree_structured_debate.state import (
    Debated,
    Finding,
    Judged,
    SecondPass,
    Settings,
    TreeStructuredDebate,
)
from dialectree.trace.events import tell


def is_leaf(finding: Finding) -> bool:
    """Return whether the finding is an answered leaf: it rests on itself alone."""
    return finding["leaves"] == [finding["id"]]


def parent(node: str) -> str | None:
    """Return the id of the parent of ``node``; None for the root."""
    return node.rpartition(".")[0] or None


def make_finding(
    state: Debated,
    answer: str | None,
    rationale: str = "",
    confidence: float | None = None,
    leaves: Sequence[str] = (),
    unclear: Sequence[str] = (),
    side: Side | None = None,
) -> Judged:
    """Return the finding about the question in ``state``; ``unclear`` has the gaps of the children."""
    return {
        "finding": {
            "id": state["id"],
            "question": state["question"],
            "answer": answer,
            "rationale": rationale,
            "confidence": confidence,
            "leaves": [*leaves],
            "unclear": [*dict.fromkeys([*state["unclear"], *unclear])],
            "take": state["take"],
            "side": side,
        }
    }


def settle(
    runtime: Runtime[Any],
    judged: Judged,
    local_confidence: float | None,
    winner: str | None = None,
    votes: Count | None = None,
) -> Judged:
    """Emit the event of a finding, and return the finding.

    ``local_confidence`` is the judge's confidence in this part alone; ``votes`` are a jury's.
    """
    finding = judged["finding"]
    verdict: dict[str, Any] = {
        "answer": finding["answer"],
        "rationale": finding["rationale"],
        "confidence": finding["confidence"],
        "local_confidence": local_confidence,
        "winner": winner,
        "take": finding["take"],
    }
    if votes is not None:
        verdict |= {"agreement": votes.agreement, "dissent": votes.dissent}
    settled = {"take": finding["take"], "verdict": verdict, "provenance": finding["leaves"]}
    tell(runtime, finding["id"], "settled", settled)
    return judged


async def missing(state: Debated, runtime: Runtime[Any]) -> Judged:
    """Return a finding without an answer; in a second pass the first verdict is kept."""
    if state["take"] == 1:
        tell(runtime, state["id"], "settled", {"verdict": None})
    else:
        note = "the second pass came to no verdict here; that of the first pass stands"
        tell(runtime, state["id"], "noted", {"note": note})
    return make_finding(state, None)


async def weakest_leaves(state: TreeStructuredDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Choose the leaves with the least confidence; the first in the tree wins a tie."""
    certified = [state["finding"], *state["certified"]]
    leaves = sorted(filter(is_leaf, certified), key=lambda leaf: leaf["confidence"] or 0.0)
    max_leaves = runtime.context.second_pass_leaves
    return {"leaves": [leaf["id"] for leaf in leaves[:max_leaves]], "certified": certified}


async def reopening(state: SecondPass) -> dict[str, object]:
    """Open a question again, with the findings of the first pass."""
    certified = state["certified"]
    first = next(finding for finding in certified if finding["id"] == state["id"])
    other_leaves = [f for f in certified if is_leaf(f) and f["id"] not in state["leaves"]]
    return {
        "question": first["question"],
        "take": 2,
        "facts": [f"{finding['question']} {finding['answer']}" for finding in other_leaves],
        "unclear": first["unclear"],
        "findings": [f for f in certified if parent(f["id"]) == state["id"]],
    }
