"""Where two proposals meet: whether they are one answer, and which pair is debated."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel
from typing_extensions import TypedDict

from dialectree.models.door import Place, ask
from dialectree.nodes.answers import same
from dialectree.nodes.role_switching_debate.candidates import SIDES, Candidate, Side
from dialectree.nodes.role_switching_debate.exchange import Proposal, proposal_of
from dialectree.nodes.role_switching_debate.state import Settings

Agreement = Literal["no", "yes", "unknown"]


class SameAnswerReply(BaseModel):
    """Whether two texts are the same answer."""

    same: bool


class Met(TypedDict):
    """What is known of two proposals."""

    agreed: Agreement


class ToMeet(TypedDict):
    """What the proposals are compared by."""

    id: str
    question: str
    take: int
    background: list[str]
    options: list[Candidate]
    held: bool
    proposals: list[Proposal]


class Paired(TypedDict):
    """The pair that is debated."""

    candidates: dict[Side, Candidate]


async def meeting(state: ToMeet) -> Met:
    """Held candidates differ. Options are compared as they are, open answers by their words.

    Two open answers in different words may still be one; that is for a model to say.
    """
    a, b = (proposal_of(state["proposals"], side) for side in SIDES)
    if state["held"] or a is None or b is None:
        return {"agreed": "no"}
    if state["options"]:
        return {"agreed": "yes" if a["answer"] == b["answer"] else "no"}
    return {"agreed": "yes" if same(a["answer"], b["answer"]) else "unknown"}


async def same_answer(state: ToMeet, runtime: Runtime[Settings]) -> Met:
    """One call, yes or no: do the two proposals say the same?"""
    a, b = (proposal_of(state["proposals"], side) for side in SIDES)
    assert a is not None and b is not None  # both have proposed when this is asked
    reply = await ask(
        runtime,
        Place(state["id"], "judge", "proposals", 1, take=state["take"], who="same_answer"),
        "role_switching_debate/same_answer",
        SameAnswerReply,
        max_tokens=200,
        question=state["question"],
        background=state["background"],
        candidates=[a["answer"], b["answer"]],
    )
    return {"agreed": "yes" if reply.same else "no"}


async def pairing(state: ToMeet) -> Paired:
    """Whoever proposed an answer holds it. Open answers are A and B; options keep their letters."""
    named = {option["text"]: option["label"] for option in state["options"]}
    pair: dict[Side, Candidate] = {}
    for side in SIDES:
        proposal = proposal_of(state["proposals"], side)
        assert proposal is not None  # a debate without a proposal has been broken off
        label = named.get(proposal["answer"], side.upper())
        pair[side] = {"label": label, "text": proposal["answer"]}
    return {"candidates": pair}
