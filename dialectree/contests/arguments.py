"""Weigh an argument tree in another way: set strengths, flip comparisons, add arguments."""

from __future__ import annotations

from typing import Literal

from dialectree.contests.changes import Draft
from dialectree.contests.wishes import Change
from dialectree.errors import InputError
from dialectree.protocols.forms import tidy
from dialectree.protocols.protocol import Phase
from dialectree.records import ARGUMENT, Comparison, Node, Override, Turn, path_key
from dialectree.system.streams import program

_WEIGHED = ("claim", "argument")


def set_strength(draft: Draft, change: Change) -> None:
    """Set the own strength of an argument or a claim, or clear it, for all its scorers.

    If the change names a turn, only the figure of that turn's scorer changes.
    """
    scorer_turn, strength = draft.turns.get(change.id), change.strength()
    name, _, score_name = change.id.partition("/")
    node = _require_weighed_node(draft, change, name)
    phases = _scoring(draft, node)
    if scorer_turn is not None and (its := draft.phase_of(scorer_turn)) is not None:
        score_name = its.scored
    if score_name and score_name not in phases:
        raise InputError(f"{change.flag}: {name} has no such figure; it has {', '.join(phases)}")
    if not score_name and len(phases) > 1:
        forms = " or ".join(f"{name}/{figure}" for figure in phases)
        raise InputError(f"{change.flag}: {name} has several numbers; name one: {forms}")
    of, phase = phases[score_name or next(iter(phases))]
    if scorer_turn is None and strength == node.score(phase.scored):
        raise InputError(f"{change.flag}: nothing to change, that is its strength already")
    scored = {
        turn.speaker: draft.own_words(turn) for turn in node.transcript if draft.phase_of(turn) is phase
    }
    names = draft.judges(of, phase) if phase.judges or not scored else [*scored]
    place = Turn(node=node.id, phase=phase.name, role=phase.role)
    spots = [
        scored.get(who) or place.model_copy(update={"speaker": who})
        for who in (names if scorer_turn is None else [scorer_turn.speaker])
    ]
    assert phase.score is not None
    before, after = (
        "none" if value is None else repr(value) for value in (node.score(phase.scored), strength)
    )
    reply = None if strength is None else phase.score(strength)
    override_id = name if len(phases) == 1 else f"{name}/{phase.scored}"
    if scorer_turn is not None:
        override_id, before = change.id, "its own"
    draft.hold(Override(id=override_id, what="set", spots=spots, reply=reply, before=before, after=after))


def weigh(draft: Draft, change: Change) -> None:
    """Flip a comparison of two arguments, in both orders, or void it."""
    met = _require_comparisons(draft, change)
    winners = {*_comparing(draft, met[0]).winners}.intersection(ruling.winner for ruling in met)
    if met[0].contested == "voided":
        raise InputError(f"{change.flag}: it is void; `restore` brings it back")
    if change.change == "void":
        draft.hold(_comparison(draft, "voided", met, None))
        return
    if not winners:
        raise InputError(f"{change.flag}: it was a tie; there is nothing to flip")
    if len(winners) > 1:
        raise InputError(f"{change.flag}: its two orders disagree; there is nothing to flip, `void` it")
    decided = [comparison for comparison in met if comparison.winner in winners]
    (new_winner,) = {*_comparing(draft, met[0]).winners} - winners
    override = _comparison(draft, "flipped", decided, new_winner)
    if (earlier := draft.overrides.get(override.key())) is not None:
        draft.take_back(earlier, override.words())  # flipped back
    else:
        draft.hold(override)


def _comparing(draft: Draft, met: Comparison) -> Phase:
    """Return the phase of the arguments' protocol that compared the two."""
    return draft.phases_at(draft.nodes[met.supporter], "winner")[0][1]


def _comparison(
    draft: Draft, kind: Literal["flipped", "voided"], met: list[Comparison], winner: str | None
) -> Override:
    """Return the override of a comparison in each of its orders."""
    phase = _comparing(draft, met[0])
    assert phase.winner is not None
    supporter, attacker = met[0].supporter, met[0].attacker
    parent = draft.nodes[draft.nodes[supporter].parent or ""]
    spots: list[Turn] = []
    for comparison in met:
        who = f"{supporter}:{attacker}" if comparison.order == "support_first" else f"{attacker}:{supporter}"
        place = Turn(node=parent.id, phase=phase.name, role=phase.role, speaker=who)
        matches = (t for t in parent.transcript if (t.role, t.speaker) == (phase.role, who))
        turn = next(matches, None)
        spots.append(place if turn is None else draft.own_words(turn))
    return Override(
        id=f"{supporter}:{attacker}",
        what=kind,
        spots=spots,
        reply=None if winner is None else phase.winner(winner),
        before=", ".join(comparison.winner for comparison in met),
        after=None if winner is None else ", ".join(winner for _ in met),
    )


def _require_weighed_node(draft: Draft, change: Change, name: str) -> Node:
    """Return the node ``name``; refuse one that is not weighed, and a claim above several trees."""
    node = _argument(draft, change, name)
    if change.change == "set" and not _scoring(draft, node):
        raise InputError(f"{change.flag}: {name} gets no strength in this debate")
    if change.change == "add" and not (node.kind in _WEIGHED and draft.phases_at(node, "inserts")):
        raise InputError(f"{change.flag}: {name} is neither a claim nor an argument")
    below = [draft.nodes[child] for child in node.children]
    if any(child_node.kind == "claim" and child_node.protocol == node.protocol for child_node in below):
        raise InputError(f"{change.flag}: {name} has several trees below it; name one of them")
    return node


def _scoring(draft: Draft, node: Node) -> dict[str, tuple[str, Phase]]:
    """Return each phase that gives ``node`` a figure, with its protocol, by the name of the figure."""
    return {
        phase.scored: (protocol, phase)
        for protocol, phase in draft.phases_at(node, "score")
        if phase.scored in node.scores or (protocol == node.protocol and node.kind in _WEIGHED)
    }


def _argument(draft: Draft, change: Change, name: str) -> Node:
    if draft.find(name, "added") is not None:
        draft.require_not_dropped(change, name)
    if name not in draft.nodes:
        hint = f"{program()} show prints their ids"
        raise InputError(f"{change.flag}: {name}: the run has no such argument; {hint}")
    return draft.nodes[name]


def _require_comparisons(draft: Draft, change: Change) -> list[Comparison]:
    """Return the comparison of two arguments, once for each order."""
    pair = change.pair
    assert pair is not None  # a change without a pair was refused
    for name in pair:
        if (node := _argument(draft, change, name)).kind != "argument":
            description = "the claim, not an argument" if node.kind == "claim" else "no argument"
            raise InputError(f"{change.flag}: {name} is {description}")
    parent = draft.nodes[draft.nodes[pair[0]].parent or ""]
    met = [c for c in parent.comparisons if {c.supporter, c.attacker} == {*pair}]
    if not met:
        pairs = [f"{c.supporter}:{c.attacker}" for c in parent.comparisons]
        hint = f"; compared were {', '.join(dict.fromkeys(pairs))}" if pairs else ""
        raise InputError(f"{change.flag}: these two were not compared{hint}")
    return met


def add(draft: Draft, change: Change) -> None:
    """Insert a person's argument after its siblings."""
    parent, text = change.id, tidy(change.text, "argument")
    if draft.find(parent, "added") is None:
        _require_weighed_node(draft, change, parent)
    parts = parent.split(".")
    for part in (".".join(parts[: n + 1]) for n in reversed(range(len(parts)))):
        if draft.find(part, "out") is not None:
            hint = f"`restore` {part} brings it back"
            raise InputError(f"{change.flag}: {part} is dropped; {hint}")
    if not any(map(str.isalnum, text)):
        raise InputError(f"{change.flag}: this argument has no word in it")
    children = [*draft.nodes[parent].children] if parent in draft.nodes else []
    children += [override.id for override in draft.overrides.values() if override.what == "added"]
    numbers = [path_key(c)[-1] for c in children if c.rpartition(".")[0] == parent]
    spots = [Turn(node=parent, phase="", role=ARGUMENT, side=change.stance)]
    name = f"{parent}.{max(numbers, default=-1) + 1}"
    draft.hold(Override(id=name, what="added", spots=spots, after=text))
