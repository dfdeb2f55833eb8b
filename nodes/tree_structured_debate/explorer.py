"""The explorer of a two-round debate: answers, and responds to the critic."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.state import Settings, Turn, TwoRound
from dialectree.records import Place

ROUNDS = 2
"""Explorer and critic both speak once in each."""


class ExplorerReply(BaseModel):
    """A whole answer."""

    answer: Annotated[str, Field(min_length=1, max_length=6000)]


async def explorer(state: TwoRound, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Open, or respond to the critique."""
    turns = len(state["transcript"])
    round_ = turns // 2 + 1
    reply = await ask(
        runtime,
        Place(node="0", phase="debate", role="explorer", round=round_, step=turns),
        "two_round/explorer",
        ExplorerReply,
        max_tokens=1000,
        question=state["question"],
        transcript=state["transcript"],
        round=round_,
        rounds=ROUNDS,
    )
    return {"transcript": [{"speaker": "explorer", "round": round_, "text": reply.answer}]}
