"""The roles that give a whole answer in one reply: answerer, sampler and synthesiser."""

from __future__ import annotations

from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow import state as shared
from dialectree.flow.state import Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.state import BestOfN, Sample, Settings, TwoRound
from dialectree.records import Place


class AnswererReply(BaseModel):
    """A direct answer."""

    explanation: Annotated[str, Field(max_length=2500)]
    answer: Annotated[str, Field(min_length=1, max_length=6000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def answerer(state: shared.Question, runtime: Runtime[Settings]) -> Ruling:
    """Answer at once."""
    place = Place(node="0", phase="answer", role="answerer")
    return await _ruling(runtime, place, "single_shot/answerer", question=state["question"])


async def sampler(state: BestOfN, runtime: Runtime[Settings]) -> dict[str, list[Sample]]:
    """Answer at once, warmer than the answerer, without knowing the other samples."""
    reply = await ask(
        runtime,
        Place(node="0", phase="direct", role="sampler", speaker=str(state["number"])),
        "best_of_n/sampler",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
    )
    sample: Sample = {
        "number": state["number"],
        "answer": reply.answer,
        "explanation": reply.explanation,
        "confidence": reply.confidence,
    }
    return {"samples": [sample]}


async def synthesiser(state: TwoRound, runtime: Runtime[Settings]) -> Ruling:
    """Read the whole exchange and answer the question."""
    return await _ruling(
        runtime,
        Place(node="0", phase="answer", role="synthesiser"),
        "two_round/synthesiser",
        question=state["question"],
        transcript=state["transcript"],
    )


async def _ruling(runtime: Runtime[Settings], place: Place, prompt: str, **shown: Any) -> Ruling:
    """Ask for a direct answer and rule by it."""
    reply = await ask(runtime, place, prompt, AnswererReply, max_tokens=1200, **shown)
    return settle(
        runtime,
        reply.answer,
        rationale=reply.explanation,
        confidence=reply.confidence,
        confidence_source=place.role,
    )
