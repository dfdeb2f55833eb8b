"""A contested debate as it is read: what persons changed, and each verdict before and after."""

from __future__ import annotations

from typing import NamedTuple

from dialectree import turns
from dialectree.records import Contest, Node, Override, RunRecord, Spot, Standing, Turn
from dialectree.report import words
from dialectree.report.arguments import VERBS


class Text(NamedTuple):
    """One text that a person changed."""

    title: str
    before: str
    after: str


class Step(NamedTuple):
    """The verdict of one node before and after."""

    node: str
    text: str
    before: str
    after: str


def debated(contest: Contest) -> bool:
    """True for a contest of what was said; else strengths of arguments moved."""
    return contest.verdict_before is not None


def texts(contest: Contest) -> list[Text]:
    """What persons wrote, now and in the contests before, beside what it took the place of."""
    found: list[Text] = []
    for change in contest.overrides:
        said = change.words()
        earlier = "" if said in contest.changes else " in an earlier contest"
        found.append(Text(f"{said}{earlier}", _said(change, change.before), _after(change)))
    return found


def restored(contest: Contest) -> list[str]:
    """What was taken back, and what else has no text of its own."""
    shown = {text.title for text in texts(contest)}
    return [change for change in contest.changes if change not in shown]


def _after(change: Override) -> str:
    if change.out():
        return "counts for nobody" if change.what == "voided" else "nothing"
    return _said(change, change.after)


def _said(change: Override, text: str | None) -> str:
    """A text; of a comparison who won it, in either order of showing the two."""
    if change.what not in ("flipped", "voided"):
        return text or ""
    supporter, _, attacker = change.id.partition(":")
    won = dict.fromkeys((text or "").split(", "))
    return " / ".join(f"{supporter} {VERBS[winner]} {attacker}" for winner in won)


def verdicts(contest: Contest) -> tuple[str, str]:
    """The run's verdict before and after."""
    before, after = standings(contest.verdict_before, contest.verdict_after)
    return before, "not reached yet" if contest.verdict_after is None else after


def standings(before: Standing | None, after: Standing | None) -> tuple[str, str]:
    """``B: plant materials (80%)``, twice; where neither is rated, no figure is missed."""
    rated = any(of is not None and of.confidence is not None for of in (before, after))
    return _standing(before, rated=rated), _standing(after, rated=rated)


def _standing(of: Standing | None, *, rated: bool) -> str:
    if of is None or (of.answer is None and of.label is None):
        return "no verdict"
    label = of.label if of.label != of.answer else None
    answer = ": ".join(part for part in (label, of.answer) if part)
    return f"{answer} ({words.percent(of.confidence)})" if rated else answer


def steps(record: RunRecord) -> list[Step]:
    """Every node whose verdict moved, from the bottom up."""
    moved = record.contest.moved if record.contest is not None else []
    nodes = record.tree.nodes
    found: list[Step] = []
    for move in moved:
        before, after = standings(move.before, move.after)
        text = nodes[move.node].text if move.node in nodes else ""
        found.append(Step(move.node, text, before, _gone(nodes.get(move.node)) or after))
    return found


def _gone(node: Node | None) -> str:
    return "dropped by a person" if node is not None and node.dropped else ""


def anew(record: RunRecord) -> str:
    """``4 calls were made anew``."""
    made = record.usage.calls
    verb = "was" if made == 1 else "were"
    return f"{words.count(made, 'call')} {verb} made anew; all else is as it was said."


def tag(record: RunRecord | None, node: Node, turn: Turn) -> str:
    """``0.1/A2``, and what a person made of that turn; empty where nobody can contest it."""
    name = turns.printed(record.protocol if record else "", node, turn)
    contest = record.contest if record is not None else None
    for change in reversed(contest.overrides) if contest is not None else []:
        if any(spot.node == node.id and _at(turn, spot) for spot in change.spots):
            return ", ".join(filter(None, [name, _MADE[change.what]]))
    return name


def _at(turn: Turn, spot: Spot) -> bool:
    place = (spot.stage, spot.role, spot.round, spot.take, spot.who)
    return place == (turn.stage, turn.role, turn.round, turn.take, turn.who)


_MADE = {
    "replaced": "in a person’s words",
    "ruled": "set by a person",
    "dropped": "dropped by a person",
    "set": "set by a person",
    "flipped": "flipped by a person",
    "voided": "voided by a person",
    "added": "added by a person",
}
