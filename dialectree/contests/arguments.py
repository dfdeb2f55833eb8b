"""Change an argument tree: a strength, a comparison, an argument.

What its roles say is declared: a phase with a ``score``, a ``winner``, or that ``inserts``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from dialectree.contests.draft import Draft
from dialectree.errors import InputError
from dialectree.protocols.user_input import tidy
from dialectree.records import ARGUMENT, Comparison, Node, Override, Stance, Turn, path_key
from dialectree.system.streams import program

_OTHER = {"SUPPORT": "ATTACK", "ATTACK": "SUPPORT"}


def set_strength(draft: Draft, name: str, tau: float | None) -> None:
    """Give an argument or a claim another strength of its own; None: it has none."""
    tau = None if tau is None else tau + 0.0  # -0 is 0
    flag = f"--set {name}={_exact(tau)}"
    node = _weighed(draft, name, flag)
    if tau is not None and not 0 <= tau <= 1:
        raise InputError(f"{flag}: a strength lies in 0 to 1")
    if tau == node.score("tau"):
        raise InputError(f"{flag}: nothing to change, that is its strength already")
    phase = next(phase for phase in draft.phases if phase.score is not None)
    spot = Turn(node=name, phase=phase.name, role=phase.role)
    for turn in node.transcript:
        if (known := draft.phase(turn)) is not None and known.score is not None:
            phase, spot = known, draft.spot(turn)
    assert phase.score is not None
    reply = None if tau is None else phase.score(tau)
    before, after = _exact(node.score("tau")), _exact(tau)
    draft.hold(Override(id=name, what="set", spots=[spot], reply=reply, before=before, after=after))


def _exact(value: float | None) -> str:
    """Write a strength so that it can be set again."""
    return "none" if value is None else repr(value)


def flip(draft: Draft, one: str, other: str) -> None:
    """Let the other argument win, in both orders where there are two; a tie stays as it is."""
    flag = f"--flip {one}:{other}"
    met = _compared(draft, flag, one, other)
    if met[0].contested == "voided":
        raise InputError(f"{flag}: it is void; --restore brings it back")
    winners = {comparison.winner for comparison in met} - {"TIE"}
    if not winners:
        raise InputError(f"{flag}: it was a tie; there is nothing to flip")
    if len(winners) > 1:
        hint = f"--void {one}:{other} takes them out"
        raise InputError(f"{flag}: its two orders disagree; there is nothing to flip, and {hint}")
    decided = [comparison for comparison in met if comparison.winner != "TIE"]
    override = _override(draft, "flipped", decided, _OTHER[winners.pop()])
    if (earlier := draft.overrides.get(override.key())) is not None:
        draft.take_back(earlier, override.words())  # flipped back
    else:
        draft.hold(override)


def void(draft: Draft, one: str, other: str) -> None:
    """Let a comparison count for nobody."""
    flag = f"--void {one}:{other}"
    met = _compared(draft, flag, one, other)
    if met[0].contested == "voided":
        raise InputError(f"{flag}: it is void; --restore brings it back")
    draft.hold(_override(draft, "voided", met, None))


def restore_comparison(draft: Draft, one: str, other: str) -> None:
    """Let a void comparison count again."""
    flag = f"--restore {one}:{other}"
    override = draft.find(f"{one}:{other}", "out") or draft.find(f"{other}:{one}", "out")
    if override is None:
        _compared(draft, flag, one, other)
        raise InputError(f"{flag}: it was not voided")
    draft.take_back(override, f"comparison of {one} and {other} restored")


def _override(
    draft: Draft, what: Literal["flipped", "voided"], met: list[Comparison], winner: str | None
) -> Override:
    """Return the override of a comparison in each of its orders."""
    phase = next(phase for phase in draft.phases if phase.winner is not None)
    assert phase.winner is not None
    supporter, attacker = met[0].supporter, met[0].attacker
    parent = draft.record.tree.nodes[supporter].parent or ""
    first = {"support_first": f"{supporter}:{attacker}", "attack_first": f"{attacker}:{supporter}"}
    return Override(
        id=f"{supporter}:{attacker}",
        what=what,
        spots=[_comparing(draft, parent, phase.name, phase.role, first[c.order]) for c in met],
        reply=None if winner is None else phase.winner(winner),
        before=", ".join(comparison.winner for comparison in met),
        after=None if winner is None else ", ".join(winner for _ in met),
    )


def _comparing(draft: Draft, parent: str, stage: str, role: str, who: str) -> Turn:
    """Return where two arguments are compared: at their turn, if there is one."""
    node = draft.record.tree.nodes[parent]
    for turn in node.transcript:
        if (turn.role, turn.speaker) == (role, who):
            return draft.spot(turn)
    return Turn(node=parent, phase=stage, role=role, speaker=who)


def add(draft: Draft, stance: Stance, parent: str, text: str) -> None:
    """Insert an argument of the person's own, after its siblings."""
    flag = f"--add {stance}:{parent}"
    if draft.find(parent, "added") is None:
        _weighed(draft, parent, flag)
    if out := next((part for part in _way_up(parent) if draft.find(part, "out") is not None), None):
        raise InputError(f"{flag}: {out} is dropped; --restore {out} brings it back")
    argument = tidy(text, "argument")
    if not any(map(str.isalnum, argument)):
        raise InputError(f"{flag}: this argument has no word in it")
    name = f"{parent}.{_next_number(draft, parent)}"
    spot = Turn(node=parent, phase="", role=ARGUMENT, side=stance)
    draft.hold(Override(id=name, what="added", spots=[spot], after=argument))


def _next_number(draft: Draft, parent: str) -> int:
    """Return the number after those of all children, dropped ones and insertions included."""
    node = draft.record.tree.nodes.get(parent)
    children = list(node.children) if node is not None else []
    children += [one.id for one in draft.overrides.values() if one.what == "added"]
    numbers = [path_key(c)[-1] for c in children if c.rpartition(".")[0] == parent]
    return max(numbers, default=-1) + 1


def _way_up(node: str) -> Iterator[str]:
    while node:
        yield node
        node = node.rpartition(".")[0]


def dropped(name: str, text: str) -> Override:
    """Return the override by which an argument, and what hangs below it, counts for nothing."""
    spots = [Turn(node=name, phase="", role=ARGUMENT)]
    return Override(id=name, what="dropped", spots=spots, before=text)


def _weighed(draft: Draft, name: str, flag: str) -> Node:
    """Return a claim or an argument, but not the claim above several trees."""
    node = _node(draft, name, flag)
    if node.kind not in ("claim", "argument") and "tau" not in node.scores:
        what = "that is neither a claim nor an argument, and has no strength"
        raise InputError(f"{flag}: {what}")
    if any(draft.record.tree.nodes[child].kind == "claim" for child in node.children):
        raise InputError(f"{flag}: {name} stands above several trees; name one of them")
    return node


def _node(draft: Draft, name: str, flag: str) -> Node:
    if draft.find(name, "added") is not None:
        draft.require_not_dropped(f"{flag}: {name}", name)
    if name not in draft.record.tree.nodes:
        what = f"the run has no such argument; {program()} show prints their ids"
        raise InputError(f"{flag}: {name}: {what}")
    return draft.record.tree.nodes[name]


def _compared(draft: Draft, flag: str, one: str, other: str) -> list[Comparison]:
    """Return the comparison of two arguments, once for each order."""
    for name in (one, other):
        if (node := _node(draft, name, flag)).kind != "argument":
            what = "the claim, not an argument" if node.kind == "claim" else "no argument"
            raise InputError(f"{flag}: {name} is {what}")
    parent = draft.record.tree.nodes[one].parent or ""
    comparisons = draft.record.tree.nodes[parent].comparisons
    met = [c for c in comparisons if {c.supporter, c.attacker} == {one, other}]
    if not met:
        pairs = [f"{c.supporter}:{c.attacker}" for c in comparisons]
        known = f"; compared were {', '.join(dict.fromkeys(pairs))}" if pairs else ""
        raise InputError(f"{flag}: these two were not compared{known}")
    return met
