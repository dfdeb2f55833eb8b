"""The synthesis: a concise and a full debater merge the children's answers; a judge chooses."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow import Step
from dialectree.models.door import CopyCheck, ask
from dialectree.models.run import run_of
from dialectree.nodes.tree_structured_debate.findings import make_finding, settle
from dialectree.nodes.tree_structured_debate.sides import (
    Side,
    concise_is_a,
    is_polar,
    leading,
    names_another,
    says_otherwise,
)
from dialectree.nodes.tree_structured_debate.state import (
    STYLES,
    Finding,
    Judged,
    Settings,
    Style,
    SynthesisDebate,
)
from dialectree.nodes.tree_structured_debate.tree import aggregate_confidence, synthesis_tokens, words
from dialectree.records import Place


class SynthesisReply(BaseModel):
    """One way of putting the children's answers together."""

    integration: Annotated[str, Field(min_length=1, max_length=6000)]
    assumptions: Annotated[str, Field(max_length=1500)]


def remaining(state: SynthesisDebate) -> list[dict[str, str]]:
    """Return the last text of each debater who has not failed, or of both if both have failed."""
    last = state["candidates"]
    present = [style for style in STYLES if style not in state["gone"]] or STYLES
    return [last[style] for style in present if style in last]


def message_tokens(findings: list[Finding]) -> int:
    """Return the token limit of a message about ``findings``; it grows with the number of leaves."""
    return synthesis_tokens(sum(len(finding["leaves"]) for finding in findings))


def synthesis_debater(style: Style) -> Step:
    """Return the debater for ``style``; from the second round on it reads the other's text."""

    async def synthesis_debater(state: SynthesisDebate, runtime: Runtime[Settings]) -> dict[str, object]:
        node, round_, take = state["id"], state["round"], state["take"]
        limit = message_tokens(state["findings"])
        latest = {text["style"]: text["integration"] for text in remaining(state)}
        theirs = latest.get("full" if style == "concise" else "concise")
        parts = [
            text
            for finding in state["findings"]
            for text in (finding["answer"], finding["rationale"])
            if text
        ]
        reply = await ask(
            runtime,
            Place(
                node=node,
                phase="synthesis",
                role="synthesis_debater",
                speaker=style,
                round=round_,
                step=round_,
                take=take,
            ),
            "tree_structured_debate/synthesis_debater",
            SynthesisReply,
            copy_check=CopyCheck(
                [(text == theirs, text) for text in (latest.get(style), theirs) if text],
                common=[*parts, state["question"]],
            ),
            max_tokens=limit + 200,
            style=style,
            question=state["question"],
            children=state["findings"],
            own=latest.get(style),
            opponent=theirs,
            word_limit=words(limit),
            polar=is_polar(state["question"]),
        )
        return {"candidates": {style: {"style": style, **reply.model_dump()}}}

    return synthesis_debater


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
    texts = remaining(state)
    if not concise_is_a(runtime.context.seed, node, take, question):
        texts.reverse()
    candidates = dict(zip("AB", texts, strict=False))
    integrations = {label: text["integration"] for label, text in candidates.items()}

    def conflict(reply: SynthesisJudgeReply) -> str | None:
        if polar:
            side = leading(integrations[reply.winner])
            return says_otherwise(reply.answer, side, f"text {reply.winner}")
        return names_another(reply.winner, reply.answer, integrations)

    place = Place(node=node, phase="synthesis", role="synthesis_judge", step=state["round"] + 1, take=take)
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
    # A person changes the text alone: the winner in the reply is still the model's.
    won = None if run_of(runtime).overrides.at(place) else leading(integrations[reply.winner])
    local = None if run_of(runtime).overrides.is_ruled(node, take) else reply.confidence
    return settle(
        runtime, make_parent_finding(state, reply.answer, reply.rationale, local, won), local, winner
    )


async def settle_without_judge(state: SynthesisDebate, runtime: Runtime[Settings]) -> Judged:
    """Pass the concise text upward unrated, or the full text if only the full text is left."""
    text = remaining(state)[0]
    rationale = f"The synthesis judge gave no ruling; the {text['style']} text stands."
    return settle(runtime, make_parent_finding(state, text["integration"], rationale, None), None)


def make_parent_finding(
    state: SynthesisDebate, answer: str, rationale: str, local: float | None, side: Side | None = None
) -> Judged:
    """Return the finding of an inner node, with the confidence from ``aggregate_confidence``."""
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
