"""One claim or argument of an ART tree and its subtree: the graph calls itself for each child.

ART, sections 3.1 and 3.2. The arguments of a level meet in their tournament while they grow
arguments of their own, so a tree of depth d takes d + 1 calls one after another. A tournament that
decides alone (lambda = 1) compares all pairs at once, and then scores only the arguments without a
comparison that counts. With sources, both sides of a parent argue from the sentences found for the
parent, and the evaluators read the sentences that the two sides cite.

With ``check_stance``, a scorer first scores each argument and says which way it points. An argument
that points the wrong way is replaced once, and then left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.flow import Flow
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguer import arguer, checks_stance, near_duplicates
from dialectree.nodes.adaptive_reasoning_tree.scorer import WRONG_WAY, pairwise_judge, scorer, to_score
from dialectree.nodes.adaptive_reasoning_tree.state import (
    STANCES,
    Argument,
    Grown,
    Growth,
    Pair,
    Settings,
    Sprout,
    Stance,
    pairs,
)
from dialectree.trace.events import tell


def all_pairs(state: Growth) -> list[Pair]:
    """Compare every pair at once."""
    return state["pairs"]


def score_unmatched_arguments(state: Growth, settings: Settings) -> list[Send] | Literal["__end__"]:
    """Score the arguments without a comparison that counts.

    A comparison that a person made void still counts here, so it causes no new call.
    """
    ties_count = settings.tie_rule() == "half"
    counted = [c for c in state["comparisons"] if ties_count or c["winner"] != "TIE"]
    met = {name for c in counted for name in (c["supporter"], c["attacker"])}
    entries = {
        argument["id"]: to_score(argument, pair["parent"])
        for pair in state["pairs"]
        for argument in (pair["supporter"], pair["attacker"])
        if argument["id"] not in met
    }
    return [Send("late_scorer", entry) for entry in entries.values()] or "__end__"


flow = Flow(Growth, settings=Settings, input=Growth, output=Grown)
flow.role("pairwise_judge", pairwise_judge, evidence="cited")
flow.step("heard")
flow.role("late_scorer", scorer(late=True), evidence="cited")

flow.fan(START, "pairwise_judge", all_pairs)
flow.then("pairwise_judge", "heard")
flow.route("heard", score_unmatched_arguments, "late_scorer")
flow.then("late_scorer", END)
tournament = flow.compile("tournament")


async def branching(state: Growth, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask once for other arguments in place of near-duplicates, then make the arguments nodes.

    A missing argument or a second near-duplicate gets a note. A supporter's id ends in its place on
    its side, an attacker's in breadth + its place. Arguments that a person inserted come last.
    """
    parent, overrides = state["id"], run_of(runtime).overrides
    sides = {stance: list_drafts(state, stance) for stance in STANCES}
    doubles = {
        stance: near_duplicates([draft["text"] for draft in drafts]) for stance, drafts in sides.items()
    }
    if any(doubles.values()) and "again" not in state:
        return {"again": doubles}
    children: list[Argument] = []
    for stance, drafts in sides.items():
        if any(not draft["text"] for draft in drafts):
            tell(runtime, parent, "noted", {"data": {"declined": {stance: True}}})
        if doubles[stance]:
            note = f"{stance}: near-duplicates dropped: {len(doubles[stance])}"
            tell(runtime, parent, "noted", {"note": note})
        children += [
            draft for place, draft in enumerate(drafts) if draft["text"] and place not in doubles[stance]
        ]
    inserted: list[Argument] = [
        {"id": insertion.id, "parent": parent, "stance": insertion.stance, "text": insertion.text}
        for insertion in overrides.list_insertions(parent, [child["id"] for child in children])
    ]
    arguments = [*children, *inserted]
    for argument in arguments:
        opened = {"text": argument["text"], "kind": "argument", "stance": argument["stance"]}
        tell(runtime, argument["id"], "opened", opened)
    names = [argument["id"] for argument in arguments]
    kind = "argument" if state["path"] else "claim"
    tell(runtime, parent, "branched", {"children": names, "kind": kind})
    if state["argued"] and await checks_stance(runtime):
        return {"children": children, "inserted": inserted, "checking": True}
    return accept_arguments(state, runtime, children, inserted)


def list_drafts(state: Growth, stance: Stance) -> list[Argument]:
    """Return the drafts of one side in the order of their places; a second try replaces the first."""
    drafts = {draft["id"]: draft for draft in state["drafts"]}
    return [draft for draft in drafts.values() if draft["stance"] == stance]


def accept_arguments(
    state: Growth, runtime: Runtime[Settings], children: list[Argument], inserted: list[Argument]
) -> dict[str, object]:
    """Return the arguments that count from here on."""
    parent, overrides = state["id"], run_of(runtime).overrides
    arguments = [*children, *inserted]
    heard = {argument["stance"] for argument in inserted}
    heard |= {s for s in STANCES if list_drafts(state, s) or not state["argued"]}
    return {
        "children": children,
        "inserted": inserted,
        "insertions_below": [
            parent_argument["id"]
            for parent_argument in arguments
            if overrides.inserts_below(parent_argument["id"])
        ],
        "arguments": arguments,
        "unheard": [] if heard == {*STANCES} else [parent],
        "checking": False,
    }


def is_misfiled(state: Growth, argument: Argument) -> bool:
    """Return whether an argument points the wrong way for its side."""
    scored_direction = state.get("directions", {}).get(argument["id"])
    return scored_direction is not None and scored_direction["direction"] == WRONG_WAY[argument["stance"]]


async def stance_check(state: Growth, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask once to replace arguments that point the wrong way; then leave them out.

    An argument that is left out stays in the record, with a note.
    """
    children = state["children"]
    misfiled = [child for child in children if is_misfiled(state, child)]
    if misfiled and "misfiled" not in state:
        places = {
            stance: [place for place, draft in enumerate(list_drafts(state, stance)) if draft in misfiled]
            for stance in STANCES
        }
        return {"misfiled": places}
    for child in misfiled:
        side = "for" if child["stance"] == "support" else "against"
        note = f"meant as an argument {side} its parent, it points the other way: it does not count"
        tell(runtime, child["id"], "noted", {"note": note})
        tell(runtime, child["id"], "settled", {"verdict": None, "status": "missing"})
    standing = [child for child in children if child not in misfiled]
    return accept_arguments(state, runtime, standing, state["inserted"])


Again = Literal["supporter_again", "attacker_again"]


def after_branching(
    state: Growth, settings: Settings
) -> list[Send] | list[Again] | Literal["stance_check", "__end__"]:
    """Judge this level, and at the same time grow each of its arguments.

    Before that, have near-duplicates replaced, and check which way the arguments point.
    """
    if "children" not in state:
        return _again(state["again"])
    if not state.get("checking"):
        return _after_growth(state, settings)
    directions = state.get("directions", {})
    unknown = [
        child
        for child in state["children"]
        if child["id"] not in directions or directions[child["id"]]["text"] != child["text"]
    ]
    second_try = "misfiled" in state
    entries = [{**to_score(child, state["text"]), "second_try": second_try} for child in unknown]
    return [Send("directed_scorer", entry) for entry in entries] or "stance_check"


def after_check(state: Growth, settings: Settings) -> list[Send] | list[Again] | Literal["__end__"]:
    """Go on as after a level without a check, or replace arguments that point the wrong way."""
    return _again(state["misfiled"]) if state.get("checking") else _after_growth(state, settings)


def _after_growth(state: Growth, settings: Settings) -> list[Send] | Literal["__end__"]:
    """Judge this level, and at the same time grow each of its arguments."""
    if "children" not in state or not (state["children"] or state["inserted"]):
        return "__end__"
    return [*_judging(state, settings), *_growing(state, settings)]


def _again(places: Mapping[Stance, Sequence[int]]) -> list[Again]:
    names: dict[Stance, Again] = {"support": "supporter_again", "attack": "attacker_again"}
    return [name for stance, name in names.items() if places[stance]]


def _judging(state: Growth, settings: Settings) -> list[Send]:
    """Judge all at once, unless the tournament must first show which arguments need a score.

    An argument that a person inserted is scored, and compared with the arguments of the other side.
    The other arguments are not judged again.
    """
    id, text, children, inserted = state["id"], state["text"], state["children"], state["inserted"]
    orders = settings.judge_orders
    compared = pairs(id, text, children, orders) if state["blend"] > 0 else []
    pairs_with_inserted = pairs(id, text, [*children, *inserted], orders) if state["blend"] > 0 else []
    meeting = [pair for pair in pairs_with_inserted if pair not in compared]
    if state["blend"] == 1 and compared:
        judging = [Send("tournament", {"pairs": compared})]
    else:
        scored = state.get("directions", {})
        unscored = [child for child in children if child["id"] not in scored]
        judging = [Send("scorer", to_score(child, text)) for child in unscored]
        judging += [Send("pairwise_judge", pair) for pair in compared]
    judging += [Send("scorer", to_score(argument, text)) for argument in inserted]
    return judging + [Send("pairwise_judge", pair) for pair in meeting]


def _growing(state: Growth, settings: Settings) -> list[Send]:
    """Grow the arguments that the debaters argue about, or below which a person inserted others."""
    deeper = state["argued"] and len(state["path"]) + 1 < settings.depth
    path, blend = [*state["path"], state["text"]], state["blend"]
    sends = []
    for child in [*state["children"], *state["inserted"]]:
        argued = deeper and child in state["children"]
        if argued or child["id"] in state["insertions_below"]:
            sprout: Sprout = {
                "id": child["id"],
                "text": child["text"],
                "path": path,
                "blend": blend,
                "argued": argued,
            }
            sends.append(Send("grow", sprout))
    return sends


async def grow(state: Sprout) -> dict[str, Any]:
    """Grow one child by calling this graph itself."""
    return await graph.ainvoke(state)


def queries(state: Growth) -> list[str]:
    """Search for the claim or argument that the debaters argue about."""
    return [state["text"]] if state["argued"] else []


CITES: Any = {"evidence": "cites", "of": "arguments"}
"""Both sides point at sentences for each of their arguments."""

flow = Flow(Growth, settings=Settings, input=Sprout, output=Grown)
flow.evidence("material", queries)
flow.role("supporter", arguer("support"), **CITES)
flow.role("attacker", arguer("attack"), **CITES)
flow.step("branching", branching)
flow.role("supporter_again", arguer("support", again=True), **CITES)
flow.role("attacker_again", arguer("attack", again=True), **CITES)
flow.role("directed_scorer", scorer(directed=True), evidence="cited")
flow.step("stance_check", stance_check)
flow.role("scorer", scorer(), evidence="cited")
flow.role("pairwise_judge", pairwise_judge, evidence="cited")
flow.graph("tournament", tournament)
flow.step("grow", grow, calls_itself=True)

flow.then(START, "material", ("supporter", "attacker"), "branching")
judging = ("scorer", "pairwise_judge", "tournament", "grow")
flow.route("branching", after_branching, "directed_scorer", *judging)
flow.then("directed_scorer", "stance_check")
flow.route("stance_check", after_check, *judging)
flow.then("supporter_again", "branching")
flow.then("attacker_again", "branching")
for last in judging:
    flow.then(last, END)
graph = flow.compile("argument_growth")
