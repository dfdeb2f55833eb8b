"""A leaf of TSD: settled by its own debate, by a role-switching debate or by an argument tree.

One protocol inside another; docs/decisions/leaf-protocol.md says what goes through.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from dialectree.context import Context, settings
from dialectree.graphs.adaptive_reasoning_tree import graph as adaptive_reasoning_tree
from dialectree.graphs.role_switching_debate import five_phases
from dialectree.graphs.ruling import ruled
from dialectree.graphs.tree_structured_debate import leaf_debate
from dialectree.nodes.adaptive_reasoning_tree.weighing import Weighing
from dialectree.nodes.kinds import Judged
from dialectree.nodes.role_switching_debate.verdict import Debated
from dialectree.nodes.tree_structured_debate.leaf_sides import (
    Claim,
    claiming,
    decided,
    pairing,
    verified,
)
from dialectree.nodes.tree_structured_debate.sides import is_polar


class Leaf(leaf_debate.Leaf, five_phases.Pair, Debated, Claim, Weighing, Judged):
    """A leaf on its way to a finding."""


def who_settles(
    state: Leaf, runtime: Runtime[Context]
) -> Literal["leaf_debate", "pairing", "claiming"]:
    """As the settings say; an argument tree needs a yes-or-no question, and grows only once."""
    protocol = settings(runtime).leaf_protocol
    if protocol == "rsd":
        return "pairing"
    if protocol == "art" and state["take"] == 1 and is_polar(state["question"]):
        return "claiming"
    return "leaf_debate"


builder = StateGraph(
    Leaf, context_schema=Context, input_schema=leaf_debate.Leaf, output_schema=Judged
)
builder.add_node("leaf_debate", leaf_debate.graph)
builder.add_node("pairing", pairing)
builder.add_node("five_phases", five_phases.graph)
builder.add_node("decided", decided)
builder.add_node("claiming", claiming)
builder.add_node("argument_tree", adaptive_reasoning_tree.leaf)
builder.add_node("verified", verified)
builder.add_conditional_edges(START, ruled(who_settles))
builder.add_edge("leaf_debate", END)
builder.add_edge("pairing", "five_phases")
builder.add_edge("five_phases", "decided")
builder.add_edge("decided", END)
builder.add_edge("claiming", "argument_tree")
builder.add_edge("argument_tree", "verified")
builder.add_edge("verified", END)

graph: CompiledStateGraph[Leaf, Context, leaf_debate.Leaf, Judged] = builder.compile(name="leaf")
