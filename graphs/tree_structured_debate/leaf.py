"""A leaf of TSD: settled by its own debate, or by another protocol.

In its own debate two debaters alternate for a fixed number of rounds; a judge rules. For one
protocol inside another, docs/decisions/leaf-protocol.md lists the data that pass between them.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.nodes.tree_structured_debate.findings import missing
from dialectree.nodes.tree_structured_debate.leaf_debater import inner_debate, leaf_debater, leaf_judge
from dialectree.nodes.tree_structured_debate.sides import is_polar, opener
from dialectree.nodes.tree_structured_debate.state import Debated, Judged, LeafDebate, Settings
from dialectree.protocols.protocol import protocol
from dialectree.protocols.questions import needs_options


def who_opens(state: LeafDebate, settings: Settings) -> Literal["debater_a", "debater_b"]:
    """Draw the opener from the seed."""
    first = opener(settings.seed, state["id"], state["take"], state["question"])
    return "debater_a" if first == "A" else "debater_b"


def after_debater_a(
    state: LeafDebate, settings: Settings
) -> Literal["debater_b", "more_material", "checker"]:
    """Let B answer until the rounds are spent; between rounds, run the debaters' searches."""
    return "debater_b" if len(state["transcript"]) % 2 else after_round(state, settings)


def after_debater_b(
    state: LeafDebate, settings: Settings
) -> Literal["debater_a", "more_material", "checker"]:
    """Let A answer until the rounds are spent; between rounds, run the debaters' searches."""
    return "debater_a" if len(state["transcript"]) % 2 else after_round(state, settings)


def after_round(state: LeafDebate, settings: Settings) -> Literal["more_material", "checker"]:
    """Go on until both debaters have spoken in each round."""
    spent = len(state["transcript"]) >= 2 * settings.leaf_rounds
    return "checker" if spent else "more_material"


def opening_queries(state: Debated) -> list[str]:
    """Search for the question, with the questions above it."""
    return [" ".join([*state["path"], state["question"]])]


def no_queries(state: Debated) -> list[str]:
    """Add no query to the debaters' own."""
    return []


flow = Flow(LeafDebate, settings=Settings, input=Debated, output=Judged, unresolved="missing")
flow.evidence("material", opening_queries)
flow.role("debater_a", leaf_debater("A"), required=True, evidence="cites")
flow.role("debater_b", leaf_debater("B"), required=True, evidence="cites")
flow.evidence("more_material", no_queries)
flow.check()
flow.role("leaf_judge", leaf_judge, required=True, evidence="cited")
flow.step("missing", missing)

flow.then(START, "material")
flow.route("material", who_opens)
flow.route("debater_a", after_debater_a)
flow.route("debater_b", after_debater_b)
flow.route("more_material", who_opens)
flow.then("checker", "leaf_judge", END)
flow.then("missing", END)
leaf_debate = flow.compile("leaf_debate")


class Leaf(Debated, Judged):
    """A leaf, from its question to its finding."""


def who_settles(state: Debated, settings: Settings) -> Literal["leaf_debate", "inner_debate"]:
    """Follow the settings if their protocol can take the question; weigh a claim in the first pass only.

    A protocol weighs a claim if its outcome is a probability.
    """
    name = settings.leaf_protocol
    if name == "debate" or (needs_options(name) and not is_polar(state["question"])):
        return "leaf_debate"
    weighed = state["take"] > 1 and protocol(name).outcome == "probability"
    return "leaf_debate" if weighed else "inner_debate"


flow = Flow(Leaf, settings=Settings, input=Debated, output=Judged)
flow.graph("leaf_debate", leaf_debate)
flow.step("inner_debate", inner_debate)
flow.route(START, who_settles)
flow.then("leaf_debate", END)
flow.then("inner_debate", END)
graph = flow.compile("leaf")
