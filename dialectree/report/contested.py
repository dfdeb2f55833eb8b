"""Show a contest: what persons changed, and each verdict before and after."""

from __future__ import annotations

from typing import NamedTuple

from dialectree.records import Contest, Node, Override, RunRecord, Turn, Verdict, turns
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
    """Return whether replies were contested; else strengths of arguments moved."""
    return contest.verdict_before is not None


def texts(contest: Contest) -> list[Text]:
    """Return each text that a person replaced, in this contest and earlier ones."""
    found: list[Text] = []
    for change in contest.overrides:
        title = change.words()
        earlier = "" if title in contest.changes else " in an earlier contest"
        found.append(Text(f"{title}{earlier}", _text(change, change.before), _after(change)))
    return found


def restored(contest: Contest) -> list[str]:
    """Return the changes without a text of their own, such as one taken back."""
    shown = {text.title for text in texts(contest)}
    return [change for change in contest.changes if change not in shown]


def _after(change: Override) -> str:
    if change.out():
        return "counts for nobody" if change.what == "voided" else "nothing"
    return _text(change, change.after)


def _text(change: Override, text: str | None) -> str:
    """Return a text; of a comparison who won it, in either order of showing the two."""
    if change.what not in ("flipped", "voided"):
        return text or ""
    supporter, _, attacker = change.id.partition(":")
    won = dict.fromkeys((text or "").split(", "))
    return " / ".join(f"{supporter} {VERBS[winner]} {attacker}" for winner in won)


def verdicts(contest: Contest) -> tuple[str, str]:
    """Return the run's verdict before and after."""
    before, after = standings(contest.verdict_before, contest.verdict_after)
    return before, "not reached yet" if contest.verdict_after is None else after


def standings(before: Verdict | None, after: Verdict | None) -> tuple[str, str]:
    """``B: plant materials (80%)``, twice; without a figure if neither has one."""
    rated = any(of is not None and of.confidence is not None for of in (before, after))
    return _standing(before, rated=rated), _standing(after, rated=rated)


def _standing(of: Verdict | None, *, rated: bool) -> str:
    if of is None or (of.answer is None and of.label is None):
        return "no verdict"
    label = of.label if of.label != of.answer else None
    answer = ": ".join(part for part in (label, of.answer) if part)
    return f"{answer} ({words.share(of.confidence)})" if rated else answer


def steps(record: RunRecord) -> list[Step]:
    """Return every node whose verdict moved, from the bottom up."""
    moved = record.contest.moved if record.contest is not None else []
    nodes = record.tree.nodes
    found: list[Step] = []
    for move in moved:
        before, after = standings(move.before, move.after)
        node = nodes.get(move.node)
        after = "dropped by a person" if node is not None and node.dropped else after
        found.append(Step(move.node, node.text if node is not None else "", before, after))
    return found


def anew(record: RunRecord) -> str:
    """Return how many calls a contest made anew."""
    calls = record.usage.calls
    verb = "was" if calls == 1 else "were"
    return f"{words.count(calls, 'call')} {verb} made anew; all else is as it was said."


def tag(record: RunRecord, node: Node, turn: Turn) -> str:
    """``0.1/A2``, and what a person changed; empty for a turn that cannot be contested."""
    name = turns.printed(record, node, turn)
    for change in reversed(record.contest.overrides) if record.contest is not None else []:
        if any(spot.spot() == turn.spot() for spot in change.spots):
            return ", ".join(filter(None, [name, _MADE[change.what]]))
    return name


_MADE = {
    "replaced": "in a person’s words",
    "ruled": "set by a person",
    "dropped": "dropped by a person",
    "set": "set by a person",
    "flipped": "flipped by a person",
    "voided": "voided by a person",
    "added": "added by a person",
}
