"""The leaf judge: reads a whole leaf debate and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import settings
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.tree_structured_debate.findings import Finding, Judged
from dialectree.nodes.tree_structured_debate.sides import (
    Debater,
    Side,
    is_polar,
    names_another,
    says_otherwise,
    side,
)
from dialectree.nodes.tree_structured_debate.state import LeafDebate, Settings
from dialectree.protocol import WITHDRAWN


class LeafJudgeReply(BaseModel):
    """A ruling on a leaf debate."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=2000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class LastClaim(TypedDict):
    """The side of a debater and its last claim."""

    debater: Debater
    side: Side
    claim: str


def last_claims(state: LeafDebate, seed: int) -> list[LastClaim]:
    """Return the last claim of each debater who spoke, leaving out turns that were withdrawn."""
    last: dict[Debater, str] = {}
    for turn in state["transcript"]:
        if turn["claim"] != WITHDRAWN or turn["debater"] not in last:
            last[turn["debater"]] = turn["claim"]
    place = (seed, state["id"], state["take"], state["question"])
    return [
        {"debater": name, "side": side(*place, name), "claim": last[name]} for name in sorted(last)
    ]


async def leaf_judge(state: LeafDebate, runtime: Runtime[Settings]) -> Judged:
    """Rule by facts, not by style; the more careful answer wins a tie."""
    node, take, question = state["id"], state["take"], state["question"]
    claims = last_claims(state, settings(runtime, Settings).seed)

    def conflict(reply: LeafJudgeReply) -> str | None:
        if not is_polar(question):
            texts: dict[str, str] = {claim["debater"]: claim["claim"] for claim in claims}
            return names_another(reply.winner, reply.answer, texts)
        sides: dict[str, Side] = {claim["debater"]: claim["side"] for claim in claims}
        return says_otherwise(reply.answer, sides[reply.winner], f"debater {reply.winner}")

    reply = await ask(
        runtime,
        Place(node, "leaf_judge", "debate", len(state["transcript"]), take=take),
        "tree_structured_debate/leaf_judge",
        LeafJudgeReply,
        ids={"winner": ("A", "B")},
        conflict=conflict,
        max_tokens=700,
        question=question,
        unclear=state["unclear"],
        transcript=state["transcript"],
        claims=claims,
        polar=is_polar(question),
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
