"""Self-consistency: independent direct answers, and the one that most of them give.

A baseline of RSD: nine samples are as many calls as one role-switching debate makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.events import tell
from dialectree.graphs.afresh import afresh
from dialectree.graphs.role_switching_debate import Question, require_gold
from dialectree.graphs.ruling import ruled
from dialectree.nodes.candidates import Candidate, checked, labelled
from dialectree.nodes.conclusion import conclusion, unresolved
from dialectree.nodes.direct_answerer import DROPPED, UNSAMPLED, Sampled, ToSample, direct_answerer
from dialectree.nodes.failures import may_fail
from dialectree.nodes.opening import require_question
from dialectree.nodes.plurality import plurality
from dialectree.state import Debate, Ruling, Unruled

SAMPLES = 9
"""Where the settings name no other number."""


class Opened(TypedDict):
    """What a question begins with."""

    id: str
    options: list[Candidate]
    asked: int
    """Samples that are asked for."""


class SelfConsistency(Debate, Opened, Sampled):
    """A question and the direct answers to it."""


class Begun(Opened, Unruled):
    """The same, without a sample yet, whatever a host's thread still holds of an earlier one."""

    samples: Overwrite
    dropped: Overwrite


def require(given: Mapping[str, Any], context: Context) -> None:
    """InputError where there is no question, no choice between options, or no such gold answer."""
    require_question(given)
    checked(given.get("options") or [])
    require_gold(given)


async def opening(state: Question, runtime: Runtime[Context]) -> Begun:
    """The question, and its options with their letters."""
    context = settings(runtime)
    require(state, context)
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "leaf"})
    options = labelled(checked(state.get("options") or []))
    asked = context.samples or SAMPLES
    return {
        "id": "0",
        "options": options,
        "asked": asked,
        "samples": Overwrite([]),
        "dropped": Overwrite(0),
        "verdict": None,
    }


def after_opening(state: SelfConsistency) -> list[Send]:
    """All samples at once."""
    asked: list[ToSample] = [
        {
            "id": state["id"],
            "question": state["question"],
            "options": state["options"],
            "number": number,
        }
        for number in range(1, state["asked"] + 1)
    ]
    return [Send("answerer", sample) for sample in asked]


async def sampled(state: SelfConsistency) -> None:
    """All samples are there, or lost."""


def after_samples(state: SelfConsistency) -> Literal["plurality", "unresolved"]:
    """One answer is enough for a vote; a lost one counts for nobody."""
    return "plurality" if state["samples"] else "unresolved"


builder = StateGraph(
    SelfConsistency, context_schema=Context, input_schema=Question, output_schema=Ruling
)
builder.add_node("opening", opening)
builder.add_node("answerer", may_fail(direct_answerer("answerer"), UNSAMPLED, DROPPED))
builder.add_node("sampled", sampled)
builder.add_node("plurality", plurality)
builder.add_node("unresolved", unresolved)
builder.add_node("conclusion", conclusion)
builder.add_edge(START, "opening")
builder.add_conditional_edges("opening", ruled(after_opening), ["answerer"])
builder.add_edge("answerer", "sampled")
builder.add_conditional_edges("sampled", ruled(after_samples))
builder.add_edge("plurality", "conclusion")
builder.add_edge("unresolved", "conclusion")
builder.add_edge("conclusion", END)

graph: CompiledStateGraph[SelfConsistency, Context, Question, Ruling] = afresh(
    builder.compile(name="self_consistency")
)
