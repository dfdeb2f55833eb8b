"""The steps of a second pass: choosing the leaves to visit again, and reopening a question."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.nodes.tree_structured_debate.findings import is_leaf, parent
from dialectree.nodes.tree_structured_debate.state import Revisit, Settings, TreeStructuredDebate
from dialectree.protocols.settings import settings


async def weakest_leaves(
    state: TreeStructuredDebate, runtime: Runtime[Settings]
) -> dict[str, object]:
    """Choose the leaves with the least confidence; of two alike the first in the tree."""
    certified = [state["finding"], *state["certified"]]
    leaves = sorted(filter(is_leaf, certified), key=lambda leaf: leaf["confidence"] or 0.0)
    most = settings(runtime, Settings).second_pass_leaves
    return {"leaves": [leaf["id"] for leaf in leaves[:most]], "certified": certified}


async def reopening(state: Revisit) -> dict[str, object]:
    """Take a question up again, with the findings of the first pass here, below and elsewhere."""
    certified = state["certified"]
    first = next(finding for finding in certified if finding["id"] == state["id"])
    others = [f for f in certified if is_leaf(f) and f["id"] not in state["leaves"]]
    return {
        "question": first["question"],
        "take": 2,
        "facts": [f"{finding['question']} {finding['answer']}" for finding in others],
        "unclear": first["unclear"],
        "findings": [f for f in certified if parent(f["id"]) == state["id"]],
    }
