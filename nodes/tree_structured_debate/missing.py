"""The finding of a part that came to no answer."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.events import tell
from dialectree.nodes.tree_structured_debate.findings import Finding, Judged
from dialectree.nodes.tree_structured_debate.state import Debated, Settings


async def missing(state: Debated, runtime: Runtime[Settings]) -> Judged:
    """Find no answer. In a second pass the verdict of the first one stands."""
    if state["take"] == 1:
        tell(runtime, state["id"], "settled", {"verdict": None})
    else:
        note = "the second pass came to no verdict here; that of the first pass stands"
        tell(runtime, state["id"], "noted", {"note": note})
    finding: Finding = {
        "id": state["id"],
        "question": state["question"],
        "answer": None,
        "rationale": "",
        "confidence": None,
        "leaves": [],
        "unclear": state["unclear"],
        "take": state["take"],
    }
    return {"finding": finding}
