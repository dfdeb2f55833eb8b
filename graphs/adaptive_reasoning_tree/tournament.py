"""The arguments about one parent are judged: each by itself, and supporters against attackers.

ART, sections 3.2 and 3.3. All calls go out at once; only where the tournament alone counts
(lambda = 1) the arguments that it left without a comparison are scored after it.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.graphs.ruling import ruled
from dialectree.nodes.adaptive_reasoning_tree.arguments import Argument, Grown, Pair, unmet
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import (
    Comparisons,
    ToCompare,
    pairwise_judge,
)
from dialectree.nodes.adaptive_reasoning_tree.scorer import Scores, ToScore, late_scorer, scorer
from dialectree.nodes.failures import may_fail


class Entries(TypedDict):
    """Who is scored and who meets whom."""

    id: str
    """The parent's."""
    text: str
    """The parent's text."""
    to_score: list[Argument]
    """None: comparisons decide, and whom they leave undecided is scored after them."""
    pairs: list[Pair]


class Tournament(Entries, Grown):
    """A tournament while it lasts."""


def all_at_once(entries: Entries) -> list[Send]:
    """Every score and every comparison."""
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


def entrants(state: Tournament) -> list[Send] | str:
    """Whoever is scored or meets somebody."""
    return all_at_once(state) or END


def left_over(state: Tournament, runtime: Runtime[Context]) -> list[Send] | str:
    """Where comparisons alone were to decide, those without one that counts."""
    if state["to_score"]:
        return END
    there = {
        argument["id"]: argument
        for pair in state["pairs"]
        for argument in (pair["supporter"], pair["attacker"])
    }
    left = unmet([*there.values()], state["comparisons"], settings(runtime).tie_rule())
    return _scorings("late_scorer", left, state["text"]) or END


async def heard(state: Tournament) -> None:
    """Every comparison is there."""


unscored: Scores = {"scores": []}
uncompared: Comparisons = {"comparisons": []}

builder = StateGraph(Tournament, context_schema=Context, input_schema=Entries, output_schema=Grown)
builder.add_node("scorer", may_fail(scorer, unscored))
builder.add_node("pairwise_judge", may_fail(pairwise_judge, uncompared))
builder.add_node("heard", heard)
builder.add_node("late_scorer", may_fail(late_scorer, unscored))
builder.add_conditional_edges(START, ruled(entrants), ["scorer", "pairwise_judge", END])
builder.add_edge("scorer", "heard")
builder.add_edge("pairwise_judge", "heard")
builder.add_conditional_edges("heard", ruled(left_over), ["late_scorer", END])
builder.add_edge("late_scorer", END)

graph: CompiledStateGraph[Tournament, Context, Entries, Grown] = builder.compile(name="tournament")
