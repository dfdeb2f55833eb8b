"""The critic of a two-round debate: attacks the explorer's last answer."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.explorer import ROUNDS
from dialectree.nodes.tree_structured_debate.state import Settings, Turn, TwoRound
from dialectree.records import Place


class CriticReply(BaseModel):
    """What is wrong with an answer."""

    critique: Annotated[str, Field(min_length=1, max_length=6000)]


async def critic(state: TwoRound, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Look for errors of fact, gaps and misconceptions."""
    turns = len(state["transcript"])
    round_ = turns // 2 + 1
    reply = await ask(
        runtime,
        Place(node="0", phase="debate", role="critic", round=round_, step=turns),
        "two_round/critic",
        CriticReply,
        max_tokens=1000,
        question=state["question"],
        transcript=state["transcript"],
        round=round_,
        rounds=ROUNDS,
    )
    return {"transcript": [{"speaker": "critic", "round": round_, "text": reply.critique}]}
