"""The leaf judge: reads a whole leaf debate and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.kinds import Finding, Judged
from dialectree.nodes.leaf_debater import Statement


class LeafJudgeReply(BaseModel):
    """A ruling on a leaf debate."""

    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=2000)]
    rationale: Annotated[str, Field(max_length=2000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class ToJudge(TypedDict):
    """What the leaf judge reads."""

    id: str
    question: str
    take: int
    unclear: list[str]
    transcript: list[Statement]


async def leaf_judge(state: ToJudge, runtime: Runtime[Context]) -> Judged:
    """Rules by facts, not by style; the more careful answer wins a tie."""
    node, take, question = state["id"], state["take"], state["question"]
    reply = await ask(
        runtime,
        Place(node, "leaf_judge", "debate", len(state["transcript"]), take=take),
        "tree_structured_debate/leaf_judge",
        LeafJudgeReply,
        ids={"winner": ("A", "B")},
        max_tokens=700,
        question=question,
        unclear=state["unclear"],
        transcript=state["transcript"],
    )
    verdict = {**reply.model_dump(), "local_confidence": reply.confidence, "take": take}
    tell(runtime, node, "settled", {"take": take, "verdict": verdict, "provenance": [node]})
    finding: Finding = {
        "id": node,
        "question": question,
        "answer": reply.answer,
        "rationale": reply.rationale,
        "confidence": reply.confidence,
        "leaves": [node],
        "unclear": state["unclear"],
        "take": take,
    }
    return {"finding": finding}
