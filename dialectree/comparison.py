"""A contested debate beside the one that it contests: what a person changed and what that moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pydantic import JsonValue

from dialectree.formatting import NOT_DETERMINED, short
from dialectree.records import (
    Contest,
    Event,
    Held,
    Moved,
    Node,
    Position,
    RunRecord,
    Standing,
    Tree,
    Verdict,
    path_key,
    topic_of,
)


def told(held: Sequence[Held], tree: Tree, met: Collection[str]) -> Iterator[Event]:
    """What is told of the nodes that the changes concern; ``met`` had a place in the debate."""
    for change in held:
        here = dict.fromkeys(spot.node for spot in change.spots) or {tree.root: None}
        if change.what == "set":  # the scorer may have been asked at its parent
            here = {change.id: None}
        whole = change.what == "dropped" and any(not spot.stage for spot in change.spots)
        said = f"{in_words(change)} by a person"
        if change.id not in met:
            said += ", and has no place in the debate as it went"
        for name, node in tree.nodes.items():
            below = whole and any(name.startswith(f"{above}.") for above in here)
            if name in here or below:
                gone = whole or (change.what == "dropped" and _emptied(node))
                data = {"change": said, **({"dropped": True} if gone else {})}
                yield Event(t="", run_id="", node=name, kind="contested", data=data)
        if change.what in ("flipped", "voided") and change.id in met:
            yield from _compared(change, tree)


def _compared(change: Held, tree: Tree) -> Iterator[Event]:
    """The comparison at a leaf that a person changed, as it is shown; a void one counts no more."""
    supporter, attacker = change.id.split(":")
    winners = (change.after or change.before or "").split(", ")
    for spot, winner in zip(change.spots, winners, strict=True):
        if spot.node in tree.nodes:
            data: dict[str, JsonValue] = {
                "supporter": supporter,
                "attacker": attacker,
                "winner": winner,
                "order": "support_first" if spot.who == change.id else "attack_first",
                "contested": "flipped" if change.what == "flipped" else "voided",
            }
            yield Event(t="", run_id="", node=spot.node, kind="compared", data=data)


def _emptied(node: Node) -> bool:
    """Whether nothing is left of a node: an argument, or a topic of which all was dropped.

    A topic without an argument that nobody failed to give is such a one.
    """
    if node.kind == "argument":
        return True
    debated = node.kind == "topic" and node.parent is not None
    return debated and not topic_of(node).positions and not node.failures


_VERBS = {"replaced": "replaced", "dropped": "dropped", "ruled": "given another verdict"}


def in_words(change: Held) -> str:
    """``0.1/A2 replaced``, ``0.1/a1/revise/concedes replaced``, ``strength of 0.1 set to 0.3``."""
    if change.what == "set":
        return f"strength of {change.id} set to {change.after}"
    if change.what in ("flipped", "voided"):
        return f"comparison of {' and '.join(change.id.split(':'))} {change.what}"
    name = "/".join(part for part in (change.id, change.field) if part)
    return f"{name} {_VERBS[change.what]}"


def begun(old: RunRecord, changes: list[str], held: list[Held]) -> Contest:
    """A contest of ``old`` before anything came of it."""
    return Contest(
        run=old.run_id,
        changes=changes,
        before=_confidence(old.verdict),
        after=None,
        path=[],
        why="",
        held=held,
        verdict_before=_standing(old.verdict) or Standing(),
    )


def compared(old: RunRecord, new: RunRecord) -> Contest:
    """The contest that ``new`` is, with old and new verdicts, node by node."""
    assert new.contest is not None  # the record of a contest says what it contests
    nodes = {**old.tree.nodes, **new.tree.nodes}
    moved: list[Moved] = []
    for name in sorted(nodes, key=lambda name: (-nodes[name].depth, path_key(name))):
        was, now = old.tree.nodes.get(name), new.tree.nodes.get(name)
        named = was is not None and now is not None and was.text != now.text
        before, after = _of(was, named=named), _of(now, named=named)
        if before != after:
            moved.append(Moved(node=name, before=before, after=after))
    before, after = _standing(old.verdict), _standing(new.verdict)
    names = [move.node for move in moved]
    if before != after and new.tree.root not in names:  # a comparison is no verdict of its topic
        names.append(new.tree.root)
    why = _why(new.contest.changes, before or Standing(), after or Standing(), names)
    update = {
        "after": _confidence(new.verdict),
        "verdict_after": after or Standing(),
        "moved": moved,
        "why": why,
    }
    return new.contest.model_copy(update=update)


def _confidence(verdict: Verdict | None) -> float | None:
    return None if verdict is None else verdict.confidence


def _standing(verdict: Verdict | None) -> Standing | None:
    if verdict is None:
        return None
    return Standing(answer=verdict.answer, label=verdict.label, confidence=verdict.confidence)


def _of(node: Node | None, *, named: bool) -> Standing | None:
    """What came of a node; ``named``: with its own words, where these are others than before."""
    if node is not None and topic_of(node).positions:
        said = " | ".join(_said(one) for one in topic_of(node).positions)
        return Standing(answer=f"{node.text} | {said}" if named else said)
    if node is None or node.verdict is None:
        return None
    return Standing(answer=node.verdict.answer, confidence=node.verdict.confidence)


def _said(position: Position) -> str:
    gave = " (concedes)" if position.concedes else ""
    return f"{position.paper}{gave}: {position.title}: {position.description}"


def _why(changes: Sequence[str], before: Standing, after: Standing, moved: Sequence[str]) -> str:
    """One line: what became of the answer, what was changed, and how far that reached."""
    if before == after:
        came = "the verdict stays as it was"
    else:
        came = ", ".join([_answer(before, after), *_certainty(before, after)])
    reached = f"the verdict of {', '.join(moved)} moved" if moved else "no node's verdict moved"
    return f"{came[:1].upper()}{came[1:]}: {'; '.join([*changes, reached])}"


def _answer(before: Standing, after: Standing) -> str:
    if before.label != after.label and (before.label or after.label):
        return f"the label goes from {before.label or 'none'} to {after.label or 'none'}"
    if after.answer is None or before.answer is None:
        known = before.answer is None
        return "an answer was found" if known else "there is no answer any more"
    return "the answer stays" if before.answer == after.answer else "the answer is another text"


def _certainty(before: Standing, after: Standing) -> list[str]:
    if before.confidence == after.confidence:
        return []
    was, now = (_figure(standing.confidence) for standing in (before, after))
    if was == now:  # three digits show no difference
        was, now = repr(before.confidence), repr(after.confidence)
    return [f"its confidence goes from {was} to {now}"]


def _figure(value: float | None) -> str:
    return NOT_DETERMINED if value is None else short(value)
