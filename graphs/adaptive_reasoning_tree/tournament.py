"""The arguments about one parent are judged: each by itself, and supporters against attackers.

ART, sections 3.2 and 3.3. All calls go out at once; only where the tournament alone counts
(lambda = 1) the arguments that it left without a comparison are scored after it.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.types import Send

from dialectree.flow import Flow
from dialectree.nodes.adaptive_reasoning_tree.arguments import Argument, Grown, unmet
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import ToCompare, pairwise_judge
from dialectree.nodes.adaptive_reasoning_tree.scorer import ToScore, late_scorer, scorer
from dialectree.nodes.adaptive_reasoning_tree.state import Entries, Settings, Tournament


def all_at_once(entries: Entries) -> list[Send]:
    """Send every score and every comparison off."""
    meetings: list[ToCompare] = [
        {"id": entries["id"], "parent": entries["text"], "pair": pair} for pair in entries["pairs"]
    ]
    return [
        *_scorings("scorer", entries["to_score"], entries["text"]),
        *(Send("pairwise_judge", meeting) for meeting in meetings),
    ]


def _scorings(
    node: Literal["scorer", "late_scorer"], arguments: list[Argument], parent: str
) -> list[Send]:
    asked: list[ToScore] = [
        {"id": argument["id"], "argument": argument, "parent": parent} for argument in arguments
    ]
    return [Send(node, ask) for ask in asked]


def entrants(state: Tournament) -> list[Send] | Literal["__end__"]:
    """Score and compare all at once, if there is anything to judge."""
    return all_at_once(state) or "__end__"


def left_over(state: Tournament, settings: Settings) -> list[Send] | Literal["__end__"]:
    """Where comparisons alone were to decide, score the arguments without one that counts."""
    if state["to_score"]:
        return "__end__"
    there = {
        argument["id"]: argument
        for pair in state["pairs"]
        for argument in (pair["supporter"], pair["attacker"])
    }
    left = unmet([*there.values()], state["comparisons"], settings.tie_rule())
    return _scorings("late_scorer", left, state["text"]) or "__end__"


flow = Flow(Tournament, settings=Settings, input=Entries, output=Grown)
flow.role("scorer", scorer)
flow.role("pairwise_judge", pairwise_judge)
flow.step("heard")
flow.role("late_scorer", late_scorer)

flow.route(START, entrants, "scorer", "pairwise_judge")
flow.then("scorer", "heard")
flow.then("pairwise_judge", "heard")
flow.route("heard", left_over, "late_scorer")
flow.then("late_scorer", END)
graph = flow.compile("tournament")
