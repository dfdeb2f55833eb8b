"""Two-round debate: an explorer answers, a critic attacks, twice; then one synthesis.

A baseline of TSD. Paper: Tree-Structured Debate, Experiments (Two-round debate).
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.opening import Afresh
from dialectree.nodes.opening import opening as opened
from dialectree.nodes.tree_structured_debate.critic import critic
from dialectree.nodes.tree_structured_debate.explorer import ROUNDS, Spoken, explorer
from dialectree.nodes.tree_structured_debate.synthesiser import synthesiser
from dialectree.state import Debate, Question, Ruling
from dialectree.steps import conclusion, unresolved


class TwoRound(Debate, Spoken):
    """A question and what explorer and critic say of it."""

    broken_off: bool
    """True when the explorer or the critic failed for good."""
    failed: bool
    """True when the synthesis did."""


class Opened(Afresh):
    """Nothing is said yet."""

    transcript: Overwrite
    broken_off: bool


async def opening(state: Question, runtime: Runtime[Context]) -> Opened:
    """The question."""
    afresh = await opened(state, runtime)
    return {**afresh, "transcript": Overwrite([]), "broken_off": False}


class BrokenOff(TypedDict):
    """What a speaker leaves who failed for good."""

    broken_off: bool


def after_explorer(state: TwoRound) -> Literal["critic", "synthesiser", "unresolved"]:
    """The critic reads every answer. A debate that breaks off is judged by what was said."""
    if state.get("broken_off"):
        return "synthesiser" if state["transcript"] else "unresolved"
    return "critic"


def after_critic(state: TwoRound) -> Literal["explorer", "synthesiser"]:
    """The explorer responds until the rounds are spent."""
    spent = len(state["transcript"]) >= 2 * ROUNDS
    return "synthesiser" if spent or state.get("broken_off") else "explorer"


def after_synthesiser(state: TwoRound) -> Literal["unresolved", "conclusion"]:
    """Without a synthesis there is no answer."""
    return "unresolved" if state.get("failed") else "conclusion"


gone: BrokenOff = {"broken_off": True}

builder = StateGraph(TwoRound, context_schema=Context, input_schema=Question, output_schema=Ruling)
builder.add_node("opening", opening)
builder.add_node("explorer", may_fail(explorer, gone))
builder.add_node("critic", may_fail(critic, gone))
builder.add_node("synthesiser", may_fail(synthesiser, FAILED))
builder.add_node("unresolved", unresolved)
builder.add_node("conclusion", conclusion)
builder.add_edge(START, "opening")
builder.add_edge("opening", "explorer")
builder.add_conditional_edges("explorer", ruled(after_explorer))
builder.add_conditional_edges("critic", ruled(after_critic))
builder.add_conditional_edges("synthesiser", ruled(after_synthesiser))
builder.add_edge("unresolved", "conclusion")
builder.add_edge("conclusion", END)

graph: CompiledStateGraph[TwoRound, Context, Question, Ruling] = afresh(
    builder.compile(name="two_round")
)
