"""One claim or argument of an ART tree and all that grows below it: the same graph for each child.

ART, section 3.1. The arguments of a level meet in their tournament while they grow arguments of
their own, so a tree of depth d takes d + 1 calls one after another.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.context import settings
from dialectree.events import tell
from dialectree.flow import Flow
from dialectree.graphs.adaptive_reasoning_tree import tournament
from dialectree.models.overrides import Overrides
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguer import arguer, arguer_again
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    STANCES,
    Argument,
    Grown,
    Pair,
    Stance,
    pairs,
)
from dialectree.nodes.adaptive_reasoning_tree.near_duplicates import near_duplicates
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import pairwise_judge
from dialectree.nodes.adaptive_reasoning_tree.scorer import scorer
from dialectree.nodes.adaptive_reasoning_tree.state import Entries, Growth, Settings, Sprout


async def branching(state: Growth, runtime: Runtime[Settings]) -> dict[str, object]:
    """Make the arguments nodes, once near-duplicates among them were asked for again.

    An absent argument or a second near-duplicate is noted, not invented. A supporter's id ends in
    its place, an attacker's in breadth + its place. Arguments that a person inserted come last.
    """
    doubles = {stance: _doubles(state, stance) for stance in STANCES}
    if any(doubles.values()) and "again" not in state:
        return {"again": doubles}
    breadth = settings(runtime, Settings).breadth
    children: list[Argument] = []
    silent: list[Stance] = []
    for shift, stance in enumerate(STANCES if state["argued"] else ()):
        said = _said(state, stance)
        if not said:
            silent.append(stance)
        if "" in said.values():
            tell(runtime, state["id"], "noted", {"data": {"declined": {stance: True}}})
        if doubles[stance]:
            note = f"{stance}: near-duplicates dropped: {len(doubles[stance])}"
            tell(runtime, state["id"], "noted", {"note": note})
        for place, text in said.items():
            if text and place not in doubles[stance]:
                name = f"{state['id']}.{shift * breadth + place}"
                children.append({"id": name, "parent": state["id"], "stance": stance, "text": text})
    overrides = run_of(runtime).overrides
    inserted = _inserted(state["id"], [child["id"] for child in children], overrides)
    every = [*children, *inserted]
    _tell_children(state, runtime, every)
    unheard = set(silent) - {argument["stance"] for argument in inserted}
    return {
        "children": children,
        "inserted": inserted,
        "insertions_below": [one["id"] for one in every if overrides.inserts_below(one["id"])],
        "arguments": every,
        "unheard": [state["id"]] if unheard else [],
    }


def _inserted(parent: str, taken: list[str], overrides: Overrides) -> list[Argument]:
    """Return the arguments that a person inserted below ``parent`` under ids that are free."""
    return [
        {"id": one.id, "parent": parent, "stance": one.stance, "text": one.text}
        for one in overrides.inserted(parent, taken)
    ]


def _tell_children(state: Growth, runtime: Runtime[Settings], children: list[Argument]) -> None:
    for child in children:
        told = {
            "text": child["text"],
            "depth": state["depth"] + 1,
            "parent": state["id"],
            "kind": "argument",
            "stance": child["stance"],
        }
        tell(runtime, child["id"], "opened", told)
    kind = "claim" if state["level"] == 0 else "argument"
    names = [child["id"] for child in children]
    tell(runtime, state["id"], "branched", {"children": names, "kind": kind})


def _said(state: Growth, stance: Stance) -> dict[int, str]:
    """Return the texts of one side by place; the second try counts."""
    drafts = [draft for draft in state["drafts"] if draft["stance"] == stance]
    said = {d["place"]: d["text"] for d in sorted(drafts, key=lambda draft: draft["round"])}
    return dict(sorted(said.items()))


def _doubles(state: Growth, stance: Stance) -> list[int]:
    """Return the places of the near-duplicates on one side."""
    said = _said(state, stance)
    return [[*said][place] for place in near_duplicates([*said.values()])]


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
    judging = [*_judging(state, settings), *_judging_inserted(state, settings)]
    return [*judging, *_growing(state, settings)]


def _again(state: Growth) -> list[Literal["supporter_again", "attacker_again"]]:
    again: list[Literal["supporter_again", "attacker_again"]] = []
    if state["again"]["support"]:
        again.append("supporter_again")
    if state["again"]["attack"]:
        again.append("attacker_again")
    return again


def _judging(state: Growth, settings: Settings) -> list[Send]:
    """Judge all at once, unless only the whole tournament shows who must be scored."""
    children, blend = state["children"], state["blend"]
    compared = pairs(children, settings.judge_orders) if blend > 0 else []
    tournament_alone = blend == 1 and bool(compared)
    entries: Entries = {
        "id": state["id"],
        "text": state["text"],
        "to_score": [] if tournament_alone else children,
        "pairs": compared,
    }
    if tournament_alone:
        return [Send("tournament", entries)]
    return tournament.all_at_once(entries)


def _judging_inserted(state: Growth, settings: Settings) -> list[Send]:
    """Score what a person inserted, and compare it with what it meets.

    The other arguments were judged without it, and are not judged again.
    """
    met: list[Pair] = []
    if state["blend"] > 0:
        before = pairs(state["children"], settings.judge_orders)
        every = pairs([*state["children"], *state["inserted"]], settings.judge_orders)
        met = [pair for pair in every if pair not in before]
    entries: Entries = {
        "id": state["id"],
        "text": state["text"],
        "to_score": state["inserted"],
        "pairs": met,
    }
    return tournament.all_at_once(entries)


def _growing(state: Growth, settings: Settings) -> list[Send]:
    argued = state["children"] if state["argued"] and state["level"] + 1 < settings.depth else []
    sprouts = [_sprout(state, child, argued=True) for child in argued]
    for child in [*state["children"], *state["inserted"]]:
        if child["id"] in state["insertions_below"] and child not in argued:
            sprouts.append(_sprout(state, child, argued=False))
    return [Send("grow", sprout) for sprout in sprouts]


def _sprout(state: Growth, child: Argument, *, argued: bool) -> Sprout:
    return {
        "id": child["id"],
        "text": child["text"],
        "path": [*state["path"], state["text"]],
        "level": state["level"] + 1,
        "depth": state["depth"] + 1,
        "blend": state["blend"],
        "argued": argued,
    }


async def grow(state: Sprout) -> Grown:
    """Grow one child by this very graph."""
    grown = await graph.ainvoke(state)
    return {
        "arguments": grown["arguments"],
        "scores": grown["scores"],
        "comparisons": grown["comparisons"],
        "unheard": grown["unheard"],
    }


flow = Flow(Growth, settings=Settings, input=Sprout, output=Grown)
flow.role("supporter", arguer("support"))
flow.role("attacker", arguer("attack"))
flow.step("branching", branching)
flow.role("supporter_again", arguer_again("support"))
flow.role("attacker_again", arguer_again("attack"))
flow.role("scorer", scorer)
flow.role("pairwise_judge", pairwise_judge)
flow.graph("tournament", tournament.graph)
flow.step("grow", grow, calls_itself=True)

flow.then(START, ("supporter", "attacker"), "branching")
flow.route("branching", after_branching, "scorer", "pairwise_judge", "tournament", "grow")
flow.then("supporter_again", "branching")
flow.then("attacker_again", "branching")
for last in ("scorer", "pairwise_judge", "tournament", "grow"):
    flow.then(last, END)
graph = flow.compile("argument_growth")
