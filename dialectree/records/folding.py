"""Fold the events of a run into its tree and its verdict."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from pydantic import JsonValue

from dialectree.protocols.phases import UNORDERED, PhaseOrder
from dialectree.records.run import Event
from dialectree.records.tree import (
    Comparison,
    Failure,
    Node,
    Retrieval,
    Segment,
    Tree,
    Turn,
    Verdict,
)

Item = TypeVar("Item", Turn, Comparison, Retrieval, Failure)
_DIGITS = re.compile("[0-9]{1,9}")


def fold(events: Iterable[Event], order: PhaseOrder = UNORDERED) -> tuple[Tree, Verdict | None]:
    """Return the tree and the verdict of ``events``; ``order`` sorts the transcripts.

    A later event of the same id replaces the earlier one, so folding twice changes nothing.
    Children follow their parents. Every child is a node of the tree, and every node a child of its
    parent, wherever the events break off.
    """
    folding = Folding()
    segments: dict[str, Segment] = {}
    verdict: Verdict | None = None
    for event in events:
        if event.kind == "concluded":
            verdict = Verdict.model_validate(event.data)
        elif event.kind == "retrieved" and event.node in folding.nodes:
            found = [Segment.model_validate(one) for one in _list(event.data["segments"])]
            segments |= {segment.id: segment for segment in found}
        folding.apply(event)
    in_order = {name: segments[name] for name in sorted(segments, key=segment_key)}
    for node in folding.nodes.values():
        _sort(node, order)
    return Tree(nodes=_hung(folding.nodes), segments=in_order), verdict


class Folding:
    """Apply events to their nodes, one by one; applying one again changes nothing.

    What a node holds several of stands in the order of its first event until :func:`fold` sorts it.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        """By id, in the order in which they were opened."""
        self._places: dict[Hashable, int] = {}
        """Where a turn, a comparison, a retrieval or a failure stands in the list of its node."""

    def apply(self, event: Event) -> None:
        """Apply one event.

        An event at a node that was not opened, and the verdict of the whole run, change nothing.
        """
        node = self.nodes.get(event.node)
        if event.kind == "opened":
            _open(self.nodes, event)
        elif node is not None and event.kind == "spoke":
            turn = event.turn()
            self._put(node, node.transcript, turn, turn.spot())
            node.protocol = turn.protocol or node.protocol
        elif node is not None and event.kind == "compared":
            met = Comparison.model_validate(event.data)
            self._put(node, node.comparisons, met, met.pair())
        elif node is not None and event.kind == "retrieved":
            about = {name: value for name, value in event.data.items() if name != "segments"}
            found = Retrieval.model_validate(about)
            self._put(node, node.retrievals, found, (found.paper, found.of))
        elif node is not None and event.kind == "failed":
            failure = Failure.model_validate(event.data)
            self._put(node, node.failures, failure, (failure.role, failure.speaker, failure.fault))
        elif node is not None and event.kind != "concluded":
            _apply(node, event)

    def _put(self, node: Node, items: list[Item], item: Item, key: tuple[object, ...]) -> None:
        """Add ``item`` to the ``items`` of ``node``, or put it in the place of the one of its key.

        No item is looked at for it, so that a node may have thousands.
        """
        place = self._places.setdefault((node.id, type(item), key), len(items))
        items[place : place + 1] = [item]


def path_key(node_id: str) -> tuple[int, ...]:
    """Return a key that sorts ids such as ``0.10`` after ``0.2``."""
    return tuple(map(_number, node_id.split(".")))


def segment_key(segment_id: str) -> tuple[str, int]:
    """Return a key that sorts ids such as ``a:10`` after ``a:2``."""
    paper, _, number = segment_id.partition(":")
    return paper, _number(number)


def _number(text: str) -> int:
    """Read a number of an id; -1 for all else, as a model may cite ``a:²`` or 5,000 digits."""
    return int(text) if _DIGITS.fullmatch(text) else -1


def _open(nodes: dict[str, Node], event: Event) -> None:
    told = {**event.data}
    part = told.pop("part", False)
    new = Node.model_validate({"id": event.node, **told})
    if part and (above := nodes.get(new.parent or "")) and new.id not in above.children:
        above.children = [*above.children, new.id]
        above.kind = "branch" if above.kind in ("open", "leaf") else above.kind
    node = nodes.setdefault(event.node, new)
    node.text, node.parent, node.depth = new.text, new.parent, new.depth
    node.stance, node.round = new.stance, new.round
    node.protocol = new.protocol or node.protocol
    node.data = {**node.data, **new.data}


def _hung(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Return the nodes in the order of the tree.

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


def _apply(node: Node, event: Event) -> None:
    data = event.data
    match event.kind:
        case "scored":
            for name, value in _mapping(data["scores"]).items():
                node.scores.pop(name, None)
                if isinstance(value, int | float):
                    node.scores[name] = float(value)
        case "branched":
            _branch(node, data)
        case "settled":
            _settle(node, data)
        case "noted" | "asked" | "answered":
            _note(node, data.get("note"))
            node.data = _merged(node.data, data)
        case "contested":
            _note(node, data["change"])
            node.dropped = bool(data.get("dropped", node.dropped))
            node.added = bool(data.get("added", node.added))
        case _:
            raise ValueError(f"an event of the unknown kind {event.kind!r}")


def _sort(node: Node, order: PhaseOrder) -> None:
    """Sort what a node holds: its turns by pass, protocol, phase, step, speaker and round."""

    def place(turn: Turn) -> tuple[object, ...]:
        depth, phase = order.place(turn.phase, turn.protocol)
        closing = turn.phase in order.of(turn.protocol).closing
        within = (-depth, turn.take) if closing else (turn.take, depth)
        return closing, *within, phase, turn.step, turn.speaker, turn.round

    node.transcript.sort(key=place)
    node.comparisons.sort(key=_pair_order)
    node.retrievals.sort(key=lambda one: (one.of != "topic", one.of, one.paper))
    node.failures.sort(key=lambda one: (one.role, one.speaker, one.fault))


def _branch(node: Node, data: Mapping[str, JsonValue]) -> None:
    """Split the node, or say why it is not split."""
    node.children = [str(child) for child in _list(data["children"])]
    node.in_turn = bool(data.get("in_turn", False))
    kind, why = data.get("kind"), data.get("why")
    if why is not None:
        node.stopped = str(why)
        node.kind = "leaf" if node.kind in ("open", "branch") else node.kind
    elif kind is None:
        node.kind, node.stopped = "branch", None
    else:
        node.kind = str(kind)


def _settle(node: Node, data: Mapping[str, JsonValue]) -> None:
    """Settle the node; without a verdict it is missing unless its status says otherwise."""
    node.data = _merged(node.data, data)
    if data.get("verdict") is None:
        answered = data.get("status") == "answered" or node.verdict is not None
        node.status = "answered" if answered else "missing"
        return
    verdict = Verdict.model_validate(data["verdict"])
    seen = {v.take: v for v in [*node.earlier, *([node.verdict] if node.verdict else [])]}
    seen[verdict.take] = verdict
    *node.earlier, node.verdict = [seen[take] for take in sorted(seen)]
    node.status = "answered"
    if node.verdict is verdict:
        node.provenance = [str(leaf) for leaf in _list(data.get("provenance", []))]


def _note(node: Node, note: JsonValue) -> None:
    if note is not None and str(note) not in node.notes:
        node.notes = [*node.notes, str(note)]


def _merged(old: Mapping[str, JsonValue], data: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the data of a node with those of an event; two mappings of one name are joined."""
    merged = {**old}
    for name, value in _mapping(data.get("data", {})).items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            value = {**before, **value}
        merged[name] = value
    return merged


def _pair_order(comparison: Comparison) -> tuple[object, ...]:
    return path_key(comparison.supporter), path_key(comparison.attacker), comparison.order


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise ValueError(f"a list was expected, not {value!r}")
    return value


def _mapping(value: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise ValueError(f"a mapping was expected, not {value!r}")
    return value
