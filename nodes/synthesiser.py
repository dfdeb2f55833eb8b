"""The synthesiser of a two-round debate: the best of what was said, as one answer."""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.context import Context
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.answerer import AnswererReply
from dialectree.nodes.explorer import ToSpeak
from dialectree.state import Ruling


async def synthesiser(state: ToSpeak, runtime: Runtime[Context]) -> Ruling:
    """Reads the whole exchange and answers the question."""
    reply = await ask(
        runtime,
        Place("0", "synthesiser", "answer", 0),
        "two_round/synthesiser",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
        transcript=state["transcript"],
    )
    told = {
        "answer": reply.answer,
        "rationale": reply.explanation,
        "confidence": reply.confidence,
        "local_confidence": reply.confidence,
    }
    tell(runtime, "0", "settled", {"take": 1, "verdict": told, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": reply.answer,
            "label": None,
            "explanation": reply.explanation,
            "confidence": reply.confidence,
            "confidence_source": "synthesiser",
            "notes": [],
        }
    }
