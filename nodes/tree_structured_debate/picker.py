"""The picker: reads several answers to one question and names the best of them."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.flow.state import Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.state import BestOfN, Settings
from dialectree.records import Place


def _number(value: object) -> object:
    """Return a bare number as a text."""
    return str(value) if type(value) is int else value


class PickerReply(BaseModel):
    """The number of the best answer, and the reason for it."""

    rationale: Annotated[str, Field(max_length=2500)]
    number: Annotated[str, BeforeValidator(_number)]
    confidence: Annotated[float, Field(ge=0, le=1)]


async def picker(state: BestOfN, runtime: Runtime[Settings]) -> Ruling:
    """Pick by accuracy, completeness, clarity and avoidance of misconceptions.

    The node shows why the sample was picked; the ruling gives the sample's own explanation.
    """
    samples = sorted(state["samples"], key=lambda sample: sample["number"])
    by_number = {str(sample["number"]): sample for sample in samples}
    reply = await ask(
        runtime,
        Place(node="0", phase="answer", role="picker"),
        "best_of_n/picker",
        PickerReply,
        ids={"number": [*by_number]},
        max_tokens=700,
        question=state["question"],
        samples=samples,
    )
    picked = by_number[reply.number]
    ruling = settle(
        runtime,
        picked["answer"],
        rationale=reply.rationale,
        confidence=reply.confidence,
        confidence_source="picker",
        notes=[f"sample {reply.number} was picked out of {len(samples)}"],
    )
    return {"verdict": {**ruling["verdict"], "rationale": picked["explanation"]}}


async def sole_sample(state: BestOfN, runtime: Runtime[Settings]) -> Ruling:
    """Take the only answer. There is nothing to pick from, so nobody is asked."""
    (sample,) = state["samples"]
    return settle(
        runtime,
        sample["answer"],
        rationale=sample["explanation"],
        confidence=sample["confidence"],
        confidence_source="sampler",
        notes=["there was one sample, and nothing to pick from"],
    )
