"""RSD, Uncertainty-Aware Role-Switching Debate: who debates what, and what comes of it.

Paper: Uncertainty-Aware Role-Switching Debate (Liu et al.), Method. One debate is ``five_phases``;
here are the gate that spares a debate, the candidates, and the knockout of several options.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.types import Send

from dialectree.flow import Flow, Graph
from dialectree.graphs.role_switching_debate import five_phases
from dialectree.nodes.role_switching_debate.candidates import opening, pairing, standing
from dialectree.nodes.role_switching_debate.direct_answerer import (
    agreed,
    direct_answerer,
    distractor,
    requests,
    votes,
)
from dialectree.nodes.role_switching_debate.judge import ruling, undecided
from dialectree.nodes.role_switching_debate.state import (
    Pair,
    Question,
    RoleSwitchingDebate,
    Settings,
    Settled,
)


def after_opening(
    state: RoleSwitchingDebate, settings: Settings
) -> list[Send] | Literal["distractor", "pairing"]:
    """Ask for the gate's direct answers first."""
    if settings.gate:
        return [Send("gate", request) for request in requests(state)]
    return before_pairing(state, settings)


def after_gate(
    state: RoleSwitchingDebate, settings: Settings
) -> Literal["agreed", "distractor", "pairing"]:
    """Hold no debate if all agree. RSD, Discussion: debate only when necessary."""
    unanimous = len(votes(state["samples"])) == 1
    everybody = len(state["samples"]) + state["dropped"] == settings.gate
    return "agreed" if unanimous and everybody else before_pairing(state, settings)


def before_pairing(
    state: RoleSwitchingDebate, settings: Settings
) -> Literal["distractor", "pairing"]:
    """Ask a model for a distractor only where an evaluation leaves the choice to it."""
    return "distractor" if settings.asks_for_distractor() else "pairing"


def pairs(state: RoleSwitchingDebate) -> list[Pair]:
    """Hold the debates of a round side by side."""
    return state["pairs"]


def after_standing(state: RoleSwitchingDebate) -> Literal["pairing", "ruling"]:
    """Play rounds until one option is left, or until a debate has no winner."""
    return "pairing" if len(state["waiting"]) > 1 else "ruling"


def role_switching_debate(name: str, debate: Graph) -> Graph:
    """Return the protocol around ``debate``: the whole of it, or one of its ablations."""

    async def settle(state: Pair) -> dict[str, list[Settled]]:
        ended = await debate.ainvoke(state)
        return {"settled": [{"id": state["id"], "outcome": ended["outcome"]}]}

    flow = Flow(
        RoleSwitchingDebate,
        settings=Settings,
        input=Question,
        opening=opening,
        unresolved="undecided",
    )
    flow.role("gate", direct_answerer("debater_a"), on_drop={"dropped": 1})
    flow.step("gated")
    flow.step("agreed", agreed)
    flow.role("distractor", distractor, required=True)
    flow.step("undecided", undecided)
    flow.step("pairing", pairing)
    flow.step("debate", settle)
    flow.step("standing", standing)
    flow.step("ruling", ruling)

    flow.route(START, after_opening, "gate")
    flow.then("gate", "gated")
    flow.route("gated", after_gate)
    flow.then("agreed", END)
    flow.then("distractor", "pairing")
    flow.fan("pairing", "debate", pairs)
    flow.then("debate", "standing")
    flow.route("standing", after_standing)
    flow.then("undecided", "ruling")
    flow.then("ruling", END)
    return flow.compile(name)


graph = role_switching_debate("role_switching_debate", five_phases.graph)
no_role_switch = role_switching_debate("rsd_no_role_switch", five_phases.no_role_switch)
no_uncertainty = role_switching_debate("rsd_no_uncertainty", five_phases.no_uncertainty)
basic = role_switching_debate("rsd_basic", five_phases.basic)
