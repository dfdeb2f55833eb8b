"""Show a contest: what persons changed, and each verdict before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dialectree.records import Contest, Moved, Node, Override, RunRecord, Turn, Verdict, turns
from dialectree.report.arguments import verb
from dialectree.report.figures import NOT_DETERMINED, format_change, format_share
from dialectree.text import count, line


class Changed(NamedTuple):
    """A text, a strength or a verdict before and after a contest."""

    node: str
    """The id of the node that changed; empty for a text that a person replaced."""
    title: str
    before: str
    after: str


def texts(contest: Contest) -> list[Changed]:
    """Return each text that a person replaced, in this contest and earlier ones."""
    changed_texts: list[Changed] = []
    for change in contest.overrides:
        title = change.words()
        earlier = "" if title in contest.changes else " in an earlier contest"
        after = _text(change, change.after)
        if change.out():
            after = "does not count" if change.what == "voided" else "nothing"
        changed_texts.append(Changed("", f"{title}{earlier}", _text(change, change.before), after))
    return changed_texts


def list_changes_without_text(contest: Contest) -> list[str]:
    """Return the changes that :func:`texts` does not list, such as a change that was undone."""
    titles = {text.title for text in texts(contest)}
    return [change for change in contest.changes if change not in titles]


def _text(change: Override, text: str | None) -> str:
    """Return a changed text; for a comparison, who won it in each order of the arguments."""
    if change.what not in ("flipped", "voided"):
        return text or ""
    supporter, _, attacker = change.id.partition(":")
    won = dict.fromkeys((text or "").split(", "))
    return " / ".join(f"{supporter} {verb(winner)} {attacker}" for winner in won)


def verdicts(contest: Contest) -> tuple[str, str]:
    """Return the run's verdict before and after the contest."""
    if contest.verdict_before is None:
        labels = (NOT_DETERMINED if of is None else str(of > 0.5) for of in (contest.before, contest.after))
        before, after = (
            f"P(claim) {of}, {label}"
            for of, label in zip(format_change(contest.before, contest.after), labels, strict=True)
        )
        return before, after
    before, after = standings(contest.verdict_before, contest.verdict_after)
    return before, "not reached yet" if contest.verdict_after is None else after


def standings(before: Verdict | None, after: Verdict | None) -> tuple[str, str]:
    """Return two verdicts, as ``B: plant materials (0.80)``; without figures if both lack a confidence."""
    rated = any(of is not None and of.confidence is not None for of in (before, after))
    return _standing(before, rated=rated), _standing(after, rated=rated)


def _strengths(before: Verdict | None, after: Verdict | None) -> tuple[str, str]:
    was, now = (None if of is None else of.confidence for of in (before, after))
    return format_change(was, now)


def _standing(of: Verdict | None, *, rated: bool) -> str:
    if of is None or (of.answer is None and of.label is None):
        return "no verdict"
    label = of.label if of.label != of.answer else None
    answer = ": ".join(part for part in (label, of.answer) if part)
    return f"{answer} ({format_share(of.confidence)})" if rated else answer


def steps(record: RunRecord) -> list[Changed]:
    """Return every node whose strength or verdict moved, from the bottom up."""
    contest, nodes = record.contest, record.tree.nodes
    if contest is None:
        return []
    moved_nodes: list[Changed] = []
    for name, before, after in format_moved_nodes(contest.moved, weighed=contest.verdict_before is None):
        node = nodes.get(name)
        after = "dropped by a person" if node is not None and node.dropped else after
        moved_nodes.append(Changed(name, node.text if node is not None else "", before, after))
    return moved_nodes


def format_moved_nodes(moved: Sequence[Moved], *, weighed: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the id of each node that moved, with its verdict or strength before and after."""
    for move in moved:
        yield move.node, *(_strengths if weighed else standings)(move.before, move.after)


def changes(record: RunRecord) -> list[str]:
    """Return what moved the verdict or why it stayed, then a line for each node that moved."""
    why = [record.contest.why] if record.contest is not None and record.contest.why else []
    return [*why, *map(step, steps(record))]


def step(change: Changed) -> str:
    """Return ``0.1 Bees live in hives: 0.41 → 0.50``."""
    name = f"{change.node} {line(change.title, 60)}".rstrip()
    return f"{name}: {line(change.before, 120)} → {line(change.after, 120)}"


def anew(record: RunRecord) -> str:
    """Return how many calls a contest repeated."""
    calls = record.usage.calls
    verb = "was" if calls == 1 else "were"
    return f"{count(calls, 'call')} {verb} repeated; everything else is unchanged."


def tag(record: RunRecord, node: Node, turn: Turn) -> str:
    """Return ``0.1/A2`` and how a person changed the turn; empty if the turn cannot be contested."""
    name = turns.find_contestable_name(record, node, turn)
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
