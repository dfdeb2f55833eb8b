"""The last step of every protocol: telling what was ruled, or that nothing could be."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.context import Context
from dialectree.events import tell
from dialectree.models.run import run_of
from dialectree.state import Question, Ruling, Verdict


async def unresolved(state: Question, runtime: Runtime[Context]) -> Ruling:
    """A reply that nothing can do without failed for good."""
    tell(runtime, "0", "settled", {"verdict": None})
    return {
        "verdict": {
            "answer": None,
            "label": None,
            "explanation": None,
            "confidence": None,
            "confidence_source": None,
            "notes": [],
        }
    }


DEMONSTRATION = "the embedded model took part: its answers are no better than chance"


async def conclusion(state: Ruling, runtime: Runtime[Context]) -> Ruling:
    """Tells of the verdict. Without a confidence nobody is its source.

    A run of our own has a record that says where the embedded model took part; a host has the
    verdict alone.
    """
    verdict: Verdict = {**state["verdict"]}
    run = run_of(runtime)
    if run.demonstration and run.journal is None:
        verdict["notes"] = [*verdict["notes"], DEMONSTRATION]
    if verdict["confidence"] is None:
        verdict["confidence_source"] = None
    tell(runtime, "0", "concluded", {**verdict})
    return {"verdict": verdict}
