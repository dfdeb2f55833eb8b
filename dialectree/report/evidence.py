"""The segments of both papers that a comparison rests on, who cites them, and how to cite them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pydantic import JsonValue

from dialectree.records import Node, RunRecord, Segment, Turn, segment_key, topic_of
from dialectree.report.words import line

_SHOWN = 3
"""Retrievals of a segment that are named; the others are counted."""


class Reference(NamedTuple):
    """Something that can be pointed to: a topic, or a segment."""

    id: str
    known: bool
    """True where the report has a place for it."""
    place: str = ""
    """``rahimi2007, p. 3``; ``p. 3`` without a key, empty without a page."""
    about: str = ""
    """How the text begins."""


class Hit(NamedTuple):
    """One retrieval that found a segment."""

    score: float
    node: str
    of: str
    """``topic``, or the id of the claim that it was looked up for."""

    def __str__(self) -> str:
        what = f"claim {self.of} of {self.node}" if self.of != "topic" else f"topic {self.node}"
        return f"{self.score:.3g} for {line(what, 60)}"


class Cited(NamedTuple):
    """A segment, and whoever rests on it."""

    segment: Segment
    reference: Reference
    sentences: list[int]
    """Sentences of the summary, by number."""
    topics: list[str]
    """The ids of the topics where an argument rests on it."""
    claims: list[tuple[str, str]]
    """Claims that it shows, each with the topic at which it was made."""
    counters: list[tuple[str, str]]
    """Claims of the other paper that it speaks to."""
    hits: list[Hit]
    """Best first."""

    @property
    def found(self) -> str:
        """``0.81 for topic 0.1, 0.7 for claim b1 of 0 and 4 times more``."""
        more = len(self.hits) - _SHOWN
        named = ", ".join(map(str, self.hits[:_SHOWN]))
        times = "once more" if more == 1 else f"{more} times more"
        return f"{named} and {times}" if more > 0 else named


def topic(record: RunRecord, name: str) -> Reference:
    """A reference to a node of the tree."""
    node = record.tree.nodes.get(name)
    return Reference(name, node is not None, about=line(node.text, 160) if node else "")


def segment(record: RunRecord, name: str) -> Reference:
    """A reference to a segment, by page and BibTeX key as far as they are known."""
    found = record.tree.segments.get(name)
    if found is None:
        return Reference(name, known=False)
    page = f"p. {found.page}" if found.page is not None else ""
    place = ", ".join(part for part in (key(record, name[:1]), page) if part)
    return Reference(name, known=True, place=place, about=line(found.text, 200))


def segments(record: RunRecord, names: Iterable[str]) -> list[Reference]:
    """References to segments, in the order of the papers; the key stands at a paper's first."""
    keyed: set[str] = set()
    found: list[Reference] = []
    for name in sorted(names, key=segment_key):
        ref, known = segment(record, name), key(record, name[:1])
        if known and name[:1] in keyed:
            ref = ref._replace(place=ref.place.removeprefix(known).removeprefix(", "))
        if ref.known:
            keyed.add(name[:1])
        found.append(ref)
    return found


def key(record: RunRecord, letter: str) -> str:
    """What BibTeX knows a paper by; empty where it was not given."""
    papers = record.input.get("papers")
    place = {"a": 0, "b": 1}.get(letter, 2)
    given = papers[place] if isinstance(papers, list) and place < len(papers) else None
    known = given.get("key") if isinstance(given, dict) else None
    return line(known, 80) if isinstance(known, str) else ""


def latex(record: RunRecord, cited: Segment) -> str:
    r"""``\cite[p.~3]{rahimi2007}``; empty without a key."""
    known = key(record, cited.id[:1])
    page = f"[p.~{cited.page}]" if cited.page is not None else ""
    return rf"\cite{page}{{{known}}}" if known else ""


def cited(record: RunRecord) -> list[Cited]:
    """Every segment that anything rests on, in the order of the papers."""
    nodes, hits = record.tree.nodes, _hits(record)
    root = nodes.get(record.tree.root)
    sentences = list(enumerate(topic_of(root).sentences, 1)) if root is not None else []
    topics = {node.id: {*_argued(node)} for node in nodes.values()}
    data = {node.id: topic_of(node) for node in nodes.values()}
    claims = [(node, claim) for node, one in data.items() for claim in one.all_claims]
    found: list[Cited] = []
    for name, one in record.tree.segments.items():
        entry = Cited(
            one,
            segment(record, name),
            [number for number, said in sentences if name in said.segments],
            [node for node, used in topics.items() if name in used],
            [(node, claim.id) for node, claim in claims if name in claim.evidence],
            [
                (node, claim.id)
                for node, claim in claims
                if name in data[node].counter.get(claim.id, [])
            ],
            sorted(hits.get(name, []), key=lambda hit: -hit.score),
        )
        if entry.sentences or entry.topics or entry.claims or entry.counters:
            found.append(entry)
    return sorted(found, key=lambda entry: segment_key(entry.segment.id))


def uncited(record: RunRecord) -> list[Segment]:
    """The segments that were found and that nothing rests on."""
    used = {entry.segment.id for entry in cited(record)}
    return [one for name, one in record.tree.segments.items() if name not in used]


def _argued(node: Node) -> Iterator[str]:
    """What the arguments of a topic rest on."""
    for position in topic_of(node).positions:
        yield from position.evidence
    for turn in node.transcript:
        if turn.stage in ("present", "respond", "revise"):
            yield from of(turn)


def of(turn: Turn) -> list[str]:
    """The ids that a turn cites, each once."""
    return [*dict.fromkeys(_texts(turn.fields.get("evidence")))]


def _texts(value: JsonValue) -> Iterable[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _hits(record: RunRecord) -> dict[str, list[Hit]]:
    found: dict[str, list[Hit]] = {}
    for node in record.tree.nodes.values():
        for retrieval in node.retrievals:
            for hit in retrieval.found:
                found.setdefault(hit.id, []).append(Hit(hit.score, node.id, retrieval.of))
    return found
