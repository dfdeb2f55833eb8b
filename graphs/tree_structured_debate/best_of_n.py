"""Best of n: independent answers side by side, then one pick among them. A baseline of TSD.

Paper: Tree-Structured Debate, Experiments (Best-of-5): five samples at 0.8, the pick at 0.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from dialectree.context import Context, settings
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.opening import Afresh
from dialectree.nodes.opening import opening as opened
from dialectree.nodes.tree_structured_debate.picker import picker, sole_sample
from dialectree.nodes.tree_structured_debate.sampler import Sampled, ToSample, sampler
from dialectree.state import Debate, Question, Ruling
from dialectree.steps import conclusion, unresolved

SAMPLES = 5
"""As many as in the paper, where the settings name no other number."""


class BestOfN(Debate, Sampled):
    """A question and the answers to it."""

    failed: bool


class Opened(Afresh):
    """No sample yet."""

    samples: Overwrite


async def opening(state: Question, runtime: Runtime[Context]) -> Opened:
    """The question."""
    return {**await opened(state, runtime), "samples": Overwrite([])}


def after_opening(state: BestOfN, runtime: Runtime[Context]) -> list[Send]:
    """All samplers at once."""
    count = settings(runtime).samples or SAMPLES
    asked: list[ToSample] = [
        {"question": state["question"], "number": number} for number in range(1, count + 1)
    ]
    return [Send("sampler", sample) for sample in asked]


async def sampled(state: BestOfN) -> None:
    """All samples are there, or lost."""


def after_samples(state: BestOfN) -> Literal["picker", "sole_sample", "unresolved"]:
    """The pick is made among the samples that came; it takes two to choose between."""
    if not state["samples"]:
        return "unresolved"
    return "sole_sample" if len(state["samples"]) == 1 else "picker"


def after_picker(state: BestOfN) -> Literal["unresolved", "conclusion"]:
    """Without a pick there is no answer: any other choice would be a guess."""
    return "unresolved" if state.get("failed") else "conclusion"


unsampled: Sampled = {"samples": []}

builder = StateGraph(BestOfN, context_schema=Context, input_schema=Question, output_schema=Ruling)
builder.add_node("opening", opening)
builder.add_node("sampler", may_fail(sampler, unsampled))
builder.add_node("sampled", sampled)
builder.add_node("picker", may_fail(picker, FAILED))
builder.add_node("sole_sample", sole_sample)
builder.add_node("unresolved", unresolved)
builder.add_node("conclusion", conclusion)
builder.add_edge(START, "opening")
builder.add_conditional_edges("opening", ruled(after_opening), ["sampler"])
builder.add_edge("sampler", "sampled")
builder.add_conditional_edges("sampled", ruled(after_samples))
builder.add_conditional_edges("picker", ruled(after_picker))
builder.add_edge("sole_sample", "conclusion")
builder.add_edge("unresolved", "conclusion")
builder.add_edge("conclusion", END)

graph: CompiledStateGraph[BestOfN, Context, Question, Ruling] = afresh(
    builder.compile(name="best_of_n")
)
