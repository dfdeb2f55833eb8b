"""RSD, Uncertainty-Aware Role-Switching Debate: the candidates, their debates and the verdict.

Paper: Uncertainty-Aware Role-Switching Debate (Liu et al.), Method. One debate is ``five_phases``.
This module has the gate, which ends without a debate if direct answers agree, the choice of
candidates, and the knockout of several options.

The baselines are direct answers: the majority of nine samples, as many calls as one debate takes,
or one answer of the judge. An evaluation gives the baselines the two options of the debate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from langgraph.graph import END, START
from langgraph.types import Send

from dialectree.flow import Flow, Graph
from dialectree.flow.grounding import Queries
from dialectree.flow.steps import end_unresolved
from dialectree.graphs.role_switching_debate import five_phases
from dialectree.graphs.role_switching_debate.five_phases import opening_queries
from dialectree.nodes.role_switching_debate.candidates import opening, pairing, standing
from dialectree.nodes.role_switching_debate.direct_answerer import (
    accept_unanimous_answer,
    direct_answerer,
    distractor,
    plurality,
    requests,
    votes,
)
from dialectree.nodes.role_switching_debate.judge import ruling, settle_without_debate
from dialectree.nodes.role_switching_debate.state import (
    SAMPLES,
    Pair,
    Question,
    RoleSwitchingDebate,
    Settings,
)


def after_opening(
    state: RoleSwitchingDebate, settings: Settings
) -> list[Send] | Literal["distractor", "pairing"]:
    """Ask for the gate's direct answers first."""
    if settings.gate:
        return [Send("gate", request) for request in requests(state)]
    return before_pairing(state, settings)


def after_gate(state: RoleSwitchingDebate, settings: Settings) -> Literal["agreed", "distractor", "pairing"]:
    """End without a debate if all direct answers agree. RSD, Discussion: debate only when necessary."""
    unanimous = len(votes(state["samples"])) == 1
    everybody = len(state["samples"]) + state["dropped"] == settings.gate
    return "agreed" if unanimous and everybody else before_pairing(state, settings)


def before_pairing(state: RoleSwitchingDebate, settings: Settings) -> Literal["distractor", "pairing"]:
    """Ask a model for a distractor only if an evaluation leaves the choice to a model."""
    return "distractor" if settings.asks_for_distractor() else "pairing"


def pairs(state: RoleSwitchingDebate) -> list[Pair]:
    """Return the debates of a round, which run at the same time."""
    return state["pairs"]


def after_standing(state: RoleSwitchingDebate) -> Literal["pairing", "ruling"]:
    """Go on with rounds until one option is left, or until a debate has no winner."""
    return "pairing" if len(state["waiting"]) > 1 else "ruling"


def role_switching_debate(name: str, debate: Graph) -> Graph:
    """Return the protocol's graph around ``debate``, the graph of a complete or an ablated debate."""

    async def settle(state: Pair) -> dict[str, object]:
        ended = await debate.ainvoke(state)
        return {"settled": {state["id"]: ended["outcome"]}}

    flow = Flow(
        RoleSwitchingDebate,
        settings=Settings,
        input=Question,
        opening=opening(lambda settings: settings.gate),
        unresolved="undecided",
    )
    flow.role("gate", direct_answerer("debater_a"), on_drop={"dropped": 1})
    flow.step("gated")
    flow.step("agreed", accept_unanimous_answer)
    flow.role("distractor", distractor, required=True)
    flow.step("undecided", settle_without_debate)
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


def after_samples(state: RoleSwitchingDebate) -> Literal["plurality", "unresolved"]:
    """Vote if there is at least one answer."""
    return "plurality" if state["samples"] else "unresolved"


def list_judge_queries(state: RoleSwitchingDebate, settings: Settings) -> list[str]:
    """Search for question and options, unless the judge may not read the sources."""
    return [] if settings.judge_sees == "none" else opening_queries(state)


def direct_answers(
    name: str, role: str, count_answers: Callable[[Settings], int], queries: Queries = opening_queries
) -> Graph:
    """Return the baseline in which the model of ``role`` answers ``count_answers`` times."""
    first = opening(count_answers, debated=False)
    flow = Flow(RoleSwitchingDebate, settings=Settings, input=Question, opening=first)
    flow.evidence("material", queries)
    flow.role("answerer", direct_answerer(role), on_drop={"dropped": 1}, evidence="pool")
    flow.step("sampled")
    flow.step("plurality", plurality)
    flow.step("unresolved", end_unresolved)
    flow.then(START, "material")
    flow.fan("material", "answerer", requests)
    flow.then("answerer", "sampled")
    flow.route("sampled", after_samples)
    flow.then("plurality", END)
    flow.then("unresolved", END)
    return flow.compile(name)


graph = role_switching_debate("role_switching_debate", five_phases.graph)
no_role_switch = role_switching_debate("rsd_no_role_switch", five_phases.no_role_switch)
no_uncertainty = role_switching_debate("rsd_no_uncertainty", five_phases.no_uncertainty)
basic = role_switching_debate("rsd_basic", five_phases.basic)
self_consistency = direct_answers(
    "self_consistency", "answerer", lambda settings: settings.samples or SAMPLES
)
judge_alone = direct_answers("judge_alone", "judge", lambda settings: 1, list_judge_queries)
