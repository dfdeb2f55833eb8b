"""The complexity evaluator rates the parts of a split; the scores decide whether it pays."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, model_validator

from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.decomposer import expansion, numbered
from dialectree.nodes.tree_structured_debate.state import Settings, Subtree
from dialectree.protocols.settings import settings
from dialectree.trace.events import tell


class Score(BaseModel):
    """How difficult one part is. The reason is asked for so that it is thought of first.

    Nobody reads it, so a score without one counts.
    """

    qid: str
    reason: Annotated[str, Field(max_length=600)]
    difficulty: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode="before")
    @classmethod
    def _without_reason(cls, score: object) -> object:
        return {"reason": "", **score} if isinstance(score, dict) else score


class ComplexityReply(BaseModel):
    """The difficulty of every part, and a decision."""

    scores: list[Score]
    clarification_request: Annotated[str | None, Field(max_length=600)]
    decision: Literal["decompose", "atomic", "clarify"]


async def complexity_evaluator(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Rate every part of the split, and say what the question leaves open."""
    parts = numbered(state["drafted"])
    reply = await ask(
        runtime,
        expansion(state, "complexity_evaluator", 2),
        "tree_structured_debate/complexity_evaluator",
        ComplexityReply,
        ids={"scores.qid": [part["qid"] for part in parts]},
        max_tokens=1200,
        question=state["question"],
        canonical=state["canonical"],
        children=parts,
    )
    score = {item.qid: item.difficulty for item in reply.scores}
    difficulty = [score[part["qid"]] for part in parts]
    easy = max(difficulty) < settings(runtime, Settings).stop_threshold
    unclear: list[str] = []
    if reply.decision == "clarify":
        request = " ".join((reply.clarification_request or "").split())
        unclear.append(request or "The evaluator does not say what is missing.")
        tell(runtime, state["id"], "asked", {"note": f"missing: {unclear[0]}"})
    elif (reply.decision == "atomic") != easy:
        scored = "atomic" if easy else "decompose"
        note = f"the evaluator said {reply.decision}; its scores say {scored}"
        tell(runtime, state["id"], "noted", {"note": note})
    return {"difficulty": difficulty, "unclear": unclear}
