"""The arguments about one parent meet in a tournament that alone decides (lambda = 1).

ART, section 3.2. All pairs are compared at once. The arguments that it left without a comparison
that counts are scored after it: only these need a strength of their own.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.types import Send

from dialectree.flow import Flow
from dialectree.nodes.adaptive_reasoning_tree.arguments import Grown, Pair
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import pairwise_judge
from dialectree.nodes.adaptive_reasoning_tree.scorer import scorer, to_score
from dialectree.nodes.adaptive_reasoning_tree.state import Settings, Tournament


def all_pairs(state: Tournament) -> list[Pair]:
    """Compare every pair at once."""
    return state["pairs"]


def left_over(state: Tournament, settings: Settings) -> list[Send] | Literal["__end__"]:
    """Score the arguments without a comparison that counts.

    A comparison that a person made void is taken as it was: nobody is asked anew because of it.
    """
    ties_count = settings.tie_rule() == "half"
    counted = [c for c in state["comparisons"] if ties_count or c["winner"] != "TIE"]
    met = {name for c in counted for name in (c["supporter"], c["attacker"])}
    left = {
        argument["id"]: to_score(argument, pair["parent"])
        for pair in state["pairs"]
        for argument in (pair["supporter"], pair["attacker"])
        if argument["id"] not in met
    }
    return [Send("late_scorer", entry) for entry in left.values()] or "__end__"


flow = Flow(Tournament, settings=Settings, input=Tournament, output=Grown)
flow.role("pairwise_judge", pairwise_judge)
flow.step("heard")
flow.role("late_scorer", scorer(late=True))

flow.fan(START, "pairwise_judge", all_pairs)
flow.then("pairwise_judge", "heard")
flow.route("heard", left_over, "late_scorer")
flow.then("late_scorer", END)
graph = flow.compile("tournament")
