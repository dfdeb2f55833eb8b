"""The synthesis judge: chooses between the concise and the full integration."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.maths.tree import aggregate_confidence
from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.nodes.tree_structured_debate.findings import Judged
from dialectree.nodes.tree_structured_debate.settling import make_finding, settle
from dialectree.nodes.tree_structured_debate.sides import (
    Side,
    concise_is_a,
    is_polar,
    leading,
    names_another,
    says_otherwise,
)
from dialectree.nodes.tree_structured_debate.state import Settings, SynthesisDebate
from dialectree.nodes.tree_structured_debate.synthesis_debater import message_tokens, remaining
from dialectree.protocols.settings import settings
from dialectree.records import Place


class SynthesisJudgeReply(BaseModel):
    """A ruling on two integrations."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=6000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def synthesis_judge(state: SynthesisDebate, runtime: Runtime[Settings]) -> Judged:
    """Rule by consistency with every child, completeness, and coherence."""
    node, take, question = state["id"], state["take"], state["question"]
    polar = is_polar(question)
    texts = remaining(state["candidates"], state["gone"])
    if not concise_is_a(settings(runtime, Settings).seed, node, take, question):
        texts.reverse()
    candidates = dict(zip("AB", texts, strict=False))
    integrations = {label: text["integration"] for label, text in candidates.items()}

    def conflict(reply: SynthesisJudgeReply) -> str | None:
        if polar:
            side = leading(integrations[reply.winner])
            return says_otherwise(reply.answer, side, f"text {reply.winner}")
        return names_another(reply.winner, reply.answer, integrations)

    place = Place(
        node=node, phase="synthesis", role="synthesis_judge", step=state["round"] + 1, take=take
    )
    reply = await ask(
        runtime,
        place,
        "tree_structured_debate/synthesis_judge",
        SynthesisJudgeReply,
        ids={"winner": list(candidates)},
        conflict=conflict,
        max_tokens=message_tokens(state["findings"]) + 400,
        question=question,
        children=state["findings"],
        candidates=candidates,
        polar=polar,
    )
    winner = f"{reply.winner} ({candidates[reply.winner]['style']})"
    # A person rules by the text alone: the winner in such a reply is still the model's.
    won = None if run_of(runtime).overrides.at(place) else leading(integrations[reply.winner])
    judged = merged(state, reply.answer, reply.rationale, reply.confidence, won)
    return settle(runtime, judged, reply.confidence, winner)


async def unjudged(state: SynthesisDebate, runtime: Runtime[Settings]) -> Judged:
    """Pass the concise text upward unrated, or the other if only that is left."""
    text = remaining(state["candidates"], state["gone"])[0]
    rationale = f"The synthesis judge gave no ruling; the {text['style']} text stands."
    return settle(runtime, merged(state, text["integration"], rationale, None), None)


def merged(
    state: SynthesisDebate,
    answer: str,
    rationale: str,
    local: float | None,
    side: Side | None = None,
) -> Judged:
    """Return the finding of an inner node; the recursive product is its confidence."""
    children = state["findings"]
    confidences = [child["confidence"] for child in children if child["answer"] is not None]
    return make_finding(
        state,
        answer,
        rationale,
        aggregate_confidence(local, confidences),
        leaves=[leaf for child in children for leaf in child["leaves"]],
        unclear=[gap for child in children for gap in child["unclear"]],
        side=side,
    )
