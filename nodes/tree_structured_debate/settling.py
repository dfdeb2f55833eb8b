"""How a part of a tree is settled: with an answer, or without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from dialectree.nodes.tree_structured_debate.findings import Debated, Judged
from dialectree.nodes.tree_structured_debate.sides import Side
from dialectree.trace.events import tell


def make_finding(
    state: Debated,
    answer: str | None,
    rationale: str = "",
    confidence: float | None = None,
    leaves: Sequence[str] = (),
    unclear: Sequence[str] = (),
    side: Side | None = None,
) -> Judged:
    """Return the finding about the question in ``state``; its parts leave ``unclear`` open, too."""
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
) -> Judged:
    """Tell of a finding and return it. ``local_confidence`` is the judge's in this part alone."""
    finding = judged["finding"]
    verdict = {
        "answer": finding["answer"],
        "rationale": finding["rationale"],
        "confidence": finding["confidence"],
        "local_confidence": local_confidence,
        "winner": winner,
        "take": finding["take"],
    }
    settled = {"take": finding["take"], "verdict": verdict, "provenance": finding["leaves"]}
    tell(runtime, finding["id"], "settled", settled)
    return judged


async def missing(state: Debated, runtime: Runtime[Any]) -> Judged:
    """Find no answer. In a second pass the verdict of the first one stands."""
    if state["take"] == 1:
        tell(runtime, state["id"], "settled", {"verdict": None})
    else:
        note = "the second pass came to no verdict here; that of the first pass stands"
        tell(runtime, state["id"], "noted", {"note": note})
    return make_finding(state, None)
