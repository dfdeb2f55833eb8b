"""One claim or argument of an ART tree and all that grows below it: the same graph for each child.

ART, section 3.1. The arguments of a level meet in their tournament while they grow arguments of
their own, so a tree of depth d takes d + 1 calls one after another.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.events import tell
from dialectree.graphs.adaptive_reasoning_tree import tournament
from dialectree.graphs.ruling import ruled
from dialectree.nodes.adaptive_reasoning_tree.arguer import Drafts, arguer, arguer_again
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    STANCES,
    Argument,
    Grown,
    Stance,
    pairs,
)
from dialectree.nodes.adaptive_reasoning_tree.near_duplicates import near_duplicates
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import Comparisons, pairwise_judge
from dialectree.nodes.adaptive_reasoning_tree.scorer import Scores, scorer
from dialectree.nodes.failures import may_fail
from dialectree.nodes.kinds import SAME_GRAPH


class Sprout(TypedDict):
    """Where an argument tree grows on."""

    id: str
    text: str
    path: list[str]
    """The claim and the arguments from it down to the parent of ``text``; none at the claim."""
    level: int
    """Levels below the claim."""
    depth: int
    """Depth of the node in the whole tree of the run."""
    blend: float
    """Lambda: 0 holds no tournament; at 1 only those that none decided are scored."""


class Growth(Sprout, Grown, Drafts):
    """One argument while its own arguments grow."""

    again: dict[Stance, list[int]]
    """Places of near-duplicates on each side; there once they are asked for again."""
    children: list[Argument]


class Again(TypedDict):
    """What is asked for again."""

    again: dict[Stance, list[int]]


class Branched(TypedDict):
    """The children."""

    children: list[Argument]
    arguments: list[Argument]
    unheard: list[str]


async def branching(state: Growth, runtime: Runtime[Context]) -> Again | Branched:
    """The arguments become nodes, once near-duplicates among them were asked for again.

    What is absent or still a near-duplicate is said, not invented. A supporter's id ends in its
    place, an attacker's in breadth + its place.
    """
    doubles = {stance: _doubles(state, stance) for stance in STANCES}
    if any(doubles.values()) and "again" not in state:
        return {"again": doubles}
    breadth = settings(runtime).breadth
    children: list[Argument] = []
    unheard: list[str] = []
    for shift, stance in enumerate(STANCES):
        said = _said(state, stance)
        if not said:
            unheard = [state["id"]]
        if "" in said.values():
            tell(runtime, state["id"], "declined", {"stance": stance})
        if doubles[stance]:
            note = f"{stance}: near-duplicates dropped: {len(doubles[stance])}"
            tell(runtime, state["id"], "noted", {"note": note})
        for place, text in said.items():
            if text and place not in doubles[stance]:
                name = f"{state['id']}.{shift * breadth + place}"
                children.append({"id": name, "parent": state["id"], "stance": stance, "text": text})
    _tell_children(state, runtime, children)
    return {"children": children, "arguments": children, "unheard": unheard}


def _tell_children(state: Growth, runtime: Runtime[Context], children: list[Argument]) -> None:
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
    """The texts of one side by place; the second try counts."""
    drafts = [draft for draft in state["drafts"] if draft["stance"] == stance]
    said = {d["place"]: d["text"] for d in sorted(drafts, key=lambda draft: draft["round"])}
    return dict(sorted(said.items()))


def _doubles(state: Growth, stance: Stance) -> list[int]:
    """Places of the near-duplicates on one side."""
    said = _said(state, stance)
    return [[*said][place] for place in near_duplicates([*said.values()])]


def after_branching(
    state: Growth, runtime: Runtime[Context]
) -> list[Send] | list[Literal["supporter_again", "attacker_again"]] | str:
    """This level is judged, and beside it every argument of it grows; if there is any.

    Before that, near-duplicates are asked for again.
    """
    if "children" not in state:
        return _again(state)
    if not state["children"]:
        return END
    return [*_judging(state, runtime), *_growing(state, runtime)]


def _again(state: Growth) -> list[Literal["supporter_again", "attacker_again"]]:
    again: list[Literal["supporter_again", "attacker_again"]] = []
    if state["again"]["support"]:
        again.append("supporter_again")
    if state["again"]["attack"]:
        again.append("attacker_again")
    return again


def _judging(state: Growth, runtime: Runtime[Context]) -> list[Send]:
    """All at once, unless it takes the whole tournament to know who must be scored."""
    children, blend = state["children"], state["blend"]
    compared = pairs(children, settings(runtime).judge_orders) if blend > 0 else []
    tournament_alone = blend == 1 and bool(compared)
    entries: tournament.Entries = {
        "id": state["id"],
        "text": state["text"],
        "to_score": [] if tournament_alone else children,
        "pairs": compared,
    }
    if tournament_alone:
        return [Send("tournament", entries)]
    return tournament.all_at_once(entries)


def _growing(state: Growth, runtime: Runtime[Context]) -> list[Send]:
    if state["level"] + 1 >= settings(runtime).depth:
        return []
    return [Send("grow", _sprout(state, child)) for child in state["children"]]


def _sprout(state: Growth, child: Argument) -> Sprout:
    return {
        "id": child["id"],
        "text": child["text"],
        "path": [*state["path"], state["text"]],
        "level": state["level"] + 1,
        "depth": state["depth"] + 1,
        "blend": state["blend"],
    }


async def grow(state: Sprout) -> Grown:
    """One child, by this very graph."""
    grown = await graph.ainvoke(state)
    return {
        "arguments": grown["arguments"],
        "scores": grown["scores"],
        "comparisons": grown["comparisons"],
        "unheard": grown["unheard"],
    }


undrafted: Drafts = {"drafts": []}
unscored: Scores = {"scores": []}
uncompared: Comparisons = {"comparisons": []}

builder = StateGraph(Growth, context_schema=Context, input_schema=Sprout, output_schema=Grown)
builder.add_node("supporter", may_fail(arguer("support"), undrafted))
builder.add_node("attacker", may_fail(arguer("attack"), undrafted))
builder.add_node("branching", branching)
builder.add_node("supporter_again", may_fail(arguer_again("support"), undrafted))
builder.add_node("attacker_again", may_fail(arguer_again("attack"), undrafted))
builder.add_node("scorer", may_fail(scorer, unscored))
builder.add_node("pairwise_judge", may_fail(pairwise_judge, uncompared))
builder.add_node("tournament", tournament.graph)
builder.add_node("grow", grow, metadata=SAME_GRAPH)
builder.add_edge(START, "supporter")
builder.add_edge(START, "attacker")
builder.add_edge(["supporter", "attacker"], "branching")
builder.add_conditional_edges(
    "branching",
    ruled(after_branching),
    ["supporter_again", "attacker_again", "scorer", "pairwise_judge", "tournament", "grow", END],
)
builder.add_edge("supporter_again", "branching")
builder.add_edge("attacker_again", "branching")
for judging in ("scorer", "pairwise_judge", "tournament", "grow"):
    builder.add_edge(judging, END)

graph: CompiledStateGraph[Growth, Context, Sprout, Grown] = builder.compile(name="argument_growth")
