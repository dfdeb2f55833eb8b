"""Compare two runs, above all a contest with the contested run: what moved, and why.

If a claim was weighed, the strengths of arguments move. Otherwise the verdicts of nodes do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pydantic import JsonValue

from dialectree.records import (
    Comparison,
    Contest,
    Event,
    Moved,
    Node,
    Order,
    Override,
    RunRecord,
    Tree,
    Verdict,
    path_key,
)
from dialectree.report.figures import NOT_DETERMINED, format_change
from dialectree.report.node_data import Position, topic_of
from dialectree.text import figure

# Events about the changes


def describe_changes(overrides: Sequence[Override], tree: Tree, met: Collection[str]) -> Iterator[Event]:
    """Yield the events about the nodes that the overrides concern.

    ``met`` are the ids of the overrides that the debate reached.
    """
    for override in overrides:
        change = f"{override.words()} by a person"
        if override.id not in met:
            change += ", which the new debate did not reach"
        for node in _find_affected_nodes(override, tree):
            data: dict[str, JsonValue] = {"change": change}
            if override.what == "dropped" and (_is_about_whole_node(override) or _has_nothing_left(node)):
                data["dropped"] = True
            if override.what == "added" and override.spots:
                data["added"] = True
            yield Event(t="", run_id="", node=node.id, kind="contested", data=data)
        if override.what in ("flipped", "voided") and override.id in met:
            yield from _list_comparison_events(override, tree)


def _is_about_whole_node(override: Override) -> bool:
    """Return whether ``override`` concerns a whole node, with all nodes below it."""
    return any(not spot.phase and not spot.role for spot in override.spots)


def _find_affected_nodes(override: Override, tree: Tree) -> Iterator[Node]:
    places = {spot.node for spot in override.spots} or {tree.root}
    if override.what == "added" and override.spots:
        places = {override.id}
    below = override.what == "dropped" and _is_about_whole_node(override)
    for name, node in tree.nodes.items():
        if name in places or (below and any(name.startswith(f"{above}.") for above in places)):
            yield node


def _list_comparison_events(override: Override, tree: Tree) -> Iterator[Event]:
    """Yield events for a comparison that a person flipped or voided, in each of its orders."""
    supporter, attacker = override.id.split(":")
    winners = (override.after or override.before or "").split(", ")
    for spot, winner in zip(override.spots, winners, strict=True):
        if spot.node in tree.nodes:
            order: Order = "support_first" if spot.speaker == override.id else "attack_first"
            met = Comparison(supporter=supporter, attacker=attacker, winner=winner, order=order)
            reasons = {
                comparison.pair(): comparison.reason for comparison in tree.nodes[spot.node].comparisons
            }
            how = {"contested": override.what, "reason": reasons.get(met.pair(), "")}
            met = met.model_copy(update=how)
            yield Event(t="", run_id="", node=spot.node, kind="compared", data=met.model_dump())


def _has_nothing_left(node: Node) -> bool:
    """Return whether nothing remains of a node: an argument, or a topic without arguments.

    A topic whose arguments failed remains.
    """
    if node.kind == "argument":
        return True
    debated = node.kind == "topic" and node.parent is not None
    return debated and not topic_of(node).positions and not node.failures


# Before and after


def make_contest(old: RunRecord, changes: list[str], overrides: list[Override]) -> Contest:
    """Return a contest of ``old``, still without results."""
    return Contest(
        run=old.run_id,
        changes=changes,
        before=_confidence(old.verdict),
        after=None,
        why="",
        overrides=overrides,
        verdict_before=None if has_weighed_verdict(old) else _standing(old.verdict) or Verdict(),
    )


def compare_runs(old: RunRecord, new: RunRecord) -> Contest:
    """Return the contest of the run ``new``, with its results."""
    assert new.contest is not None  # the record of a contest says what it contests
    moved, why = moves(old, new, new.contest.changes)
    update: dict[str, object] = {"moved": moved, "why": why, "after": _confidence(new.verdict)}
    if not has_weighed_verdict(old):
        update["verdict_after"] = _standing(new.verdict) or Verdict()
    return new.contest.model_copy(update=update)


def moves(old: RunRecord, new: RunRecord, changes: Sequence[str]) -> tuple[list[Moved], str]:
    """Return what moved between two runs, from the bottom up, and one line that says why.

    Args:
        changes: changes, or differences of the inputs, in words.
    """
    both = has_weighed_verdict(old) and has_weighed_verdict(new)
    return _strengths(old, new, changes) if both else _verdicts(old, new, changes)


def has_weighed_verdict(record: RunRecord) -> bool:
    """Return whether the run's verdict is the weight of arguments about a claim."""
    root = record.tree.nodes.get(record.tree.root)
    weighs = record.get_declaration().view == "arguments"
    return weighs and root is not None and root.kind == "claim"


def _confidence(verdict: Verdict | None) -> float | None:
    return None if verdict is None else verdict.confidence


def _from_the_bottom(nodes: dict[str, Node]) -> list[str]:
    return sorted(nodes, key=lambda name: (-nodes[name].depth, path_key(name)))


# Strengths


def _strengths(old: RunRecord, new: RunRecord, changes: Sequence[str]) -> tuple[list[Moved], str]:
    moved: list[Moved] = []
    for name in _from_the_bottom({**old.tree.nodes, **new.tree.nodes}):
        was, now = (_strength(record.tree.nodes.get(name)) for record in (old, new))
        if was != now:
            moved.append(Moved(node=name, before=was, after=now))
    below = [move for move in moved if move.node != old.tree.root]
    before, after = _confidence(old.verdict), _confidence(new.verdict)
    labels = [record.verdict.label if record.verdict else None for record in (old, new)]
    came = f"goes {_step(before, after)}"
    if before == after:
        came = f"stays {figure(after, 'none')}"
    elif labels[0] != labels[1]:
        came += f", and the label becomes {labels[1] or 'none'}"
    reached = "no argument's strength moved"
    if below:
        largest_move = max(below, key=_size)
        step = _step(_confidence(largest_move.before), _confidence(largest_move.after))
        reached = f"{largest_move.node} moved most, {step}"
    return moved, f"P(claim) {came}: {'; '.join([*changes, reached])}"


def _strength(node: Node | None) -> Verdict | None:
    """Return the strength of an argument as the confidence of its verdict, or None."""
    strength = None if node is None else node.score("strength")
    return None if strength is None else Verdict(confidence=strength)


def _size(move: Moved) -> float:
    return abs((_confidence(move.after) or 0.0) - (_confidence(move.before) or 0.0))


def _step(before: float | None, after: float | None) -> str:
    """Return the step from one number to another in words: ``from 0.41 to 0.50``."""
    return "from {} to {}".format(*format_change(before, after, "none"))


# Verdicts


def _verdicts(old: RunRecord, new: RunRecord, changes: Sequence[str]) -> tuple[list[Moved], str]:
    moved: list[Moved] = []
    for name in _from_the_bottom({**old.tree.nodes, **new.tree.nodes}):
        was, now = old.tree.nodes.get(name), new.tree.nodes.get(name)
        renamed = was is not None and now is not None and was.text != now.text
        before, after = _find_outcome(was, renamed=renamed), _find_outcome(now, renamed=renamed)
        if before != after:
            moved.append(Moved(node=name, before=before, after=after))
    before, after = _standing(old.verdict), _standing(new.verdict)
    names = [move.node for move in moved]
    if before != after and new.tree.root not in names:  # a topic's comparison is not its verdict
        names.append(new.tree.root)
    probable = any(verdict.probable for verdict in (old.verdict, new.verdict) if verdict is not None)
    figure = "probability" if probable else "confidence"
    return moved, _why(changes, before or Verdict(), after or Verdict(), names, figure)


def _standing(verdict: Verdict | None) -> Verdict | None:
    if verdict is None:
        return None
    return Verdict(answer=verdict.answer, label=verdict.label, confidence=verdict.confidence)


def _find_outcome(node: Node | None, *, renamed: bool) -> Verdict | None:
    """Return the outcome of a node, with its text if ``renamed``."""
    if node is not None and topic_of(node).positions:
        positions = " | ".join(_position(position) for position in topic_of(node).positions)
        return Verdict(answer=f"{node.text} | {positions}" if renamed else positions)
    if node is None or node.verdict is None:
        return None
    return Verdict(answer=node.verdict.answer, confidence=node.verdict.confidence)


def _position(position: Position) -> str:
    concedes = " (concedes)" if position.concedes else ""
    return f"{position.paper}{concedes}: {position.title}: {position.description}"


def _why(changes: Sequence[str], before: Verdict, after: Verdict, moved: Sequence[str], figure: str) -> str:
    """Return one line: the change of the answer, its causes, and the nodes that moved.

    ``figure`` is the name of the confidence.
    """
    if before == after:
        came = "the verdict stays as it was"
    else:
        came = ", ".join([_answer(before, after), *_certainty(before, after, figure)])
    reached = f"the verdict of {', '.join(moved)} moved" if moved else "no node's verdict moved"
    return f"{came[:1].upper()}{came[1:]}: {'; '.join([*changes, reached])}"


def _answer(before: Verdict, after: Verdict) -> str:
    if before.label != after.label and (before.label or after.label):
        return f"the label goes from {before.label or 'none'} to {after.label or 'none'}"
    if after.answer is None or before.answer is None:
        was_missing = before.answer is None
        return "an answer was found" if was_missing else "there is no answer any more"
    return "the answer stays" if before.answer == after.answer else "the answer changed"


def _certainty(before: Verdict, after: Verdict, figure: str) -> list[str]:
    if before.confidence == after.confidence:
        return []
    was, now = format_change(before.confidence, after.confidence, NOT_DETERMINED)
    return [f"its {figure} goes from {was} to {now}"]
