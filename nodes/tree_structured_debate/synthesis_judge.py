"""The synthesis judge: chooses between the concise and the full integration."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.context import settings
from dialectree.events import tell
from dialectree.maths.tree import aggregate_confidence
from dialectree.models.door import Place, ask
from dialectree.nodes.tree_structured_debate.findings import Finding, Judged
from dialectree.nodes.tree_structured_debate.sides import (
    concise_is_a,
    is_polar,
    leading,
    names_another,
    says_otherwise,
)
from dialectree.nodes.tree_structured_debate.state import Settings, SynthesisDebate
from dialectree.nodes.tree_structured_debate.synthesis_debater import message_tokens, remaining


class SynthesisJudgeReply(BaseModel):
    """A ruling on two integrations."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=6000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def synthesis_judge(state: SynthesisDebate, runtime: Runtime[Settings]) -> Judged:
    """Rule by consistency with every child, completeness, and coherence."""
    texts = remaining(state["candidates"], state["gone"])
    if not concise_is_a(
        settings(runtime, Settings).seed, state["id"], state["take"], state["question"]
    ):
        texts.reverse()
    candidates = dict(zip("AB", texts, strict=False))
    integrations = {label: text["integration"] for label, text in candidates.items()}

    def conflict(reply: SynthesisJudgeReply) -> str | None:
        if not is_polar(state["question"]):
            return names_another(reply.winner, reply.answer, integrations)
        side = leading(integrations[reply.winner])
        return says_otherwise(reply.answer, side, f"text {reply.winner}")

    reply = await ask(
        runtime,
        Place(state["id"], "synthesis_judge", "synthesis", state["round"] + 1, take=state["take"]),
        "tree_structured_debate/synthesis_judge",
        SynthesisJudgeReply,
        ids={"winner": list(candidates)},
        conflict=conflict,
        max_tokens=message_tokens(state["findings"]) + 400,
        question=state["question"],
        children=state["findings"],
        candidates=candidates,
        polar=is_polar(state["question"]),
    )
    winner = f"{reply.winner} ({candidates[reply.winner]['style']})"
    return _settled(state, runtime, reply.answer, reply.rationale, reply.confidence, winner)


async def unjudged(state: SynthesisDebate, runtime: Runtime[Settings]) -> Judged:
    """Pass the concise text upward unrated, or the other if only that is left."""
    text = remaining(state["candidates"], state["gone"])[0]
    rationale = f"The synthesis judge gave no ruling; the {text['style']} text stands."
    return _settled(state, runtime, text["integration"], rationale, None, None)


def _settled(
    state: SynthesisDebate,
    runtime: Runtime[Settings],
    answer: str,
    rationale: str,
    local: float | None,
    winner: str | None,
) -> Judged:
    """Settle an inner node; the recursive product is its confidence."""
    node, take, children = state["id"], state["take"], state["findings"]
    confidences = [child["confidence"] for child in children if child["answer"] is not None]
    unclear = [*state["unclear"], *(gap for child in children for gap in child["unclear"])]
    finding: Finding = {
        "id": node,
        "question": state["question"],
        "answer": answer,
        "rationale": rationale,
        "confidence": aggregate_confidence(local, confidences),
        "leaves": [leaf for child in children for leaf in child["leaves"]],
        "unclear": list(dict.fromkeys(unclear)),
        "take": take,
    }
    verdict = {
        "answer": answer,
        "rationale": rationale,
        "confidence": finding["confidence"],
        "local_confidence": local,
        "winner": winner,
        "take": take,
    }
    told = {"take": take, "verdict": verdict, "provenance": [*finding["leaves"]]}
    tell(runtime, node, "settled", told)
    return {"finding": finding}
