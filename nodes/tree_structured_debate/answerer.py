"""The answerer: one model, one question, one reply. The baseline of every debate."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.state import Question, Ruling


class AnswererReply(BaseModel):
    """A direct answer."""

    explanation: Annotated[str, Field(max_length=2500)]
    answer: Annotated[str, Field(min_length=1, max_length=6000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def answerer(state: Question, runtime: Runtime[Settings]) -> Ruling:
    """Answer at once."""
    reply = await ask(
        runtime,
        Place("0", "answerer", "answer", 0),
        "single_shot/answerer",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
    )
    return settled(reply, "answerer", runtime)


def settled(reply: AnswererReply, source: str, runtime: Runtime[Settings]) -> Ruling:
    """Rule by the one reply that answers the question; ``source`` gave its confidence."""
    verdict = {
        "answer": reply.answer,
        "rationale": reply.explanation,
        "confidence": reply.confidence,
        "local_confidence": reply.confidence,
    }
    tell(runtime, "0", "settled", {"take": 1, "verdict": verdict, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": reply.answer,
            "label": None,
            "rationale": reply.explanation,
            "confidence": reply.confidence,
            "confidence_source": source,
            "notes": [],
        }
    }
