"""Show how a debate uses the user's sources: cited sentences, a checker's marks, what was left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from dialectree.records import Node, RunRecord, Segment, Turn, Verdict
from dialectree.records.tree import Point
from dialectree.report.view import ReplyLine
from dialectree.text import count, label

MARKS = {"yes": "Borne out", "no": "Not borne out", "contradicts": "Contradicted"}
"""A checker's marks on a point, in words."""


def describe_place(segment: Segment) -> str:
    """Return where a segment stands, such as ``p. 3`` or ``paragraph 12``; "" if the record does not say."""
    return f"p. {segment.page}" if segment.page is not None else segment.place


class EvidenceUse:
    """The evidence retrieved from a run's sources, the points that cite it and the marks on them."""

    def __init__(self, record: RunRecord) -> None:
        self._segments, self._nodes = record.tree.segments, record.tree.nodes
        self._sources = _sources(record)
        turns = [turn for node in record.tree.nodes.values() for turn in node.transcript]
        self._marks = {str(mark["point"]): mark for turn in turns for mark in _marks(turn)}
        self._cited: set[str] = set()
        """The ids of the cited segments."""
        self._points: dict[str, set[str]] = defaultdict(set)
        """For each source, the ids of the points that cite it."""
        for turn in turns:
            for point in turn.evidence:
                for id in point.sentences:
                    self._points[id.partition(":")[0]].add(point.id)
            cited = [*(id for point in turn.evidence for id in point.sentences), *turn.rests_on]
            self._cited.update(id.rpartition(".")[0] for id in cited)
        overrides = record.contest.overrides if record.contest is not None else []
        self._dropped = {override.id for override in overrides if override.what == "dropped"}

    def count_shown(self) -> tuple[int, int]:
        """Return how many sentences debaters are shown, and how many the sources have in all.

        Both numbers are 0 for a run that did not count sentences.
        """
        searches = [search for node in self._nodes.values() for search in node.retrievals]
        segment_ids = {id for search in searches for id in search.shown}
        remaining_ids = [id for id in segment_ids if self._dropped.isdisjoint((id, id.partition(":")[0]))]
        segments = (self._segments[id] for id in remaining_ids if id in self._segments)
        total = max((search.sentences for search in searches), default=0)
        return sum(len(segment.sentences) for segment in segments), total

    def sources(self) -> Iterator[tuple[str, str, str]]:
        """Yield id, name and use of each used source, a row on all sources, and a row on unused sources."""
        silent = 0
        for id, (name, title) in self._sources.items():
            of = [segment_id for segment_id in self._segments if segment_id.partition(":")[0] == id]
            uncited_count = sum(segment_id not in self._cited for segment_id in of)
            cited = f"cited in {count(len(self._points[id]), 'point')}"
            facts = [f"{count(len(of), 'segment')} retrieved", cited] if of else []
            facts += [f"{uncited_count} left out"] * bool(uncited_count)
            facts += [f"{segment_id} dropped by a person" for segment_id in of if segment_id in self._dropped]
            facts = ["dropped by a person"] if id in self._dropped else facts
            silent += not facts
            if facts:
                yield id, f"{name}, {title}" if title != name else name, " · ".join(facts)
        sentence_count, total = self.count_shown()
        if total:
            yield ("Sources", "all of them", f"{sentence_count:,} of {count(total, 'sentence')} shown")
        if silent:
            yield str(silent), "of the sources", "nothing retrieved"

    def sentence(self, id: str) -> tuple[str, str]:
        """Return the place of a sentence, such as ``notes.md, p. 3``, and its text."""
        segment, number = self._segments.get(id.rpartition(".")[0]), id.rpartition(".")[2]
        if segment is None or not number.isdecimal():
            return self._sources.get(id.partition(":")[0], (id, ""))[0], ""
        where = describe_place(segment)
        spans = dict(enumerate(segment.sentences, 1))
        start, end = spans.get(int(number), (0, 0))
        return ", ".join(filter(None, (segment.source, where))), segment.text[start:end]

    def points(self, turn: Turn) -> list[ReplyLine]:
        """Return the points of a turn with cited sentences and marks, or the sentences that a ruling cites.

        For a checker's turn, return how many points got each mark.
        """
        counts = Counter(_mark(point_mark) for point_mark in _marks(turn))
        lines = [ReplyLine(0, mark, count(times, "point")) for mark, times in counts.items()]
        lines += self._evidence(turn.evidence)
        lines += [ReplyLine(0, "Rests on")] * bool(turn.rests_on)
        return [*lines, *self._list_quotations(1, turn.rests_on)]

    def list_argument_points(self, node: Node) -> list[ReplyLine]:
        """Return the points of the argument ``node`` with their sentences and marks, as lines."""
        points = self.find_argument_points(node)
        return [*self._evidence(point.model_copy(update={"item": 0}) for point in points)]

    def find_argument_points(self, node: Node) -> list[Point]:
        """Return the points of the argument ``node``, from the reply at its parent that proposed it."""
        parent = self._nodes.get(node.parent or "")
        return [
            point
            for turn in (parent.transcript if parent is not None else [])
            for point in turn.evidence
            if point.item and node.text in _items(turn, point.item)
        ]

    def find_mark(self, point: Point) -> str:
        """Return a checker's mark on a point in words; empty if no checker marked the point."""
        mark = self._marks.get(point.id)
        return "" if mark is None else _mark(mark)

    def _evidence(self, points: Iterable[Point]) -> Iterator[ReplyLine]:
        for number, point in enumerate(points, 1):
            if number == 1:
                yield ReplyLine(0, "Evidence")
            item = f" (of item {point.item})" * bool(point.item)
            yield ReplyLine(1, f"{number}{item}", point.point)
            yield from self._list_quotations(2, point.sentences)
            if (mark := self._marks.get(point.id)) is not None:
                yield ReplyLine(2, _mark(mark), str(mark.get("reason", "")))

    def _list_quotations(self, level: int, sentences: Iterable[str]) -> Iterator[ReplyLine]:
        for id in sentences:
            place, words = self.sentence(id)
            yield ReplyLine(level, f"{id}, {place}", f"“{words}”" if words else "")

    def grounds(self, verdict: Verdict) -> list[str]:
        """Return ``Rests on “It is so.” (notes.md, p. 3)`` for each sentence that a verdict cites."""
        quoted = [(self.sentence(ground.id), ground.source) for ground in verdict.grounds]
        return [
            f"Rests on “{words}” ({place})" if words else f"Rests on a sentence of {source}"
            for (place, words), source in quoted
        ]

    def searches(self, node: Node) -> list[ReplyLine]:
        """Return the searches in the sources at a node, and how much each found."""
        queries = [search for search in node.retrievals if not search.paper]
        return [
            *[ReplyLine(0, "Searches in the sources")] * bool(queries),
            *(
                ReplyLine(
                    1,
                    label(search.of),
                    f"{search.query or 'all of the sources'} ({count(len(search.found), 'segment')})",
                )
                for search in queries
            ),
        ]


def _sources(record: RunRecord) -> dict[str, tuple[str, str]]:
    """Return name and title of the sources by id, including sources that only a retriever found."""
    sources, segments = record.input.get("sources"), record.tree.segments.values()
    names_by_id = {
        str(source["id"]): (str(source.get("name", source["id"])), str(source.get("title", "")))
        for source in (sources if isinstance(sources, list) else [])
        if isinstance(source, dict) and "id" in source
    }
    retrieved_names = {
        segment.id.partition(":")[0]: (segment.source, segment.source)
        for segment in segments
        if segment.source
    }
    return names_by_id | retrieved_names | names_by_id


def _items(turn: Turn, number: int) -> Iterator[JsonValue]:
    """Yield the values of item ``number`` of each list in a reply."""
    for value in turn.fields.values():
        item = value[number - 1] if isinstance(value, list) and number <= len(value) else None
        yield from item.values() if isinstance(item, dict) else [item]


def _marks(turn: Turn) -> list[Mapping[str, JsonValue]]:
    """Return the marks that a checker's turn gives to points; empty for any other turn."""
    marks = turn.fields.get("marks") if turn.role == "checker" else None
    mark_list = marks if isinstance(marks, list) else []
    return [mark for mark in mark_list if isinstance(mark, dict) and "point" in mark]


def _mark(mark: Mapping[str, JsonValue]) -> str:
    verdict = str(mark.get("verdict", ""))
    return MARKS.get(verdict, verdict)
