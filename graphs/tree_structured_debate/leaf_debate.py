"""The leaf debate of TSD: two debaters alternate for a fixed number of rounds; a judge rules."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.nodes.tree_structured_debate.findings import Judged
from dialectree.nodes.tree_structured_debate.leaf_debater import leaf_debater
from dialectree.nodes.tree_structured_debate.leaf_judge import leaf_judge
from dialectree.nodes.tree_structured_debate.settling import missing
from dialectree.nodes.tree_structured_debate.sides import opener
from dialectree.nodes.tree_structured_debate.state import Leaf, LeafDebate, Settings


def who_opens(state: LeafDebate, settings: Settings) -> Literal["debater_a", "debater_b"]:
    """Draw the opener from the seed."""
    first = opener(settings.seed, state["id"], state["take"], state["question"])
    return "debater_a" if first == "A" else "debater_b"


def after_debater_a(state: LeafDebate, settings: Settings) -> Literal["debater_b", "leaf_judge"]:
    """B answers until the rounds are spent."""
    return "leaf_judge" if spent(state, settings) else "debater_b"


def after_debater_b(state: LeafDebate, settings: Settings) -> Literal["debater_a", "leaf_judge"]:
    """A answers until the rounds are spent."""
    return "leaf_judge" if spent(state, settings) else "debater_a"


def spent(state: LeafDebate, settings: Settings) -> bool:
    """Return whether both debaters have spoken in each round."""
    return len(state["transcript"]) >= 2 * settings.leaf_rounds


flow = Flow(LeafDebate, settings=Settings, input=Leaf, output=Judged, unresolved="missing")
flow.role("debater_a", leaf_debater("A"), required=True)
flow.role("debater_b", leaf_debater("B"), required=True)
flow.role("leaf_judge", leaf_judge, required=True)
flow.step("missing", missing)

flow.route(START, who_opens)
flow.route("debater_a", after_debater_a)
flow.route("debater_b", after_debater_b)
flow.then("leaf_judge", END)
flow.then("missing", END)
graph = flow.compile("leaf_debate")
