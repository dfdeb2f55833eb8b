"""The sampler: one of several independent answers to a question."""

from __future__ import annotations

import operator
from typing import Annotated

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.models.door import Place, ask
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply


class Sample(TypedDict):
    """One answer among several."""

    number: int
    """From 1."""
    answer: str
    explanation: str
    confidence: float


class Sampled(TypedDict):
    """What samplers leave."""

    samples: Annotated[list[Sample], operator.add]


class ToSample(TypedDict):
    """What one sampler reads."""

    question: str
    number: int


async def sampler(state: ToSample, runtime: Runtime[Context]) -> Sampled:
    """Answers at once, warmer than the answerer, and does not know of the others."""
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
