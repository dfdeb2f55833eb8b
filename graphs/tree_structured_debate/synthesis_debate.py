"""The synthesis debate of TSD: concise against full, side by side, then a judge chooses."""

from __future__ import annotations

import operator
from typing import Annotated, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.graphs.ruling import ruled
from dialectree.nodes.failures import CONTRADICTED, FAILED, may_fail, missing
from dialectree.nodes.kinds import Finding, Judged
from dialectree.nodes.tree_structured_debate.synthesis_debater import (
    STYLES,
    Candidate,
    Gone,
    Style,
    synthesis_debater,
)
from dialectree.nodes.tree_structured_debate.synthesis_judge import synthesis_judge, unjudged


class Parts(TypedDict):
    """What a synthesis debate puts together."""

    id: str
    question: str
    take: int
    unclear: list[str]
    """What the question leaves open."""
    findings: list[Finding]
    """What the children found, in the order of the tree."""


class SynthesisDebate(Parts, Judged):
    """A synthesis debate while it lasts."""

    round: Annotated[int, operator.add]
    candidates: Annotated[list[Candidate], operator.add]
    gone: Annotated[list[Style], operator.add]
    """Debaters who failed for good."""
    failed: NotRequired[bool]
    """True when the judge failed for good."""
    contradicted: NotRequired[bool]
    """True when the judge's winner and answer named two texts."""


class NextRound(TypedDict):
    """One round more."""

    round: int


async def next_round(state: Parts) -> NextRound:
    """Counts the rounds; both debaters have spoken, or are gone."""
    return {"round": 1}


Way = Literal["concise", "full", "synthesis_judge", "missing"]


def after_round(state: SynthesisDebate, runtime: Runtime[Context]) -> list[Way]:
    """Both write, round after round, then the judge chooses.

    There is nothing to put together where no child has a (new) answer, or nobody wrote a text.
    """
    news = [f for f in state["findings"] if f["answer"] is not None and f["take"] == state["take"]]
    writers: list[Way] = [style for style in STYLES if style not in state["gone"]]
    if news and writers and state["round"] <= settings(runtime).synthesis_rounds:
        return writers
    return ["synthesis_judge"] if news and state["candidates"] else ["missing"]


def after_synthesis_judge(state: SynthesisDebate) -> Literal["unjudged", "missing", "__end__"]:
    """Without a judge a text goes upward unrated; a contradictory ruling settles nothing."""
    if state.get("contradicted"):
        return "missing"
    return "unjudged" if state.get("failed") else "__end__"


concise_gone: Gone = {"gone": ["concise"]}
full_gone: Gone = {"gone": ["full"]}

builder = StateGraph(
    SynthesisDebate, context_schema=Context, input_schema=Parts, output_schema=Judged
)
builder.add_node("next_round", next_round)
builder.add_node("concise", may_fail(synthesis_debater("concise"), concise_gone))
builder.add_node("full", may_fail(synthesis_debater("full"), full_gone))
builder.add_node("synthesis_judge", may_fail(synthesis_judge, FAILED, contradicted=CONTRADICTED))
builder.add_node("unjudged", unjudged)
builder.add_node("missing", missing)
builder.add_edge(START, "next_round")
builder.add_conditional_edges(
    "next_round", ruled(after_round), ["concise", "full", "synthesis_judge", "missing"]
)
builder.add_edge("concise", "next_round")
builder.add_edge("full", "next_round")
builder.add_conditional_edges("synthesis_judge", ruled(after_synthesis_judge))
builder.add_edge("unjudged", END)
builder.add_edge("missing", END)

graph: CompiledStateGraph[SynthesisDebate, Context, Parts, Judged] = builder.compile(
    name="synthesis_debate"
)
