"""Number the sentences that a memo cites. A note quotes a sentence that the record holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dialectree.records import RunRecord, Segment
from dialectree.report.excerpts import Excerpt, excerpt
from dialectree.report.grounds import EvidenceUse, describe_place
from dialectree.text import line

MOST_NOTES = 16
"""The most notes of a memo."""
_LONGEST, _LONGEST_PLACE = 240, 120
"""The most characters of a quotation, and of the name of a document or a heading."""


class Note(NamedTuple):
    """A cited sentence."""

    number: int
    id: str
    """The id of the sentence, ``s2:17.3``, or of the paper's segment that holds it, ``a:4``."""
    place: str
    """The document and the page: ``notes.md, p. 3``."""
    quote: str
    """The sentence, as the record has it."""
    cut: bool
    """True if the quotation ends before its sentence does."""


class CitedNotes:
    """The notes of a memo, numbered in the order in which the memo first cites them."""

    def __init__(self, record: RunRecord) -> None:
        self._segments, self._evidence_use = record.tree.segments, EvidenceUse(record)
        self._notes: dict[tuple[str, str], Note] = {}
        self._left_out: set[str] = set()

    @property
    def notes(self) -> list[Note]:
        """Return the notes so far."""
        return [*self._notes.values()]

    @property
    def left_out(self) -> int:
        """Return how many cited sentences have no note, because there are too many."""
        return len(self._left_out - {note.id for note in self.notes})

    def cite(self, ids: Iterable[str], citing: str = "", most: int = 3) -> tuple[int, ...]:
        """Return the numbers of the notes on the cited sentences, and add the notes that are missing.

        An id that the record does not explain is ignored.

        Args:
            ids: Ids of sentences, or of segments of papers.
            citing: The text that cites them; a quotation in it chooses the sentence of a segment.
            most: The most numbers that are returned.
        """
        numbers: list[int] = []
        for id in dict.fromkeys(ids):
            place, part = self._find(id, citing)
            if not part.text.strip():
                continue
            key = id, part.text
            if key not in self._notes and (len(numbers) >= most or len(self._notes) >= MOST_NOTES):
                self._left_out.add(id)
                continue
            note = Note(len(self._notes) + 1, id, place, part.text, part.cut)
            numbers.append(self._notes.setdefault(key, note).number)
        return (*sorted(numbers),)

    def _find(self, id: str, citing: str) -> tuple[str, Excerpt]:
        """Return the place of a sentence or segment, and its text; an unknown one has no text."""
        if (segment := self._segments.get(id)) is not None:
            return _place(segment), excerpt(segment.text, citing, _LONGEST)
        segment = self._segments.get(id.rpartition(".")[0])
        _, sentence = self._evidence_use.sentence(id)
        if segment is None or not sentence:
            return "", Excerpt("")
        return _place(segment), Excerpt(sentence[:_LONGEST], cut=len(sentence) > _LONGEST)


def _place(segment: Segment) -> str:
    """Return the document of a segment, with heading and page: ``paper a, Results, p. 3``."""
    document = segment.source or f"paper {segment.id.partition(':')[0]}"
    parts = [document, segment.heading or "", describe_place(segment)]
    parts += ["in a person’s words"] if segment.contested else []
    return ", ".join(line(part, _LONGEST_PLACE) for part in parts if part)
