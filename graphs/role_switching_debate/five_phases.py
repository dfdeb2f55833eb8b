"""One role-switching debate about two candidates: RSD's five phases, as in the paper's figure 1.

Proposals, cross-examination, role switch, uncertainty, judgment. ``five_phases`` wires them, with
or without the two phases that the paper's ablations leave out.
"""

from __future__ import annotations

import operator
from typing import Annotated, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.graphs.ruling import ruled
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.role_switching_debate.candidates import Candidate, Side
from dialectree.nodes.role_switching_debate.debater import (
    CrossExamined,
    OwnedUp,
    Switched,
    alternative,
    proposal,
    rebuttal,
    switch,
    uncertainty,
)
from dialectree.nodes.role_switching_debate.exchange import Exchange
from dialectree.nodes.role_switching_debate.judge import (
    Orders,
    Rulings,
    judge,
    judge_again,
    person,
)
from dialectree.nodes.role_switching_debate.meeting import (
    Agreement,
    Met,
    meeting,
    pairing,
    same_answer,
)
from dialectree.nodes.role_switching_debate.verdict import Debated, broken_off, verdict


class Pair(TypedDict):
    """What a debate is about."""

    id: str
    question: str
    take: int
    background: list[str]
    """What stands around the question, where it is part of a larger inquiry."""
    options: list[Candidate]
    """The answers to choose from; none for an open question."""
    held: bool
    """True where each debater was given its answer."""
    candidates: dict[Side, Candidate]
    """Who holds what; empty until the debaters have chosen."""
    first: Side
    """Whose words the judge reads first."""


class FivePhases(Pair, Exchange, Rulings, Debated):
    """A debate while it lasts."""

    agreed: Agreement
    """Whether both proposals are the same answer."""
    failed: Annotated[bool, operator.or_]
    """True when a part failed that the debate cannot do without; two may fail at once."""


Asker = Literal["judge", "judge_swapped", "person"]
Again = Literal["judge_again", "judge_swapped_again", "verdict", "broken_off"]


def after_meeting(
    state: FivePhases,
) -> Literal["same_answer", "alternative", "pairing", "crossing", "broken_off"]:
    """Two answers that differ are debated; the same answer twice is not."""
    if state.get("failed"):
        return "broken_off"
    if state["agreed"] == "unknown":
        return "same_answer"
    if state["agreed"] == "yes":
        return "alternative"
    return "crossing" if state["held"] else "pairing"


def after_same_answer(state: FivePhases) -> Literal["alternative", "pairing"]:
    """Where both said the same in other words, b looks for another answer."""
    return "alternative" if state["agreed"] == "yes" else "pairing"


def after_alternative(state: FivePhases) -> Literal["pairing", "broken_off"]:
    """Without a second answer there is nothing to debate."""
    return "broken_off" if state.get("failed") else "pairing"


def who_examines(
    state: FivePhases, runtime: Runtime[Context]
) -> list[Literal["rebuttal_a", "rebuttal_b"]]:
    """In turn a begins; else both examine the other's proposal at once."""
    if settings(runtime).cross_examination == "in_turn":
        return ["rebuttal_a"]
    return ["rebuttal_a", "rebuttal_b"]


def after_rebuttal_a(
    state: FivePhases, runtime: Runtime[Context]
) -> Literal["rebuttal_b", "cross_examined"]:
    """In turn b answers, having read a's rebuttal."""
    in_turn = settings(runtime).cross_examination == "in_turn"
    return "rebuttal_b" if in_turn else "cross_examined"


def who_judges(state: FivePhases, runtime: Runtime[Context]) -> list[Asker]:
    """A person, or a model that reads the sides in one order or in both."""
    if settings(runtime).judge == "me":
        return ["person"]
    both = settings(runtime).judge_orders == "both"
    return ["judge", "judge_swapped"] if both else ["judge"]


def after_mapping(state: FivePhases) -> list[Again]:
    """A ruling whose label and answer name no one candidate is asked for once more."""
    if state.get("failed"):
        return ["broken_off"]
    again: list[Again] = []
    if _to_mend(state, "as_held"):
        again.append("judge_again")
    if _to_mend(state, "swapped"):
        again.append("judge_swapped_again")
    return again or ["verdict"]


def _to_mend(state: FivePhases, order: Orders) -> bool:
    """Return whether a ruling is the first of its order, and its answer is not its label's text."""
    rulings = [ruled for ruled in state["rulings"] if ruled["order"] == order]
    if len(rulings) != 1 or rulings[0]["candidate"] is not None:
        return False
    return rulings[0]["label"] != ""


async def crossing(state: FivePhases) -> None:
    """There are two candidates; the cross-examination begins."""


async def cross_examined(state: FivePhases) -> None:
    """Both rebuttals are there."""


async def mapping(state: FivePhases) -> None:
    """Every judge has spoken; the rule after this step looks at what they named."""


not_asked: Met = {"agreed": "no"}
unsaid: CrossExamined = {"rebuttals": []}
unswitched: Switched = {"switches": []}
undisclosed: OwnedUp = {"reports": []}


def five_phases(
    name: str, *, role_switch: bool = True, disclosure: bool = True
) -> CompiledStateGraph[FivePhases, Context, Pair, Debated]:
    """One debate; the paper's ablations leave out the role switch, the uncertainty reports or both.

    A rebuttal, a switch or a report that fails for good is left out, and the record says so;
    without a proposal or a ruling the debate is unresolved.
    """
    builder = StateGraph(
        FivePhases, context_schema=Context, input_schema=Pair, output_schema=Debated
    )
    builder.add_node("proposal_a", may_fail(proposal("a"), FAILED))
    builder.add_node("proposal_b", may_fail(proposal("b"), FAILED))
    builder.add_node("meeting", meeting)
    builder.add_node("same_answer", may_fail(same_answer, not_asked))
    builder.add_node("alternative", may_fail(alternative, FAILED))
    builder.add_node("pairing", pairing)
    builder.add_node("crossing", crossing)
    builder.add_node("rebuttal_a", may_fail(rebuttal("a"), unsaid))
    builder.add_node("rebuttal_b", may_fail(rebuttal("b"), unsaid))
    builder.add_node("cross_examined", cross_examined)
    last = ["cross_examined"]
    if role_switch:
        builder.add_node("switch_a", may_fail(switch("a"), unswitched))
        builder.add_node("switch_b", may_fail(switch("b"), unswitched))
        last = _follow(builder, last, ["switch_a", "switch_b"])
    if disclosure:
        builder.add_node("uncertainty_a", may_fail(uncertainty("a"), undisclosed))
        builder.add_node("uncertainty_b", may_fail(uncertainty("b"), undisclosed))
        last = _follow(builder, last, ["uncertainty_a", "uncertainty_b"])
    builder.add_node("judge", may_fail(judge("as_held"), FAILED))
    builder.add_node("judge_swapped", may_fail(judge("swapped"), FAILED))
    builder.add_node("person", person)
    builder.add_node("mapping", mapping)
    builder.add_node("judge_again", may_fail(judge_again("as_held"), FAILED))
    builder.add_node("judge_swapped_again", may_fail(judge_again("swapped"), FAILED))
    builder.add_node("verdict", verdict)
    builder.add_node("broken_off", broken_off)

    builder.add_edge(START, "proposal_a")
    builder.add_edge(START, "proposal_b")
    builder.add_edge(["proposal_a", "proposal_b"], "meeting")
    builder.add_conditional_edges("meeting", ruled(after_meeting))
    builder.add_conditional_edges("same_answer", ruled(after_same_answer))
    builder.add_conditional_edges("alternative", ruled(after_alternative))
    builder.add_edge("pairing", "crossing")
    builder.add_conditional_edges("crossing", ruled(who_examines), ["rebuttal_a", "rebuttal_b"])
    builder.add_conditional_edges("rebuttal_a", ruled(after_rebuttal_a))
    builder.add_edge("rebuttal_b", "cross_examined")
    for speaker in last:
        builder.add_conditional_edges(
            speaker, ruled(who_judges), ["judge", "judge_swapped", "person"]
        )
    for ruler in ("judge", "judge_swapped", "person", "judge_again", "judge_swapped_again"):
        builder.add_edge(ruler, "mapping")
    builder.add_conditional_edges(
        "mapping",
        ruled(after_mapping),
        ["judge_again", "judge_swapped_again", "verdict", "broken_off"],
    )
    builder.add_edge("verdict", END)
    builder.add_edge("broken_off", END)
    return builder.compile(name=name)


def _follow(
    builder: StateGraph[FivePhases, Context, Pair, Debated], before: list[str], phase: list[str]
) -> list[str]:
    """Both speak at once when all ``before`` have spoken."""
    for speaker in phase:
        builder.add_edge(before, speaker)
    return phase


graph = five_phases("five_phases")
no_role_switch = five_phases("no_role_switch", role_switch=False)
no_uncertainty = five_phases("no_uncertainty", disclosure=False)
basic = five_phases("basic", role_switch=False, disclosure=False)
