"""The sampler: one of several independent answers to a question."""

from __future__ import annotations

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.models.door import Place, ask
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.state import Sample, Settings


class ToSample(TypedDict):
    """What one sampler is sent."""

    question: str
    number: int


async def sampler(state: ToSample, runtime: Runtime[Settings]) -> dict[str, list[Sample]]:
    """Answer at once, warmer than the answerer, without knowing the other samples."""
    number = state["number"]
    reply = await ask(
        runtime,
        Place("0", "sampler", "direct", 0, who=str(number)),
        "best_of_n/sampler",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
    )
    sample: Sample = {
        "number": number,
        "answer": reply.answer,
        "explanation": reply.explanation,
        "confidence": reply.confidence,
    }
    return {"samples": [sample]}
