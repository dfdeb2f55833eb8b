"""The judge of a role-switching debate: a model apart from the debaters, or a person.

RSD, Method, phase V. The judge names a label and the answer's text; whether both name the same
candidate is checked, for the paper lost a debate that was won to a verdict mapped to the wrong one.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, BeforeValidator, Field, JsonValue
from typing_extensions import TypedDict

from dialectree.context import settings
from dialectree.events import tell
from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import letter, ruling
from dialectree.nodes.role_switching_debate.candidates import (
    LONGEST,
    Side,
    offered,
    other,
    read_from,
    tokens,
)
from dialectree.nodes.role_switching_debate.exchange import Exchange, blocks
from dialectree.nodes.role_switching_debate.state import Settings

UNCERTAIN = "uncertain"
Orders = Literal["as_held", "swapped"]
"""Whose words the judge reads first within a phase: those of side a, or those of side b."""


def _letter(value: object) -> object:
    return letter(value) if isinstance(value, str) else value


class JudgeReply(BaseModel):
    """A ruling on a debate, after the reasons for it."""

    rationale: Annotated[str, Field(min_length=1, max_length=3000)]
    label: Annotated[str, BeforeValidator(_letter)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    confidence: Annotated[float, Field(ge=0, le=1)] | None


class Ruled(TypedDict):
    """One ruling, as it came."""

    order: Orders
    label: str
    answer: str
    rationale: str
    confidence: float | None
    candidate: str | None
    """The label whose text the answer is, "uncertain" included; None where it is not its text."""


class Rulings(TypedDict):
    """What judges leave."""

    rulings: Annotated[list[Ruled], operator.add]


class ToRule(Exchange):
    """What a judge reads."""

    id: str
    question: str
    take: int
    background: list[str]
    first: Side
    """Whose words come first, where nothing swaps them."""
    rulings: Annotated[list[Ruled], operator.add]


def judge(order: Orders) -> Step:
    """Phase 5: weighs soundness and admitted doubts, reading the sides in one ``order``."""

    async def judge(state: ToRule, runtime: Runtime[Settings]) -> Rulings:
        return {"rulings": [await _rule(state, runtime, order)]}

    return judge


def judge_again(order: Orders) -> Step:
    """The one repair of a ruling whose label and answer do not name the same candidate."""

    async def judge_again(state: ToRule, runtime: Runtime[Settings]) -> Rulings:
        return {"rulings": [await _rule(state, runtime, order, last_ruling(state, order))]}

    return judge_again


def last_ruling(state: Rulings, order: Orders) -> Ruled | None:
    """The ruling of one order that counts: its last one."""
    return next((r for r in reversed(state["rulings"]) if r["order"] == order), None)


async def _rule(
    state: ToRule, runtime: Runtime[Settings], order: Orders, mismatch: Ruled | None = None
) -> Ruled:
    context = settings(runtime, Settings)
    first = state["first"] if order == "as_held" else other(state["first"])
    candidates = read_from(first, state["candidates"])
    labels = sorted(candidates)
    neither = [UNCERTAIN] if context.allow_uncertain else []

    def named(reply: JudgeReply) -> str | None:
        texts = {**candidates, **{label: label for label in neither}}
        return ruling(reply.label, reply.answer, texts)

    step = int(mismatch is not None)
    who = "" if order == "as_held" else order
    reply = await ask(
        runtime,
        Place(state["id"], "judge", "judgment", step, 1 + step, state["take"], who),
        "role_switching_debate/judge",
        JudgeReply,
        ids={"label": [*labels, *neither]},
        suggested=offered([*(candidates[label] for label in labels), *neither]),
        names=named,
        max_tokens=900 + tokens(*candidates.values()),
        question=state["question"],
        background=state["background"],
        candidates=candidates,
        blocks=blocks(state, until="uncertainty", first=first),
        switched=bool(state["switches"]),
        admitted=bool(state["reports"]),
        allow_uncertain=context.allow_uncertain,
        mismatch=mismatch,
    )
    return {
        "order": order,
        "label": reply.label,
        "answer": reply.answer,
        "rationale": reply.rationale,
        "confidence": reply.confidence,
        "candidate": named(reply),
    }


async def person(state: ToRule, runtime: Runtime[Settings]) -> Rulings:
    """A person rules: the run stops with the transcript and goes on with a label.

    Asks again until the label is one of those offered; an empty one rules nothing. Nothing else
    happens here: the step runs again from its start when the answer comes.
    """
    context = settings(runtime, Settings)
    candidates = read_from(state["first"], state["candidates"])
    labels = [*sorted(candidates), *([UNCERTAIN] if context.allow_uncertain else [])]
    offered_labels = ", ".join(labels)
    request = f"Which answer is right? Reply with one of: {offered_labels}"
    asked = {
        "node": state["id"],
        "kind": "judge",
        "question": state["question"],
        "transcript": _readable(state, candidates),
        "request": request,
        "labels": offered_labels,
    }
    said = named_by_person(interrupt(asked))
    while said and said not in labels:
        again = f"{said[:80]!r} is no such label. {request}"
        said = named_by_person(interrupt({**asked, "request": again}))
    tell(runtime, state["id"], "clarified", ruled_by_person(said))
    ruled: Ruled = {
        "order": "as_held",
        "label": said,
        "answer": candidates.get(said, ""),
        "rationale": "",
        "confidence": None,
        "candidate": said or None,
    }
    return {"rulings": [ruled]}


def ruled_by_person(label: str) -> dict[str, JsonValue]:
    """What is told of a person's ruling; an empty label rules nothing."""
    note = f"the person ruled {label}" if label else "the person gave no ruling"
    return {"of": "judge", "note": note, "answer": label}


def named_by_person(answer: object) -> str:
    """What the person said; a host may resume with the label or with ``{"label": …}``."""
    if isinstance(answer, Mapping):
        answer = answer.get("label", answer)
    return letter(str(answer or ""))


def _readable(state: ToRule, candidates: Mapping[str, str]) -> str:
    """The whole exchange as a text for a person."""
    parts = [f"{label}: {_line(text)}" for label, text in candidates.items()]
    for block in blocks(state, until="uncertainty", first=state["first"]):
        parts.append(f"\nDebater {block['label']}, {block['phase']}")
        parts += [f"  {_line(name)}: {_line(text)}" for name, text in block["lines"]]
    return "\n".join(parts)


def _line(text: str) -> str:
    """Text on one line: what one debater wrote cannot pass for the other's."""
    return " ".join(text.split())
