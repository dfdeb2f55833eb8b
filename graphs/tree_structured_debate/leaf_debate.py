"""The leaf debate of TSD: two debaters alternate for a fixed number of rounds; a judge rules."""

from __future__ import annotations

import operator
from typing import Annotated, Literal, NotRequired

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.graphs.ruling import ruled
from dialectree.nodes.failures import FAILED, may_fail, missing
from dialectree.nodes.kinds import Judged
from dialectree.nodes.tree_structured_debate.leaf_debater import Statement, leaf_debater
from dialectree.nodes.tree_structured_debate.leaf_judge import leaf_judge
from dialectree.nodes.tree_structured_debate.sides import opener


class Leaf(TypedDict):
    """What a leaf debate is about."""

    id: str
    question: str
    path: list[str]
    """The questions from the root down to the leaf's parent."""
    depth: int
    take: int
    """1, or 2 when fresh debaters visit the leaf again."""
    facts: list[str]
    """What other leaves settled; only in a second pass."""
    unclear: list[str]
    """What the question leaves open."""


class LeafDebate(Leaf, Judged):
    """A leaf debate while it lasts."""

    transcript: Annotated[list[Statement], operator.add]
    failed: NotRequired[bool]
    """True when a debater or the judge failed for good."""


def who_opens(state: LeafDebate, runtime: Runtime[Context]) -> Literal["debater_a", "debater_b"]:
    """Drawn from the seed."""
    first = opener(settings(runtime).seed, state["id"], state["take"], state["question"])
    return "debater_a" if first == "A" else "debater_b"


def after_debater_a(
    state: LeafDebate, runtime: Runtime[Context]
) -> Literal["debater_b", "leaf_judge", "missing"]:
    """B answers, unless the debate is over."""
    return over(state, runtime) or "debater_b"


def after_debater_b(
    state: LeafDebate, runtime: Runtime[Context]
) -> Literal["debater_a", "leaf_judge", "missing"]:
    """A answers, unless the debate is over."""
    return over(state, runtime) or "debater_a"


def over(state: LeafDebate, runtime: Runtime[Context]) -> Literal["leaf_judge", "missing"] | None:
    """The judge speaks when the rounds are spent. Without one of its debaters a leaf is missing."""
    if state.get("failed"):
        return "missing"
    spent = len(state["transcript"]) >= 2 * settings(runtime).leaf_rounds
    return "leaf_judge" if spent else None


def after_leaf_judge(state: LeafDebate) -> Literal["missing", "__end__"]:
    """Without a judge the leaf has no answer."""
    return "missing" if state.get("failed") else "__end__"


builder = StateGraph(LeafDebate, context_schema=Context, input_schema=Leaf, output_schema=Judged)
builder.add_node("debater_a", may_fail(leaf_debater("A"), FAILED))
builder.add_node("debater_b", may_fail(leaf_debater("B"), FAILED))
builder.add_node("leaf_judge", may_fail(leaf_judge, FAILED))
builder.add_node("missing", missing)
builder.set_conditional_entry_point(ruled(who_opens))
builder.add_conditional_edges("debater_a", ruled(after_debater_a))
builder.add_conditional_edges("debater_b", ruled(after_debater_b))
builder.add_conditional_edges("leaf_judge", ruled(after_leaf_judge))
builder.add_edge("missing", END)

graph: CompiledStateGraph[LeafDebate, Context, Leaf, Judged] = builder.compile(name="leaf_debate")
