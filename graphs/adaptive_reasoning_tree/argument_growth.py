"""One claim or argument of an ART tree and all that grows below it: the same graph for each child.

ART, sections 3.1 and 3.2. The arguments of a level meet in their tournament while they grow
arguments of their own, so a tree of depth d takes d + 1 calls one after another. A tournament that
alone decides (lambda = 1) compares all pairs at once, and scores after it only the arguments that
it left without a comparison that counts. From sources, both sides of a parent argue with what is
found for it, and the evaluators read what they cite.
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.flow import Flow
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguer import arguer, near_duplicates
from dialectree.nodes.adaptive_reasoning_tree.scorer import pairwise_judge, scorer, to_score
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


def left_over(state: Growth, settings: Settings) -> list[Send] | Literal["__end__"]:
    """Score the arguments without a comparison that counts.

    A comparison that a person made void is taken as it was, so it causes no new call.
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


flow = Flow(Growth, settings=Settings, input=Growth, output=Grown)
flow.role("pairwise_judge", pairwise_judge, evidence="cited")
flow.step("heard")
flow.role("late_scorer", scorer(late=True), evidence="cited")

flow.fan(START, "pairwise_judge", all_pairs)
flow.then("pairwise_judge", "heard")
flow.route("heard", left_over, "late_scorer")
flow.then("late_scorer", END)
tournament = flow.compile("tournament")


async def branching(state: Growth, runtime: Runtime[Settings]) -> dict[str, object]:
    """Make the arguments nodes, once near-duplicates among them were asked for again.

    An absent argument or a second near-duplicate is noted, not invented. A supporter's id ends in
    its place, an attacker's in breadth + its place. Arguments that a person inserted come last.
    """
    parent, overrides = state["id"], run_of(runtime).overrides
    drafts = [*{draft["id"]: draft for draft in state["drafts"]}.values()]  # the second try counts
    sides = {stance: [one for one in drafts if one["stance"] == stance] for stance in STANCES}
    doubles = {
        stance: near_duplicates([one["text"] for one in own]) for stance, own in sides.items()
    }
    if any(doubles.values()) and "again" not in state:
        return {"again": doubles}
    children: list[Argument] = []
    for stance, own in sides.items():
        if any(not one["text"] for one in own):
            tell(runtime, parent, "noted", {"data": {"declined": {stance: True}}})
        if doubles[stance]:
            note = f"{stance}: near-duplicates dropped: {len(doubles[stance])}"
            tell(runtime, parent, "noted", {"note": note})
        children += [
            one for place, one in enumerate(own) if one["text"] and place not in doubles[stance]
        ]
    inserted: list[Argument] = [
        {"id": one.id, "parent": parent, "stance": one.stance, "text": one.text}
        for one in overrides.inserted(parent, [child["id"] for child in children])
    ]
    arguments = [*children, *inserted]
    for argument in arguments:
        opened = {
            "text": argument["text"],
            "kind": "argument",
            "stance": argument["stance"],
        }
        tell(runtime, argument["id"], "opened", opened)
    names = [argument["id"] for argument in arguments]
    kind = "argument" if state["path"] else "claim"
    tell(runtime, parent, "branched", {"children": names, "kind": kind})
    heard = {argument["stance"] for argument in inserted}
    heard |= {stance for stance, own in sides.items() if own or not state["argued"]}
    return {
        "children": children,
        "inserted": inserted,
        "insertions_below": [name for name in names if overrides.inserts_below(name)],
        "arguments": arguments,
        "unheard": [] if heard == {*STANCES} else [parent],
    }


def after_branching(
    state: Growth, settings: Settings
) -> list[Send] | list[Literal["supporter_again", "attacker_again"]] | Literal["__end__"]:
    """Judge this level, and beside it grow every argument of it; if there is any.

    Before that, ask for near-duplicates again.
    """
    if "children" not in state:
        return _again(state)
    if not state["children"] and not state["inserted"]:
        return "__end__"
    return [*_judging(state, settings), *_growing(state, settings)]


def _again(state: Growth) -> list[Literal["supporter_again", "attacker_again"]]:
    names: dict[Stance, Literal["supporter_again", "attacker_again"]] = {
        "support": "supporter_again",
        "attack": "attacker_again",
    }
    return [name for stance, name in names.items() if state["again"][stance]]


def _judging(state: Growth, settings: Settings) -> list[Send]:
    """Judge all at once, unless only the whole tournament shows which arguments need a score.

    What a person inserted is scored, and compared with what it meets. The other arguments were
    judged without it, and are not judged again.
    """
    id, text, children, inserted = state["id"], state["text"], state["children"], state["inserted"]
    orders = settings.judge_orders
    compared = pairs(id, text, children, orders) if state["blend"] > 0 else []
    every = pairs(id, text, [*children, *inserted], orders) if state["blend"] > 0 else []
    meeting = [pair for pair in every if pair not in compared]
    if state["blend"] == 1 and compared:
        judging = [Send("tournament", {"pairs": compared})]
    else:
        judging = [Send("scorer", to_score(child, text)) for child in children]
        judging += [Send("pairwise_judge", pair) for pair in compared]
    judging += [Send("scorer", to_score(argument, text)) for argument in inserted]
    return judging + [Send("pairwise_judge", pair) for pair in meeting]


def _growing(state: Growth, settings: Settings) -> list[Send]:
    """Grow what the debaters argue about, and what a person inserted arguments below."""
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
    """Grow one child by this very graph."""
    return await graph.ainvoke(state)


def queries(state: Growth) -> list[str]:
    """Look for the claim or argument that the debaters argue about."""
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
flow.role("scorer", scorer(), evidence="cited")
flow.role("pairwise_judge", pairwise_judge, evidence="cited")
flow.graph("tournament", tournament)
flow.step("grow", grow, calls_itself=True)

flow.then(START, "material", ("supporter", "attacker"), "branching")
flow.route("branching", after_branching, "scorer", "pairwise_judge", "tournament", "grow")
flow.then("supporter_again", "branching")
flow.then("attacker_again", "branching")
for last in ("scorer", "pairwise_judge", "tournament", "grow"):
    flow.then(last, END)
graph = flow.compile("argument_growth")
