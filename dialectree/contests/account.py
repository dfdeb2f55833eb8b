"""What a contest of an argument tree came to: before and after, the path, and one line why."""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.formatting import short
from dialectree.nodes.adaptive_reasoning_tree.arguments import NEUTRAL
from dialectree.records import Change, Contest, Node, RunRecord, path_key


def begun(old: RunRecord, changes: list[str]) -> Contest:
    """What is known before anything is reckoned."""
    return Contest(
        run=old.run_id, changes=changes, before=_probability(old), after=None, path=[], why=""
    )


def _probability(record: RunRecord) -> float | None:
    return None if record.verdict is None else record.verdict.confidence


def compared(old: RunRecord, new: RunRecord) -> Contest:
    """Old and new, node by node."""
    assert new.contest is not None  # the record of a contest says what it contests
    path = [
        Change(node=node.id, before=was, after=now)
        for node in sorted(new.tree.nodes.values(), key=lambda n: (-n.depth, path_key(n.id)))
        if (was := _strength(old.tree.nodes.get(node.id))) != (now := _strength(node))
    ]
    before, after = _probability(old), _probability(new)
    why = _why(new.contest.changes, before, after, [c for c in path if c.node != old.tree.root])
    return new.contest.model_copy(update={"after": after, "path": path, "why": why})


def _strength(node: Node | None) -> float | None:
    """What counts of it; nothing does of an argument that was taken back."""
    return None if node is None or node.taken_back() else node.score("strength")


def _why(
    changes: Sequence[str], before: float | None, after: float | None, below: Sequence[Change]
) -> str:
    """One line: what moved the claim, or why it stayed."""
    said = "; ".join(changes)
    if below:
        moved = max(below, key=_size)
        said += f"; {moved.node} moved most, {_step(moved.before, moved.after)}"
    else:
        said += "; no argument's strength moved"
    if before == after:
        return f"P(claim) stays {short(after)}: {said}"
    labels = [None if p is None else str(p > NEUTRAL) for p in (before, after)]
    label = "" if labels[0] == labels[1] else f", and the label becomes {labels[1] or 'none'}"
    return f"P(claim) goes {_step(before, after)}{label}: {said}"


def _size(change: Change) -> float:
    return abs((change.after or 0.0) - (change.before or 0.0))


def _step(before: float | None, after: float | None) -> str:
    """``from 0.41 to 0.5``; in full where three digits show no difference."""
    was, now = short(before), short(after)
    if was == now:
        was, now = exact(before), exact(after)
    return f"from {was} to {now}"


def exact(value: float | None) -> str:
    """As it must be written to be set again."""
    return "none" if value is None else repr(value)
