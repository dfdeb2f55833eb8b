"""The leaf judge: reads a whole leaf debate and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.nodes.tree_structured_debate.findings import Judged
from dialectree.nodes.tree_structured_debate.settling import make_finding, settle
from dialectree.nodes.tree_structured_debate.sides import (
    Side,
    is_polar,
    names_another,
    says_otherwise,
    side,
)
from dialectree.nodes.tree_structured_debate.state import LeafDebate, Settings, Statement
from dialectree.protocols.protocol import WITHDRAWN
from dialectree.protocols.settings import settings
from dialectree.records import Place


class LeafJudgeReply(BaseModel):
    """A ruling on a leaf debate."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=2000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


def last_claims(transcript: list[Statement]) -> dict[str, str]:
    """Return the last claim of each debater who spoke, leaving out turns that were withdrawn."""
    last: dict[str, str] = {}
    for turn in transcript:
        if turn["claim"] != WITHDRAWN or turn["debater"] not in last:
            last[turn["debater"]] = turn["claim"]
    return dict(sorted(last.items()))


async def leaf_judge(state: LeafDebate, runtime: Runtime[Settings]) -> Judged:
    """Rule by facts, not by style; the more careful answer wins a tie."""
    node, take, question = state["id"], state["take"], state["question"]
    seed, polar = settings(runtime, Settings).seed, is_polar(question)
    claims = last_claims(state["transcript"])
    sides: dict[str, Side] = {name: side(seed, node, take, question, name) for name in claims}

    def conflict(reply: LeafJudgeReply) -> str | None:
        if polar:
            return says_otherwise(reply.answer, sides[reply.winner], f"debater {reply.winner}")
        return names_another(reply.winner, reply.answer, claims)

    place = Place(
        node=node, phase="debate", role="leaf_judge", step=len(state["transcript"]), take=take
    )
    reply = await ask(
        runtime,
        place,
        "tree_structured_debate/leaf_judge",
        LeafJudgeReply,
        ids={"winner": ("A", "B")},
        conflict=conflict,
        max_tokens=700,
        question=question,
        unclear=state["unclear"],
        transcript=state["transcript"],
        claims=[{"debater": n, "side": sides[n], "claim": claim} for n, claim in claims.items()],
        polar=polar,
    )
    # A person rules by the text alone: the winner in such a reply is still the model's.
    won = None if run_of(runtime).overrides.at(place) else sides[reply.winner]
    finding = make_finding(
        state, reply.answer, reply.rationale, reply.confidence, leaves=[node], side=won
    )
    return settle(runtime, finding, reply.confidence, reply.winner)
