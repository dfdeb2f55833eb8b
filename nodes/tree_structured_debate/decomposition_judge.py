"""The decomposition judge: approves a split or puts a better one in its place."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.decomposer import ChildReply, expansion, numbered
from dialectree.nodes.tree_structured_debate.state import Settings, Subtree
from dialectree.protocols.settings import settings


class DecompositionJudgeReply(BaseModel):
    """A ruling on a split."""

    rationale: Annotated[str, Field(max_length=1500)]
    decision: Literal["approve", "revise"]
    children: Annotated[list[ChildReply], Field(max_length=12)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def decomposition_judge(state: Subtree, runtime: Runtime[Settings]) -> dict[str, list[str]]:
    """Approve the decomposer's list, or put another one in its place."""
    reply = await ask(
        runtime,
        expansion(state, "decomposition_judge", 1),
        "tree_structured_debate/decomposition_judge",
        DecompositionJudgeReply,
        max_tokens=1200,
        canonical=state["canonical"],
        children=numbered(state["drafted"]),
        max_children=settings(runtime, Settings).max_children,
    )
    if reply.decision == "approve":
        return {}
    return {"drafted": [child.text for child in reply.children]}
