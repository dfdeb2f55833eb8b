"""One role-switching debate about two candidates: RSD's five phases, as in the paper's figure 1.

Proposals, cross-examination, role switch, uncertainty, judgment. ``five_phases`` wires them, with
or without the two phases that the paper's ablations leave out.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow.flow import Flow, Graph
from dialectree.nodes.role_switching_debate.candidates import meeting, pair_proposals, same_answer
from dialectree.nodes.role_switching_debate.debater import proposal, rebuttal, switch, uncertainty
from dialectree.nodes.role_switching_debate.judge import broken_off, judge, person, verdict
from dialectree.nodes.role_switching_debate.state import (
    Debated,
    FivePhases,
    Pair,
    RoleSwitchingDebate,
    Settings,
)


def after_meeting(state: FivePhases) -> Literal["same_answer", "alternative", "pairing", "crossing"]:
    """Debate two different answers; ask for another answer if both are the same."""
    if state["agreed"] == "unknown":
        return "same_answer"
    return "crossing" if state["assigned"] else after_same_answer(state)


def after_same_answer(state: FivePhases) -> Literal["alternative", "pairing"]:
    """Let b propose another answer if both proposed the same answer."""
    return "alternative" if state["agreed"] == "yes" else "pairing"


def who_examines(state: FivePhases, settings: Settings) -> list[Literal["rebuttal_a", "rebuttal_b"]]:
    """Let a examine b's proposal first, or let both examine each other's proposals at once."""
    if settings.cross_examination == "in_turn":
        return ["rebuttal_a"]
    return ["rebuttal_a", "rebuttal_b"]


def after_rebuttal_a(state: FivePhases, settings: Settings) -> Literal["rebuttal_b", "cross_examined"]:
    """In turn, let b reply to a's rebuttal."""
    return "rebuttal_b" if settings.cross_examination == "in_turn" else "cross_examined"


def who_judges(state: FivePhases, settings: Settings) -> Literal["judge", "person"]:
    """Ask one model or several, or a person."""
    return "person" if settings.judge == "me" else "judge"


def after_ruling(state: FivePhases) -> Literal["verdict", "broken_off"]:
    """Give a verdict if there is a ruling."""
    return "broken_off" if state.get("failed") else "verdict"


def opening_queries(state: FivePhases | RoleSwitchingDebate) -> list[str]:
    """Search for the question, and for each option."""
    question, options = state["question"], state["options"]
    return [question, *(f"{question} {option['text']}" for option in options)]


def both_answers(state: FivePhases) -> list[str]:
    """Search for the answers that are debated."""
    return [f"{state['question']} {candidate['text']}" for candidate in state["candidates"].values()]


def five_phases(name: str, *, role_switch: bool = True, disclosure: bool = True) -> Graph:
    """Return one debate; the paper's ablations lack the role switch, the uncertainty phase or both.

    A rebuttal, a switch or a report that fails for good is left out; the record notes it.
    Without a proposal or a ruling the debate is unresolved.
    """
    flow = Flow(FivePhases, settings=Settings, input=Pair, output=Debated, unresolved="broken_off")
    flow.evidence("material", opening_queries)
    flow.role("proposal_a", proposal("a"), required=True, evidence="cites")
    flow.role("proposal_b", proposal("b"), required=True, evidence="cites")
    flow.step("meeting", meeting)
    flow.role("same_answer", same_answer, on_failure={"agreed": "no"})
    flow.role("alternative", proposal("b", again=True), required=True, evidence="cites")
    flow.step("pairing", pair_proposals)
    flow.evidence("crossing", both_answers)
    flow.role("rebuttal_a", rebuttal("a"), evidence="cites")
    flow.role("rebuttal_b", rebuttal("b"), evidence="cites")
    flow.step("cross_examined")
    flow.step("hearing")
    flow.check()
    flow.step("judge", judge, evidence="cited")
    flow.step("person", person)
    flow.step("verdict", verdict)
    flow.step("broken_off", broken_off)

    phases: list[str | tuple[str, ...]] = []
    if role_switch:
        flow.role("switch_a", switch("a"), evidence="cites")
        flow.role("switch_b", switch("b"), evidence="cites")
        phases.append(("switch_a", "switch_b"))
    if disclosure:
        flow.role("uncertainty_a", uncertainty("a"))
        flow.role("uncertainty_b", uncertainty("b"))
        phases.append(("uncertainty_a", "uncertainty_b", "checker"))
    else:
        phases.append("checker")

    flow.then(START, "material", ("proposal_a", "proposal_b"), "meeting")
    flow.route("meeting", after_meeting)
    flow.route("same_answer", after_same_answer)
    flow.then("alternative", "pairing", "crossing")
    flow.route("crossing", who_examines)
    flow.route("rebuttal_a", after_rebuttal_a)
    flow.then("rebuttal_b", "cross_examined")
    flow.then("cross_examined", *phases, "hearing")
    flow.route("hearing", who_judges)
    flow.route("judge", after_ruling)
    flow.then("person", "verdict")
    flow.then("verdict", END)
    flow.then("broken_off", END)
    return flow.compile(name)


graph = five_phases("five_phases")
no_role_switch = five_phases("no_role_switch", role_switch=False)
no_uncertainty = five_phases("no_uncertainty", disclosure=False)
basic = five_phases("basic", role_switch=False, disclosure=False)
