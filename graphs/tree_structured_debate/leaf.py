"""A leaf of TSD: settled by its own debate, by a role-switching debate or by an argument tree.

One protocol inside another; docs/decisions/leaf-protocol.md says what goes through.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.graphs.adaptive_reasoning_tree import graph as adaptive_reasoning_tree
from dialectree.graphs.role_switching_debate import five_phases
from dialectree.graphs.tree_structured_debate import leaf_debate
from dialectree.nodes.tree_structured_debate.findings import Judged
from dialectree.nodes.tree_structured_debate.leaf_sides import (
    BorrowedLeaf,
    claiming,
    decided,
    pairing,
    verified,
)
from dialectree.nodes.tree_structured_debate.sides import is_polar
from dialectree.nodes.tree_structured_debate.state import Leaf, Settings


def who_settles(state: Leaf, settings: Settings) -> Literal["leaf_debate", "pairing", "claiming"]:
    """As the settings say; an argument tree needs a yes-or-no question, and grows only once."""
    if settings.leaf_protocol == "rsd":
        return "pairing"
    if settings.leaf_protocol == "art" and state["take"] == 1 and is_polar(state["question"]):
        return "claiming"
    return "leaf_debate"


flow = Flow(BorrowedLeaf, settings=Settings, input=Leaf, output=Judged)
flow.graph("leaf_debate", leaf_debate.graph)
flow.step("pairing", pairing)
flow.graph("five_phases", five_phases.graph, Settings.leaf_settings)
flow.step("decided", decided)
flow.step("claiming", claiming)
flow.graph("argument_tree", adaptive_reasoning_tree.leaf, Settings.leaf_settings)
flow.step("verified", verified)

flow.route(START, who_settles)
flow.then("leaf_debate", END)
flow.then("pairing", "five_phases", "decided", END)
flow.then("claiming", "argument_tree", "verified", END)
graph = flow.compile("leaf")
