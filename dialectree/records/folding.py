"""Fold the events of a run into its tree, its verdict and its usage."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from pydantic import JsonValue, TypeAdapter

from dialectree.protocols.phases import UNORDERED, PhaseOrder
from dialectree.records.ledger import Called, Usage, critical_path, moment, sum_covered_seconds, usage
from dialectree.records.run import Event, RunStatus
from dialectree.records.tree import Comparison, Failure, Node, Retrieval, Segment, Tree, Turn, Verdict

_OF_THE_RUN = ("began", "resumed", "calling", "ended")
Item = TypeVar("Item", Turn, Comparison, Retrieval, Failure)
_STATUS = TypeAdapter[RunStatus](RunStatus)
_DIGITS = re.compile("[0-9]{1,9}")


def fold(events: Iterable[Event], order: PhaseOrder = UNORDERED) -> tuple[Tree, Verdict | None]:
    """Return the tree and the verdict in ``events``; ``order`` sorts the transcripts.

    A later event with the same id replaces the earlier one, so folding twice has no effect.
    Children follow their parents. Even if the events break off, every child is a node of the tree,
    and every node a child of its parent.
    """
    return fold_run(events, order)[:2]


class Folded(NamedTuple):
    """A run, computed from its events."""

    tree: Tree
    verdict: Verdict | None
    usage: Usage
    """In an unfinished run, ``wall_s`` is the seconds in which a call was active."""
    status: RunStatus
    notices: list[str]


def fold_run(events: Iterable[Event], order: PhaseOrder = UNORDERED) -> Folded:
    """Return tree, verdict and usage of a run from its ``events``; see :func:`fold`."""
    folding = Folding()
    for event in events:
        folding.apply(event)
    segments = {name: folding.segments[name] for name in sorted(folding.segments, key=segment_key)}
    for node in folding.nodes.values():
        _sort(node, order)
    tree = Tree(nodes=_hung(folding.nodes), segments=segments)
    return Folded(tree, folding.verdict, folding.usage(tree, order), folding.status, folding.notices)


class Folding:
    """Apply events one by one; applying a node's event again has no effect.

    Until :func:`fold` sorts them, the lists of a node are in the order in which their items first came.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        """The nodes by id, in the order in which they were opened."""
        self.segments: dict[str, Segment] = {}
        self.verdict: Verdict | None = None
        self.calls: dict[int, Called] = {}
        """The calls that have ended, by the number of their event."""
        self.status: RunStatus = "running"
        self.notices: list[str] = []
        self._spans: dict[int, tuple[float, float]] = {}
        """When each call began and ended, in seconds since 1970."""
        self._void: set[int] = set()
        """The numbers of calls that were repeated, and count only for the usage."""
        self._took: dict[str, float] = {}
        """The ``wall_s`` and ``embedding_s`` of the usage, as of the end of the last part of the run."""
        self._places: dict[Hashable, int] = {}
        """The index of a turn, a comparison, a retrieval or a failure in the list of its node."""

    def apply(self, event: Event) -> None:
        """Apply one event; ignore an event at a node that was not opened."""
        node = self.nodes.get(event.node)
        if event.kind == "opened":
            _open(self.nodes, event)
        elif event.kind == "called":
            number, ended = event.n or -1 - len(self.calls), moment(event.t)
            call = Called.model_validate({**event.data, "node": event.node})
            self.calls[number], self._spans[number] = call, (ended and ended - call.seconds, ended)
        elif event.kind == "concluded":
            self.verdict = Verdict.model_validate(event.data)
        elif event.kind in _OF_THE_RUN:
            self._apply(event)
        elif node is not None and event.kind == "spoke":
            turn = event.turn()
            self._put(node, node.transcript, turn, turn.spot())
        elif node is not None and event.kind == "compared":
            met = Comparison.model_validate(event.data)
            self._put(node, node.comparisons, met, met.pair())
        elif node is not None and event.kind == "retrieved":
            about = {name: value for name, value in event.data.items() if name != "segments"}
            retrieval = Retrieval.model_validate(about)
            self._put(node, node.retrievals, retrieval, (retrieval.paper, retrieval.of))
            segments = [
                Segment.model_validate(segment_fields) for segment_fields in _list(event.data["segments"])
            ]
            self.segments |= {segment.id: segment for segment in segments}
        elif node is not None and event.kind == "failed":
            failure = Failure.model_validate(event.data)
            self._put(node, node.failures, failure, (failure.role, failure.speaker, failure.fault))
        elif node is not None:
            _apply(node, event)

    def usage(self, tree: Tree, order: PhaseOrder = UNORDERED) -> Usage:
        """Return the usage of the calls; ``tree`` and ``order`` tell which calls followed one another."""
        valid = [call for number, call in self.calls.items() if number not in self._void]
        took = {**self._took}
        took["wall_s"] = took.get("wall_s") or sum_covered_seconds(
            self._spans[number] for number in self.calls
        )
        path = critical_path(tree, valid, order)
        sums = usage(self.calls.values())
        return sums.model_copy(update={**took, "critical_path_calls": path})

    def _apply(self, event: Event) -> None:
        """Apply an event of the whole run. A run that has ended may be resumed."""
        data = event.data
        if event.kind in ("resumed", "ended"):
            took = _mapping(data["usage"])
            self._took = {name: float(str(took[name])) for name in ("wall_s", "embedding_s")}
        if event.kind == "ended":
            self.status = _STATUS.validate_python(data["status"])
            self.notices = [str(notice) for notice in _list(data["notices"])]
        elif event.kind == "resumed":
            self.status, self.notices = "running", []
            if "void" in data:
                self._begin_anew({int(str(number)) for number in _list(data["void"])})

    def _begin_anew(self, void: set[int]) -> None:
        """Forget the events so far, because failed calls are made again; keep what was paid.

        Omits the calls in ``void`` that had no reply, because they cost nothing.
        """
        self.nodes.clear()
        self.segments.clear()
        self._places.clear()
        self.verdict = None
        self.calls = {n: call for n, call in self.calls.items() if n not in void or not call.failed}
        self._void |= void

    def _put(self, node: Node, items: list[Item], item: Item, key: tuple[object, ...]) -> None:
        """Add ``item`` to the ``items`` of ``node``, or replace the item that has the same ``key``.

        It does not search the items, so that a node may have thousands.
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
    """Read a number in an id; return -1 for other text: a model may cite ``a:²`` or 5,000 digits."""
    return int(text) if _DIGITS.fullmatch(text) else -1


def _open(nodes: dict[str, Node], event: Event) -> None:
    fields = {**event.data}
    part = fields.pop("part", False)
    new = Node.model_validate({"id": event.node, **fields})
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

    Omits children that were not opened, and nodes that their parent no longer has: a run resumed
    with other settings may split a question anew. Keeps a comparison only between a
    supporter and an attacker that are both children.
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
        if parent is None or (parent.id in hung and (parent.kind == "open" or node.id in parent.children)):
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
            node.data = _merge_data(node.data, data)
        case "contested":
            _note(node, data["change"])
            node.dropped = bool(data.get("dropped", node.dropped))
            node.added = bool(data.get("added", node.added))
        case _:
            raise ValueError(f"an event of the unknown kind {event.kind!r}")


def _sort(node: Node, order: PhaseOrder) -> None:
    """Sort the lists of a node: its turns by pass, protocol, phase, step, speaker and round."""

    def place(turn: Turn) -> tuple[object, ...]:
        depth, phase = order.place(turn.phase, turn.protocol)
        closing = turn.phase in order.get_protocol_order(turn.protocol).closing
        within = (-depth, turn.take) if closing else (turn.take, depth)
        return closing, *within, phase, turn.step, turn.speaker, turn.round

    node.transcript.sort(key=place)
    node.comparisons.sort(key=_pair_order)
    node.retrievals.sort(
        key=lambda retrieval: (retrieval.of != "topic", retrieval.paper and retrieval.of, retrieval.paper)
    )
    node.failures.sort(key=lambda failure: (failure.role, failure.speaker, failure.fault))


def _branch(node: Node, data: Mapping[str, JsonValue]) -> None:
    """Record the node's split, or why it is not split."""
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
    """Settle the node.

    Without a verdict, its status is ``missing``, unless the event says ``answered`` or the node has an
    earlier verdict.
    """
    node.data = _merge_data(node.data, data)
    if data.get("verdict") is None:
        answered = data.get("status") == "answered" or node.verdict is not None
        node.status = "answered" if answered else "missing"
        return
    verdict = Verdict.model_validate(data["verdict"])
    verdict_by_take = {v.take: v for v in [*node.earlier, *([node.verdict] if node.verdict else [])]}
    verdict_by_take[verdict.take] = verdict
    *node.earlier, node.verdict = [verdict_by_take[take] for take in sorted(verdict_by_take)]
    node.status = "answered"
    if node.verdict is verdict:
        node.provenance = [str(leaf) for leaf in _list(data.get("provenance", []))]


def _note(node: Node, note: JsonValue) -> None:
    if note is not None and str(note) not in node.notes:
        node.notes = [*node.notes, str(note)]


def _merge_data(old: Mapping[str, JsonValue], data: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the data of a node merged with an event's; merge two mappings of one name."""
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
