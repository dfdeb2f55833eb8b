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
from dialectree.nodes.role_switching_debate.candidates import opening, pairing
from dialectree.nodes.role_switching_debate.direct_answerer import (
    agreed,
    direct_answerer,
    distractor,
    requests,
    votes,
)
from dialectree.nodes.role_switching_debate.judge import ruling, undecided
from dialectree.nodes.role_switching_debate.state import Question, RoleSwitchingDebate, Settings


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


def after_debate(state: RoleSwitchingDebate) -> Literal["pairing", "ruling"]:
    """Let the winner stay on while an option waits; without a winner nobody goes on."""
    won = state["outcome"]["answer"] is not None
    return "pairing" if won and state["waiting"] else "ruling"


def role_switching_debate(name: str, debate: Graph) -> Graph:
    """Return the protocol around ``debate``: the whole of it, or one of its ablations."""
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
    flow.graph("debate", debate)
    flow.step("ruling", ruling)

    flow.route(START, after_opening, "gate")
    flow.then("gate", "gated")
    flow.route("gated", after_gate)
    flow.then("agreed", END)
    flow.then("distractor", "pairing", "debate")
    flow.then("undecided", "ruling")
    flow.route("debate", after_debate)
    flow.then("ruling", END)
    return flow.compile(name)


graph = role_switching_debate("role_switching_debate", five_phases.graph)
no_role_switch = role_switching_debate("rsd_no_role_switch", five_phases.no_role_switch)
no_uncertainty = role_switching_debate("rsd_no_uncertainty", five_phases.no_uncertainty)
basic = role_switching_debate("rsd_basic", five_phases.basic)
