"""The roles of TSD's baselines: answerer, sampler and picker, explorer, critic and synthesiser,
and a reviser.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

from dialectree.flow import state as shared
from dialectree.flow.state import Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.inside import root
from dialectree.records import Place


class Sample(TypedDict):
    """One answer among several."""

    number: int
    """From 1."""
    answer: str
    explanation: str
    confidence: float


class Turn(TypedDict):
    """An answer of the explorer, or the critic's objections to it."""

    speaker: Literal["explorer", "critic"]
    round: int
    """From 1."""
    text: str


class Answers(shared.Answering):
    """A question with several answers, or with the exchange of explorer and critic."""

    number: int
    """The number of the sample that a step gives, from 1."""
    samples: Annotated[list[Sample], operator.add]
    transcript: Annotated[list[Turn], operator.add]
    broken_off: bool
    """True when the explorer or the critic failed for good."""


class AnswererReply(BaseModel):
    """A direct answer."""

    explanation: Annotated[str, Field(max_length=2500)]
    answer: Annotated[str, Field(min_length=1, max_length=6000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def answerer(state: shared.Question, runtime: Runtime[Settings]) -> Ruling:
    """Answer at once."""
    place = Place(node=root(), phase="answer", role="answerer")
    return await _ruling(runtime, place, "single_shot/answerer", question=state["question"])


async def sampler(state: Answers, runtime: Runtime[Settings]) -> dict[str, list[Sample]]:
    """Answer at once, at a higher temperature than the answerer, independently of other samples."""
    reply = await ask(
        runtime,
        Place(node=root(), phase="direct", role="sampler", speaker=str(state["number"])),
        "best_of_n/sampler",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
    )
    sample: Sample = {
        "number": state["number"],
        "answer": reply.answer,
        "explanation": reply.explanation,
        "confidence": reply.confidence,
    }
    return {"samples": [sample]}


async def synthesiser(state: Answers, runtime: Runtime[Settings]) -> Ruling:
    """Read the whole exchange and answer the question."""
    return await _ruling(
        runtime,
        Place(node=root(), phase="answer", role="synthesiser"),
        "two_round/synthesiser",
        question=state["question"],
        transcript=state["transcript"],
    )


async def _ruling(runtime: Runtime[Settings], place: Place, prompt: str, **prompt_fields: Any) -> Ruling:
    """Ask for a direct answer, and make it the verdict."""
    reply = await ask(runtime, place, prompt, AnswererReply, max_tokens=1200, **prompt_fields)
    return await settle(
        runtime,
        reply.answer,
        rationale=reply.explanation,
        confidence=reply.confidence,
        confidence_source=place.role,
    )


def _number(value: object) -> object:
    """Return a bare number as a text."""
    return str(value) if type(value) is int else value


class PickerReply(BaseModel):
    """The number of the best answer, and the reason for it."""

    rationale: Annotated[str, Field(max_length=2500)]
    number: Annotated[str, BeforeValidator(_number)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def picker(state: Answers, runtime: Runtime[Settings]) -> Ruling:
    """Pick by accuracy, completeness, clarity and avoidance of misconceptions.

    The node shows why the sample was picked; the ruling gives the sample's own explanation.
    """
    samples = sorted(state["samples"], key=lambda sample: sample["number"])
    by_number = {str(sample["number"]): sample for sample in samples}
    reply = await ask(
        runtime,
        Place(node=root(), phase="answer", role="picker"),
        "best_of_n/picker",
        PickerReply,
        ids={"number": [*by_number]},
        max_tokens=700,
        question=state["question"],
        samples=samples,
    )
    picked = by_number[reply.number]
    ruling = await settle(
        runtime,
        picked["answer"],
        rationale=reply.rationale,
        confidence=reply.confidence,
        confidence_source="picker",
        notes=[f"sample {reply.number} was picked out of {len(samples)}"],
    )
    return {"verdict": {**ruling["verdict"], "rationale": picked["explanation"]}}


async def sole_sample(state: Answers, runtime: Runtime[Settings]) -> Ruling:
    """Take the only answer without a call."""
    (sample,) = state["samples"]
    return await settle(
        runtime,
        sample["answer"],
        rationale=sample["explanation"],
        confidence=sample["confidence"],
        confidence_source="sampler",
        notes=["there was one sample, and nothing to pick from"],
    )


ROUNDS = 2
"""The number of rounds; explorer and critic both speak once in each."""


class ExplorerReply(BaseModel):
    """A whole answer."""

    answer: Annotated[str, Field(min_length=1, max_length=6000)]


async def explorer(state: Answers, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Give a first answer, or respond to the critique."""
    turns = len(state["transcript"])
    round_ = turns // 2 + 1
    reply = await ask(
        runtime,
        Place(node=root(), phase="debate", role="explorer", round=round_, step=turns),
        "two_round/explorer",
        ExplorerReply,
        max_tokens=1000,
        question=state["question"],
        transcript=state["transcript"],
        round=round_,
        rounds=ROUNDS,
    )
    return {"transcript": [{"speaker": "explorer", "round": round_, "text": reply.answer}]}


class CriticReply(BaseModel):
    """What is wrong with an answer."""

    critique: Annotated[str, Field(min_length=1, max_length=6000)]


async def critic(state: Answers, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Look for errors of fact, gaps and misconceptions."""
    turns = len(state["transcript"])
    round_ = turns // 2 + 1
    reply = await ask(
        runtime,
        Place(node=root(), phase="debate", role="critic", round=round_, step=turns),
        "two_round/critic",
        CriticReply,
        max_tokens=1000,
        question=state["question"],
        transcript=state["transcript"],
        round=round_,
        rounds=ROUNDS,
    )
    return {"transcript": [{"speaker": "critic", "round": round_, "text": reply.critique}]}


class Revised(shared.Answering):
    """A question whose first answer gets a critique and is then revised.

    ``critique`` is missing or "" if the critique failed.
    """

    answer: str
    critique: str


async def first_answer(state: Revised, runtime: Runtime[Settings]) -> dict[str, str]:
    """Answer at once, for a critic to read."""
    reply = await ask(
        runtime,
        Place(node=root(), phase="debate", role="answerer"),
        "single_shot/answerer",
        AnswererReply,
        max_tokens=1200,
        question=state["question"],
    )
    return {"answer": reply.answer}


async def only_critique(state: Revised, runtime: Runtime[Settings]) -> dict[str, str]:
    """Look for errors, gaps and misconceptions in the answer."""
    reply = await ask(
        runtime,
        Place(node=root(), phase="debate", role="critic", step=1),
        "one_critique/critic",
        CriticReply,
        max_tokens=700,
        question=state["question"],
        answer=state["answer"],
    )
    return {"critique": reply.critique}


async def reviser(state: Revised, runtime: Runtime[Settings]) -> Ruling:
    """Revise the answer by the critique; keep the answer if the critique is wrong."""
    return await _ruling(
        runtime,
        Place(node=root(), phase="answer", role="reviser"),
        "one_critique/reviser",
        question=state["question"],
        answer=state["answer"],
        critique=state.get("critique") or "",
    )
