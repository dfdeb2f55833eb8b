"""The verifier: one model says whether a claim is true, at once or after reasoning."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.nodes.answers import normal
from dialectree.state import Question, Ruling

_YesNo = Annotated[
    Literal["yes", "no"], BeforeValidator(lambda v: normal(v) if isinstance(v, str) else v)
]


class VerifierReply(BaseModel):
    """Whether the claim is true."""

    answer: _YesNo


class ReasonedReply(BaseModel):
    """The same after reasoning, which is written first."""

    reasoning: Annotated[str, Field(min_length=1, max_length=6000)]
    answer: _YesNo


async def verifier(state: Question, runtime: Runtime[Settings]) -> Ruling:
    """Answer yes or no, and nothing else."""
    reply = await ask(
        runtime,
        Place("0", "verifier", "answer", 0),
        "direct/verifier",
        VerifierReply,
        max_tokens=512,
        claim=state["question"],
    )
    return _ruling(runtime, reply.answer, None)


async def reasoning_verifier(state: Question, runtime: Runtime[Settings]) -> Ruling:
    """Write the reasoning, then answer yes or no."""
    reply = await ask(
        runtime,
        Place("0", "verifier", "answer", 0),
        "cot/verifier",
        ReasonedReply,
        max_tokens=512,
        claim=state["question"],
    )
    return _ruling(runtime, reply.answer, reply.reasoning)


def _ruling(
    runtime: Runtime[Settings], answer: Literal["yes", "no"], reasoning: str | None
) -> Ruling:
    """Rule without a confidence: the paper's baselines give a label only."""
    label = str(answer == "yes")
    told = {"answer": label, "rationale": reasoning or ""}
    tell(runtime, "0", "settled", {"take": 1, "verdict": told, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": label,
            "label": label,
            "rationale": reasoning,
            "confidence": None,
            "confidence_source": None,
            "notes": [],
        }
    }
