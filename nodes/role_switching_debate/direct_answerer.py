"""Direct answers to a question: samples of one model that nobody debates."""

from __future__ import annotations

import operator
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import match_candidate, normal
from dialectree.nodes.role_switching_debate.candidates import (
    LONGEST,
    Candidate,
    offered,
    texts,
    tokens,
)
from dialectree.nodes.role_switching_debate.state import Settings


class DirectReply(BaseModel):
    """An answer, after a few words of reasoning."""

    reasoning: Annotated[str, Field(max_length=3000)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]


class Sample(TypedDict):
    """One direct answer."""

    number: int
    """From 1."""
    label: str | None
    """The option that it names; None where the question is open."""
    answer: str
    reasoning: str


class Sampled(TypedDict):
    """What samples leave."""

    samples: Annotated[list[Sample], operator.add]
    dropped: Annotated[int, operator.add]
    """Samples that a person took out: nobody asked for them."""


DROPPED: Sampled = {"samples": [], "dropped": 1}


class ToSample(TypedDict):
    """What one sample is asked."""

    id: str
    question: str
    options: list[Candidate]
    number: int


def direct_answerer(role: str) -> Step:
    """One sample at 0.7, from the model that plays ``role``."""

    async def direct_answerer(state: ToSample, runtime: Runtime[Settings]) -> Sampled:
        choice = texts(state["options"])

        def wrong(reply: DirectReply) -> str | None:
            if choice and match_candidate(reply.answer, choice) is None:
                return "answer: it names none of the options to choose from, or more than one"
            return None

        who = str(state["number"])
        reply = await ask(
            runtime,
            Place(state["id"], role, "direct", 0, who=who),
            "role_switching_debate/direct_answer",
            DirectReply,
            suggested=offered([*choice.values()]),
            check=wrong,
            max_tokens=700 + tokens(*choice.values()),
            question=state["question"],
            options=choice,
        )
        label = match_candidate(reply.answer, choice) if choice else None
        sample: Sample = {
            "number": state["number"],
            "label": label,
            "answer": choice[label] if label else reply.answer,
            "reasoning": reply.reasoning,
        }
        return {"samples": [sample], "dropped": 0}

    return direct_answerer


def votes(samples: list[Sample]) -> dict[str, list[Sample]]:
    """The samples by what they say, most votes first; of two alike the one that came first.

    Options count by their letter, open answers by their normal form.
    """
    found: dict[str, list[Sample]] = {}
    for sample in sorted(samples, key=lambda sample: sample["number"]):
        found.setdefault(sample["label"] or normal(sample["answer"]), []).append(sample)
    return dict(sorted(found.items(), key=lambda vote: -len(vote[1])))
