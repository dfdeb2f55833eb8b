"""The verifier: one model says whether a claim is true, at once or after reasoning."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.answers import normal
from dialectree.flow import Step
from dialectree.flow.state import Question, Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import ask
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.records import Place

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


def verifier(prompt: str, kind: type[VerifierReply] | type[ReasonedReply]) -> Step:
    """Return the role that answers yes or no, without a confidence as in the paper."""

    async def verifier(state: Question, runtime: Runtime[Settings]) -> Ruling:
        place = Place(node="0", phase="answer", role="verifier")
        claim = state["question"]
        reply = await ask(runtime, place, prompt, kind, max_tokens=512, claim=claim)
        reasoning = reply.reasoning if isinstance(reply, ReasonedReply) else None
        label = str(reply.answer == "yes")
        return settle(runtime, label, label=label, rationale=reasoning)

    return verifier
