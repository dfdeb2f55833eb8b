"""The explorer of a two-round debate: answers, and answers anew what the critic found."""

from __future__ import annotations

import operator
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.models.door import Place, ask

ROUNDS = 2
"""Explorer and critic both speak once in each."""


class ExplorerReply(BaseModel):
    """A whole answer."""

    answer: Annotated[str, Field(min_length=1, max_length=6000)]


class Turn(TypedDict):
    """An answer of the explorer, or what the critic has against it."""

    speaker: Literal["explorer", "critic"]
    round: int
    """From 1."""
    text: str


class Spoken(TypedDict):
    """What explorer and critic leave."""

    transcript: Annotated[list[Turn], operator.add]


class ToSpeak(Spoken):
    """What explorer and critic read."""

    question: str


async def explorer(state: ToSpeak, runtime: Runtime[Context]) -> Spoken:
    """Opens, or responds to the critique."""
    turns = len(state["transcript"])
    round_ = turns // 2 + 1
    reply = await ask(
        runtime,
        Place("0", "explorer", "debate", turns, round_),
        "two_round/explorer",
        ExplorerReply,
        max_tokens=1000,
        question=state["question"],
        transcript=state["transcript"],
        round=round_,
        rounds=ROUNDS,
    )
    return {"transcript": [{"speaker": "explorer", "round": round_, "text": reply.answer}]}
