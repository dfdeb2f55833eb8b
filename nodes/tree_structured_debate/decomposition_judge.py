"""The decomposition judge: approves a split or puts a better one in its place."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.decomposer import (
    ChildReply,
    Drafted,
    Split,
    drafted,
    place,
)


class DecompositionJudgeReply(BaseModel):
    """A ruling on a split."""

    rationale: Annotated[str, Field(max_length=1500)]
    decision: Literal["approve", "revise"]
    children: Annotated[list[ChildReply], Field(max_length=12)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class ToCheck(TypedDict):
    """What the decomposition judge reads."""

    id: str
    canonical: str
    drafted: list[Drafted]
    attempt: int


async def decomposition_judge(state: ToCheck, runtime: Runtime[Context]) -> Split:
    """``approve`` keeps the decomposer's list, ``revise`` takes the judge's."""
    reply = await ask(
        runtime,
        place(state["id"], "decomposition_judge", state["attempt"], 1),
        "tree_structured_debate/decomposition_judge",
        DecompositionJudgeReply,
        max_tokens=1200,
        canonical=state["canonical"],
        children=state["drafted"],
        max_children=settings(runtime).max_children,
    )
    if reply.decision == "approve":
        return {}
    children = drafted(reply.children)
    return {"drafted": children, "stopped": None if len(children) >= 2 else "too_few_children"}
