"""Three simultaneous rounds, and a consultancy: comparisons for RSD's evaluations.

Paper: Debating with More Persuasive LLMs Leads to More Truthful Answers (Khan et al.), section 3.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow, Graph
from dialectree.graphs.role_switching_debate.five_phases import opening_queries
from dialectree.nodes.role_switching_debate.state import SIDES, Question, Settings, Side
from dialectree.nodes.role_switching_debate.static_debate import (
    ROUNDS,
    Rounds,
    judge,
    opening,
    statement,
    verdict,
)


def after_round(state: Rounds) -> Literal["more_material", "checker"]:
    """Go on until the rounds are spent; between rounds, run the debaters' searches."""
    spent = all(last_statement["round"] >= ROUNDS for last_statement in state["statements"][-1:])
    return "checker" if spent else "more_material"


def no_queries(state: Rounds) -> list[str]:
    """Add no query to the debaters' own."""
    return []


def in_rounds(name: str, *sides: Side) -> Graph:
    """Return a debate between ``sides``; a single side is a consultant."""
    flow = Flow(Rounds, settings=Settings, input=Question, opening=opening)
    flow.evidence("material", opening_queries)
    flow.evidence("more_material", no_queries)
    for side in sides:
        speaks = statement(side, alone=len(sides) == 1)
        flow.role(f"statement_{side}", speaks, required=True, evidence="cites")
    flow.step("round_over")
    flow.check()
    flow.role("judge", judge(), required=True, on_drop={}, evidence="cited")
    flow.role("judge_swapped", judge(swapped=True), required=True, on_drop={}, evidence="cited")
    flow.step("hearing")
    flow.step("verdict", verdict)

    speakers = tuple(f"statement_{side}" for side in sides)
    flow.then(START, "material", speakers, "round_over")
    flow.route("round_over", after_round)
    flow.then("more_material", speakers)
    flow.then("checker", ("judge", "judge_swapped"), "hearing", "verdict", END)
    return flow.compile(name)


static_debate = in_rounds("static_debate", *SIDES)
consultancy = in_rounds("consultancy", "a")
