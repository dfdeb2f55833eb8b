"""Show what a debate draws from the user's sources: points, sentences, marks, what was left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from dialectree.records import Node, RunRecord, Turn, Verdict
from dialectree.records.tree import Point
from dialectree.report.view import Entry
from dialectree.text import count, label

MARKS = {"yes": "Borne out", "no": "Not borne out", "contradicts": "Contradicted"}
"""What a checker says of a point, in words."""


class Drawn:
    """What was retrieved from the sources of a run, who cites it, and how that was checked."""

    def __init__(self, record: RunRecord) -> None:
        self._segments, self._nodes = record.tree.segments, record.tree.nodes
        self._sources = _sources(record)
        turns = [turn for node in record.tree.nodes.values() for turn in node.transcript]
        self._marks = {str(one["point"]): one for turn in turns for one in _marks(turn)}
        self._cited: set[str] = set()
        """The ids of segments."""
        self._points: dict[str, set[str]] = defaultdict(set)
        """The ids of the points by the source that they cite."""
        for turn in turns:
            for point in turn.evidence:
                for id in point.sentences:
                    self._points[id.partition(":")[0]].add(point.id)
            cited = [*(id for point in turn.evidence for id in point.sentences), *turn.rests_on]
            self._cited.update(id.rpartition(".")[0] for id in cited)
        overrides = record.contest.overrides if record.contest is not None else []
        self._dropped = {one.id for one in overrides if one.what == "dropped"}

    def count_shown(self) -> tuple[int, int]:
        """Return how many sentences of the sources debaters are shown, and how many there are.

        Both are 0 for a run that did not count them.
        """
        searches = [search for node in self._nodes.values() for search in node.retrievals]
        shown = {id for search in searches for id in search.shown}
        left = [id for id in shown if self._dropped.isdisjoint((id, id.partition(":")[0]))]
        segments = (self._segments[id] for id in left if id in self._segments)
        total = max((search.sentences for search in searches), default=0)
        return sum(len(segment.sentences) for segment in segments), total

    def sources(self) -> Iterator[tuple[str, str, str]]:
        """Yield id, name and fate of each source, and how many had nothing retrieved."""
        silent = 0
        for id, (name, title) in self._sources.items():
            of = [one for one in self._segments if one.partition(":")[0] == id]
            left = sum(one not in self._cited for one in of)
            cited = f"cited in {count(len(self._points[id]), 'point')}"
            facts = [f"{count(len(of), 'segment')} retrieved", cited] if of else []
            facts += [f"{left} left out"] * bool(left)
            facts += [f"{one} dropped by a person" for one in of if one in self._dropped]
            facts = ["dropped by a person"] if id in self._dropped else facts
            silent += not facts
            if facts:
                yield id, f"{name}, {title}" if title != name else name, " · ".join(facts)
        shown, total = self.count_shown()
        if total:
            yield "Sources", "all of them", f"{shown:,} of {count(total, 'sentence')} shown"
        if silent:
            yield str(silent), "of the sources", "nothing retrieved"

    def sentence(self, id: str) -> tuple[str, str]:
        """Return where a sentence stands, and its words: ``notes.md, p. 3``."""
        segment, number = self._segments.get(id.rpartition(".")[0]), id.rpartition(".")[2]
        if segment is None or not number.isdecimal():
            return self._sources.get(id.partition(":")[0], (id, ""))[0], ""
        page = f", p. {segment.page}" if segment.page is not None else ""
        spans = dict(enumerate(segment.sentences, 1))
        start, end = spans.get(int(number), (0, 0))
        return f"{segment.source}{page}", segment.text[start:end]

    def points(self, turn: Turn) -> list[Entry]:
        """Return the points of a turn with their sentences and marks, and what a ruling rests on.

        Of a checker's turn: how many points got which mark.
        """
        given = Counter(_mark(one) for one in _marks(turn))
        lines = [Entry(0, mark, count(times, "point")) for mark, times in given.items()]
        lines += self._evidence(turn.evidence)
        lines += [Entry(0, "Rests on")] * bool(turn.rests_on)
        return [*lines, *self._quoted(1, turn.rests_on)]

    def own(self, node: Node) -> list[Entry]:
        """Return the points for a node that was an item of a reply at its parent: an argument."""
        parent = self._nodes.get(node.parent or "")
        return [
            *self._evidence(
                point.model_copy(update={"item": 0})
                for turn in (parent.transcript if parent is not None else [])
                for point in turn.evidence
                if point.item and node.text in _items(turn, point.item)
            )
        ]

    def _evidence(self, points: Iterable[Point]) -> Iterator[Entry]:
        for number, point in enumerate(points, 1):
            if number == 1:
                yield Entry(0, "Evidence")
            item = f" (of item {point.item})" * bool(point.item)
            yield Entry(1, f"{number}{item}", point.point)
            yield from self._quoted(2, point.sentences)
            if (mark := self._marks.get(point.id)) is not None:
                yield Entry(2, _mark(mark), str(mark.get("reason", "")))

    def _quoted(self, level: int, sentences: Iterable[str]) -> Iterator[Entry]:
        for id in sentences:
            place, words = self.sentence(id)
            yield Entry(level, f"{id}, {place}", f"“{words}”" if words else "")

    def grounds(self, verdict: Verdict) -> list[str]:
        """``Rests on “It is so.” (notes.md, p. 3)``, for each sentence that a verdict rests on."""
        quoted = [(self.sentence(ground.id), ground.source) for ground in verdict.grounds]
        return [
            f"Rests on “{words}” ({place})" if words else f"Rests on a sentence of {source}"
            for (place, words), source in quoted
        ]

    def searches(self, node: Node) -> list[Entry]:
        """Return what was searched for in the sources at a node, and how much was found."""
        made = [one for one in node.retrievals if not one.paper]
        return [
            *[Entry(0, "Searches in the sources")] * bool(made),
            *(
                Entry(
                    1,
                    label(one.of),
                    f"{one.query or 'all of the sources'} ({count(len(one.found), 'segment')})",
                )
                for one in made
            ),
        ]


def _sources(record: RunRecord) -> dict[str, tuple[str, str]]:
    """Return name and title of the sources by their ids; a retriever finds some that none gave."""
    given, segments = record.input.get("sources"), record.tree.segments.values()
    named = {
        str(one["id"]): (str(one.get("name", one["id"])), str(one.get("title", "")))
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and "id" in one
    }
    found = {one.id.partition(":")[0]: (one.source, one.source) for one in segments if one.source}
    return named | found | named


def _items(turn: Turn, number: int) -> Iterator[JsonValue]:
    """Yield what the item of that number says, of each list in a reply."""
    for value in turn.fields.values():
        item = value[number - 1] if isinstance(value, list) and number <= len(value) else None
        yield from item.values() if isinstance(item, dict) else [item]


def _marks(turn: Turn) -> list[Mapping[str, JsonValue]]:
    """Return what a checker's turn says of each point."""
    marks = turn.fields.get("marks") if turn.role == "checker" else None
    made = marks if isinstance(marks, list) else []
    return [one for one in made if isinstance(one, dict) and "point" in one]


def _mark(mark: Mapping[str, JsonValue]) -> str:
    verdict = str(mark.get("verdict", ""))
    return MARKS.get(verdict, verdict)
