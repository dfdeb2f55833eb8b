"""What a person changes in an argument tree: each wish in words, and as the events that tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from dialectree.contests.account import exact
from dialectree.contests.reckoning import Nodes, event_of, nodes_of
from dialectree.contests.wishes import Add, Drop, Flip, Replace, Restore, Rule, Set, Void, Wish
from dialectree.errors import InputError
from dialectree.nodes.adaptive_reasoning_tree.arguments import Stance, Winner
from dialectree.nodes.adaptive_reasoning_tree.weighing import Told
from dialectree.records import Comparison, Event, Node, path_key
from dialectree.user_input import tidy


def fulfilled(events: Sequence[Event], wishes: Sequence[Wish]) -> tuple[list[str], list[Event]]:
    """What the wishes change, in words and as events; each in the light of those before it."""
    if not wishes:
        flags = "--set, --drop, --flip, --void, --restore or --add"
        raise InputError(f"nothing is contested: give {flags}")
    words: list[str] = []
    changes: list[Event] = []
    for wish in wishes:
        node, change, told, marks = _wish([*events, *changes], wish)
        words.append(change)
        told.append((node, "contested", {"change": change, **marks}))
        changes += [event_of("", one) for one in told]
    return words, changes


class Changed(NamedTuple):
    """What one wish comes to."""

    node: str
    """Where it is noted."""
    change: str
    """In words."""
    told: list[Told]
    marks: dict[str, bool]
    """What becomes of the node: dropped or not, added."""


def _wish(events: Sequence[Event], wish: Wish) -> Changed:
    """One wish in words, and as events."""
    nodes = nodes_of(events)
    match wish:
        case Set(name, tau):
            return _set(nodes, name, tau)
        case Drop(name):
            if _argument(nodes, name).dropped:
                raise InputError(f"--drop {name}: it is dropped already")
            return Changed(name, f"{name} dropped", [], {"dropped": True})
        case Restore(name, ""):
            if not _argument(nodes, name).dropped:
                raise InputError(f"--restore {name}: it was not dropped")
            return Changed(name, f"{name} restored", [], {"dropped": False})
        case Flip(one, other):
            return _compare(events, nodes, "flip", one, other)
        case Void(one, other):
            return _compare(events, nodes, "void", one, other)
        case Restore(one, other):
            return _compare(events, nodes, "restore", one, other)
        case Add(stance, parent, text):
            return _add(nodes, stance, parent, text)
        case Replace(name, _):
            why = "give another one (--add), or drop it"
            raise InputError(f"--replace {name}: an argument was judged by its words; {why}")
        case Rule(name, _):
            why = "it is reckoned from strengths and comparisons; contest those"
            raise InputError(f"--verdict {name}: {why}")


def _node(nodes: Nodes, name: str) -> Node:
    if name not in nodes:
        raise InputError(f"{name}: the run has no such argument; dialectree show prints their ids")
    return nodes[name]


def _argument(nodes: Nodes, name: str) -> Node:
    if (node := _node(nodes, name)).kind != "argument":
        what = "the claim, not an argument" if node.kind == "claim" else "no argument"
        raise InputError(f"{name} is {what}")
    return node


def _way_up(nodes: Nodes, name: str | None) -> Iterator[str]:
    while name is not None:
        yield name
        name = nodes[name].parent


def one_tree(nodes: Nodes, name: str, flag: str) -> Node:
    """A claim or an argument; not the claim above several trees, which the maths only averages."""
    node = _node(nodes, name)
    if any(nodes[child].kind == "claim" for child in node.children):
        raise InputError(f"{flag}: {name} stands above several trees; name one of them")
    return node


def _set(nodes: Nodes, name: str, tau: float | None) -> Changed:
    node = one_tree(nodes, name, f"--set {name}={tau}")
    if tau is not None:
        if not 0 <= tau <= 1:
            raise InputError(f"--set {name}={tau}: a strength lies in 0 to 1")
        tau += 0.0  # -0 is 0
    change = f"strength of {name} set to {exact(tau)} (before: {exact(node.score('tau'))})"
    return Changed(name, change, [(name, "scored", {"scores": {"tau": tau}})], {})


def _compare(
    events: Sequence[Event], nodes: Nodes, what: Literal["flip", "void", "restore"], *pair: str
) -> Changed:
    """A comparison that a person changes; in both orders where there are two."""
    found = met(nodes, what, *pair)
    one, other = pair
    parent = nodes[one].parent or ""
    told: list[Told] = [
        (parent, "compared", _changed(c, what, _ruled(events, c)).model_dump()) for c in found
    ]
    return Changed(parent, f"comparison of {one} and {other} {_PAST[what]}", told, {})


def met(
    nodes: Nodes, what: Literal["flip", "void", "restore"], one: str, other: str
) -> list[Comparison]:
    """The comparison of two arguments, once for each order; InputError where ``what`` cannot be."""
    flag = f"--{what} {one}:{other}"
    parent = _argument(nodes, one).parent or ""
    pair = {one, _argument(nodes, other).id}
    found = [c for c in nodes[parent].comparisons if {c.supporter, c.attacker} == pair]
    if not found:
        raise InputError(f"{flag}: these two were not compared")
    void = found[0].contested == "voided"
    if what == "restore" and not void:
        raise InputError(f"{flag}: it was not voided")
    if what != "restore" and void:
        raise InputError(f"{flag}: it is void; --restore brings it back")
    if what == "flip" and all(c.winner == "TIE" for c in found):
        raise InputError(f"{flag}: it was a tie; there is nothing to flip")
    if what == "flip" and {c.winner for c in found} == {"SUPPORT", "ATTACK"}:
        hint = f"--void {one}:{other} takes them out"
        raise InputError(f"{flag}: its two orders disagree; there is nothing to flip, and {hint}")
    return found


_PAST = {"flip": "flipped", "void": "voided", "restore": "restored"}
OTHER: dict[Winner, Winner] = {"SUPPORT": "ATTACK", "ATTACK": "SUPPORT", "TIE": "TIE"}
"""Who wins where the other one would have."""


def _ruled(events: Sequence[Event], comparison: Comparison) -> Winner:
    """Who won before any person changed it."""
    told = (Comparison.model_validate(event.data) for event in events if event.kind == "compared")
    return next(first.winner for first in told if first.pair() == comparison.pair())


def _changed(comparison: Comparison, what: str, ruled: Winner) -> Comparison:
    winner = OTHER[comparison.winner] if what == "flip" else comparison.winner
    mark = "voided" if what == "void" else "flipped" if winner != ruled else None
    return comparison.model_copy(update={"winner": winner, "contested": mark})


def _add(nodes: Nodes, stance: Stance, parent: str, text: str) -> Changed:
    """An argument of the person's own, after its siblings."""
    flag = f"--add {stance}:{parent}"
    above = one_tree(nodes, parent, flag)
    if out := next((part for part in _way_up(nodes, parent) if nodes[part].dropped), None):
        raise InputError(f"{flag}: {out} is dropped; --restore {out} brings it back")
    name = f"{parent}.{max((path_key(c)[-1] for c in above.children), default=-1) + 1}"
    said = tidy(text, "argument")
    if not any(map(str.isalnum, said)):
        raise InputError(f"{flag}: this argument has no word in it")
    opened: dict[str, object] = {
        "text": said,
        "depth": above.depth + 1,
        "parent": parent,
        "kind": "argument",
        "stance": stance,
    }
    children: dict[str, object] = {"children": [*above.children, name], "kind": above.kind}
    change = f"{name} added: it {'supports' if stance == 'support' else 'attacks'} {parent}"
    told: list[Told] = [(name, "opened", opened), (parent, "branched", children)]
    return Changed(name, change, told, {"added": True})
