"""The tree and the verdict that events tell of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from dialectree.records.events import Event, EventKind
from dialectree.records.topics import Claim, Position, Retrieval, Segment, Sentence
from dialectree.records.tree import (
    Comparison,
    Failure,
    Node,
    NodeKind,
    NodeVerdict,
    Tree,
    Turn,
    Verdict,
)

_DIGITS = re.compile("[0-9]{1,9}")


def fold(events: Iterable[Event]) -> tuple[Tree, Verdict | None]:
    """The tree and the verdict that the events tell of.

    A later event of the same id replaces the earlier one. Children follow their parents, and a
    transcript is ordered by its place in the debate, not by who happened to reply first. Every
    child is a node of the tree, and every node a child of its parent, however the events break off.
    """
    nodes: dict[str, Node] = {}
    segments: dict[str, Segment] = {}
    verdict: Verdict | None = None
    for event in events:
        if event.kind == "concluded":
            verdict = Verdict.model_validate(event.data)
        elif event.kind == "opened":
            _open(nodes, event)
        elif event.node in nodes:
            if event.kind == "retrieved":
                found = [Segment.model_validate(one) for one in _list(event.data["segments"])]
                segments |= {segment.id: segment for segment in found}
            _add(nodes[event.node], event)
    return Tree(nodes=_hung(nodes), segments=_on_the_shelf(segments)), verdict


def path_key(node_id: str) -> tuple[int, ...]:
    """Sorts ids such as ``0.10`` after ``0.2``."""
    return tuple(map(_number, node_id.split(".")))


def _on_the_shelf(segments: Mapping[str, Segment]) -> dict[str, Segment]:
    """In the order of the papers."""
    return {name: segments[name] for name in sorted(segments, key=segment_key)}


def segment_key(segment_id: str) -> tuple[str, int]:
    """Sorts ids such as ``a:10`` after ``a:2``."""
    paper, _, number = segment_id.partition(":")
    return paper, _number(number)


def _number(text: str) -> int:
    """Read a number of an id; -1 for all else, as a model may cite ``a:²`` or 5,000 digits."""
    return int(text) if _DIGITS.fullmatch(text) else -1


def _open(nodes: dict[str, Node], event: Event) -> None:
    new = Node.model_validate({"id": event.node, **event.data})
    node = nodes.setdefault(event.node, new)
    node.text, node.parent, node.depth = new.text, new.parent, new.depth
    node.stance = new.stance
    node.description, node.relevant = new.description, new.relevant
    node.raised_by = new.raised_by


def _hung(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """The nodes in the order of the tree.

    A child that was not opened yet is left out, and so is a node that its parent disowned: a run
    that is resumed with other settings may split a question anew. Only a supporter and an attacker
    among the children have been compared.
    """
    hung: dict[str, Node] = {}
    for node in sorted(nodes.values(), key=lambda node: path_key(node.id)):
        node.children = [child for child in node.children if child in nodes]
        stances = {child: nodes[child].stance for child in node.children}
        node.comparisons = [
            met
            for met in node.comparisons
            if (stances.get(met.supporter), stances.get(met.attacker)) == ("support", "attack")
        ]
        parent = nodes.get(node.parent or "")
        if parent is None or (
            parent.id in hung and (parent.kind == "open" or node.id in parent.children)
        ):
            hung[node.id] = node
    return hung


def _add(node: Node, event: Event) -> None:
    """Apply one event to its node; applying it again changes nothing."""
    data = event.data
    match event.kind:
        case "spoke":
            turn = Turn.model_validate(data)
            kept = [t for t in node.transcript if t.place() != turn.place()]
            node.transcript = _ordered([*kept, turn])
        case "noted" | "asked" | "clarified":
            note = str(data["note"])
            node.notes = node.notes if note in node.notes else [*node.notes, note]
        case "stopped":
            node.kind = "topic" if node.kind == "topic" else "leaf"
            node.stopped, node.children = str(data["why"]), []
        case "branched":
            node.kind = _kind(data)
            node.stopped = None if node.kind == "branch" else node.stopped
            node.children = [str(child) for child in _list(data["children"])]
        case "failed":
            failure = Failure.model_validate(data)
            others = [f for f in node.failures if f != failure]
            node.failures = sorted([*others, failure], key=lambda f: (f.role, f.who, f.fault))
        case "settled":
            _settle(node, data)
        case "declined" | "scored" | "compared" | "weighed":
            _argue(node, event.kind, data)
        case "retrieved" | "claimed" | "countered" | "debated" | "summarised":
            _compare(node, event.kind, data)
        case "contested":
            _contest(node, data)
        case _:
            raise ValueError(f"an event of the unknown kind {event.kind!r}")


def _kind(data: Mapping[str, JsonValue]) -> NodeKind:
    """What a node with children is: a split question unless the event says otherwise."""
    match data.get("kind"):
        case "knockout" | "claim" | "argument" | "topic" as kind:
            return kind
        case _:
            return "branch"


def _ordered(turns: list[Turn]) -> list[Turn]:
    """Sort the turns of a node by pass, stage, step, name and round.

    Stages that are not in :data:`STAGES` are those of a protocol from elsewhere. It counts its
    steps through the whole node, so they order its turns alone.
    """
    known = all(turn.stage in STAGES for turn in turns)

    def place(turn: Turn) -> tuple[int, int, int, str, int]:
        stage = STAGES.index(turn.stage) if known else 0
        return turn.take, stage, turn.step, turn.who, turn.round

    return sorted(turns, key=place)


STAGES = (
    "expansion",
    "direct",
    "proposals",
    "cross_examination",
    "role_switch",
    "uncertainty",
    "judgment",
    "strength",
    "generation",
    "tournament",
    "present",
    "respond",
    "revise",
    "progress",
    "claims",
    "relevance",
    "subtopics",
    "debate",
    "synthesis",
    "summary",
    "answer",
)
"""The stages of a node's transcript, in the order in which they follow one another.

No protocol has them all. Of an argument's ``strength`` nobody waits, and of the ``tournament``
among its children only the maths: the next level grows meanwhile.
"""


def _settle(node: Node, data: Mapping[str, JsonValue]) -> None:
    if data.get("verdict") is None:
        node.status = "missing" if node.verdict is None else node.status
        return
    verdict = NodeVerdict.model_validate(data["verdict"])
    seen = {v.take: v for v in [*node.earlier, *([node.verdict] if node.verdict else [])]}
    seen[verdict.take] = verdict
    *node.earlier, node.verdict = [seen[take] for take in sorted(seen)]
    node.status = "answered"
    if node.verdict is verdict:
        node.provenance = [str(leaf) for leaf in _list(data.get("provenance", []))]


def _argue(node: Node, kind: EventKind, data: Mapping[str, JsonValue]) -> None:
    """What is known of an argument, or of the arguments below a claim."""
    if kind == "declined":
        sides = {*node.declined, "support" if data["stance"] == "support" else "attack"}
        node.declined = [side for side in ("support", "attack") if side in sides]
    elif kind == "compared":
        new = Comparison.model_validate(data)
        kept = [c for c in node.comparisons if c.pair() != new.pair()]
        node.comparisons = sorted([*kept, new], key=_pair_order)
    else:
        figures = ("tau",) if kind == "scored" else ("theta", "blended", "strength")
        for name in figures:
            setattr(node, name, _figure(data.get(name)))
        if kind == "weighed":
            node.status = "missing" if node.strength is None else "answered"


def _compare(node: Node, kind: EventKind, data: Mapping[str, JsonValue]) -> None:
    """What two papers have to say on a topic."""
    match kind:
        case "retrieved":
            new = Retrieval.model_validate({k: v for k, v in data.items() if k != "segments"})
            others = [r for r in node.retrievals if (r.paper, r.of) != (new.paper, new.of)]
            node.retrievals = sorted([*others, new], key=lambda r: (r.of != "topic", r.of, r.paper))
        case "claimed":
            claims = [Claim.model_validate(claim) for claim in _list(data["claims"])]
            kept = [claim for claim in node.claims if claim.paper != data["paper"]]
            node.claims = sorted([*kept, *claims], key=lambda claim: claim.id)
        case "countered":
            counter = [str(name) for name in _list(data["segments"])]
            for claim in node.claims:
                if claim.id == data["claim"]:
                    claim.counter, claim.addressed = counter, bool(counter)
        case "debated":
            node.positions = [Position.model_validate(one) for one in _list(data["positions"])]
            node.status = "answered" if node.positions else "missing"
        case _:
            node.sentences = [Sentence.model_validate(one) for one in _list(data["sentences"])]
            node.status = "answered"


def _pair_order(comparison: Comparison) -> tuple[object, ...]:
    return path_key(comparison.supporter), path_key(comparison.attacker), comparison.order


def _figure(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _contest(node: Node, data: Mapping[str, JsonValue]) -> None:
    """A person's change: of a strength, of a comparison among the children, of a whole argument."""
    note = str(data["change"])
    node.notes = node.notes if note in node.notes else [*node.notes, note]
    if "dropped" in data:
        node.dropped = bool(data["dropped"])
    if "added" in data:
        node.added = bool(data["added"])


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise ValueError(f"a list was expected, not {value!r}")
    return value
