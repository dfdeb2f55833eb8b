"""A paper in segments: about three sentences each, the pieces of evidence that a debate quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel

from dialectree.retrieval.papers import Paper, Passage

if TYPE_CHECKING:
    from nupunkt import PunktSentenceTokenizer

SENTENCES = 3
"""Sentences of a segment."""
SHORTEST = 150
"""A segment of so many characters or fewer joins its neighbour."""
LONGEST = 500
"""Characters of one sentence; what is longer, such as a table, is cut."""

_ABBREVIATIONS = (
    *("alg", "algs", "app", "cor", "esp", "i.i.d", "lem", "mat", "max", "prop", "props", "std"),
    *("tab", "tbl", "tbls", "thm", "thms", "w.h.p", "w.l.o.g", "w.r.t"),
)
"""What papers abbreviate, and a segmenter for all kinds of text does not know."""
_WORDS = (
    *("all", "art", "code", "day", "found", "free", "hand", "hard", "in", "life", "low", "month"),
    *("row", "scatter", "series", "so", "stars", "sum", "tasks", "walk"),
)
"""What it takes for abbreviations, and papers write out."""
_AFTER_SYMBOL = re.compile(
    r"(?<![\w.-])\w\.\s+(?=(?:A|All|As|At|But|By|Each|Finally|For|From|Furthermore|Given|Here|Hence"
    r"|However|If|In|It|Its|Let|Moreover|Note|On|Our|See|Since|So|Some|That|The|Then|There"
    r"|Therefore|These|This|Thus|To|We|When|Where|Which|While|With)[\s,])"
)
"""The end of a sentence whose last word is a symbol, as in "of n and m. If": no initial of a name
stands before such a word."""
_AFTER_LABEL = re.compile(r"\b[A-Z]\.?\d+(?:\.\d+)*[a-z]?\.\s+(?=[a-z]{2})")
"""No end: the name of a figure with a dot too many, as in "Fig. S1. shows it"."""
_WIDE_STOP = re.compile(r"[。！？｡]+(?![。！？｡」』”’）])|[。！？｡]+[」』”’]+(?![」』”’）とは])")
"""The end of a sentence in Chinese or Japanese; before "と" or in brackets a quoted one goes on."""


class Segment(BaseModel, frozen=True):
    """A quotable piece of a paper, with its place."""

    number: int
    """From 1."""
    text: str
    page: int | None
    """The page on which it begins; None where the file has no pages."""
    offset: int
    """Characters into the body; into abstract and introduction where a paper has no more."""
    heading: str | None
    """The heading that it begins under."""


class _Stretch(NamedTuple):
    """Sentences in a row: from a place in one passage to a place in the same or a later one."""

    first: Passage
    last: Passage
    start: int
    end: int

    def short(self) -> bool:
        return self.end - self.start <= SHORTEST

    def with_next(self, after: _Stretch) -> _Stretch:
        return self._replace(last=after.last, end=after.end)


def segments(paper: Paper) -> list[Segment]:
    """The segments of ``paper``, numbered in reading order; nothing of the body is left out.

    Three sentences of one paragraph make a segment; of short sentences so many that it is no longer
    short. A short one that is left over joins the segment before it in its paragraph, else the next
    under its heading, else the one before, else whichever there is.
    """
    passages = list(_placed(paper.passages if paper.body.strip() else _instead(paper)))
    text = "\n\n".join(passage.text for passage in passages)
    parts = _long_enough(part for passage in passages for part in _parts(passage))
    return [
        Segment(
            number=number,
            text=text[part.start : part.end],
            page=part.first.page_at(part.start - part.first.offset),
            offset=part.start,
            heading=part.first.heading,
        )
        for number, part in enumerate(parts, 1)
    ]


def _instead(paper: Paper) -> list[Passage]:
    """What a paper without a body has to say."""
    return [Passage(text=text, offset=0) for text in (paper.abstract, paper.introduction) if text]


def _placed(passages: Iterable[Passage]) -> Iterator[Passage]:
    """The passages where they stand in the text that they make together."""
    at = 0
    for passage in passages:
        yield passage.model_copy(update={"offset": at})
        at += len(passage.text) + 2


def _threes(passage: Passage) -> Iterator[_Stretch]:
    """The sentences of a passage, three by three."""
    found = list(sentences(passage.text))
    for i in range(0, len(found), SENTENCES):
        (start, _), (_, end) = found[i], found[min(i + SENTENCES, len(found)) - 1]
        yield _Stretch(passage, passage, passage.offset + start, passage.offset + end)


def _parts(passage: Passage) -> list[_Stretch]:
    """The parts of one paragraph. A long one takes up one short one, and no more."""
    kept: list[_Stretch] = []
    whole = True
    for part in _threes(passage):
        if kept and part.short() and (whole or kept[-1].short()):
            kept[-1], whole = kept[-1].with_next(part), False
        else:
            kept.append(part)
            whole = True
    if len(kept) > 1 and kept[-1].short():
        _join_last(kept)
    return kept


def _long_enough(parts: Iterable[_Stretch]) -> list[_Stretch]:
    kept: list[_Stretch] = []
    for part in parts:
        if not kept or not kept[-1].short():
            kept.append(part)
        elif part.first.heading != kept[-1].first.heading and _goes_back(kept):
            _join_last(kept)
            kept.append(part)
        else:
            kept[-1] = kept[-1].with_next(part)
    if len(kept) > 1 and kept[-1].short():
        _join_last(kept)
    return kept


def _goes_back(kept: Sequence[_Stretch]) -> bool:
    """Whether the one before the last ends under the same heading."""
    return len(kept) > 1 and kept[-2].last.heading == kept[-1].first.heading


def _join_last(kept: list[_Stretch]) -> None:
    last = kept.pop()
    kept[-1] = kept[-1].with_next(last)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a paragraph begins and ends, without the blanks around it."""
    ends = {end for _, (_, end) in _segmenter().tokenize_with_spans(text)}
    ends -= {match.end() for match in _AFTER_LABEL.finditer(text)}
    for found in (_AFTER_SYMBOL, _WIDE_STOP):
        ends |= {match.end() for match in found.finditer(text)}
    start = 0
    for end in sorted(ends | {len(text)}):
        yield from _cut(text, start, end)
        start = end


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, in pieces where it is too long; nothing if it is blank."""
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end:
        while text[start].isspace():
            start += 1
        stop = end
        if end - start > LONGEST:
            stop = _break_in(text, start)
        yield (start, stop)
        start = stop


def _break_in(text: str, start: int) -> int:
    """Where a long sentence is cut: behind one of its clauses, else at a blank."""
    latest = start + LONGEST
    for sign in ";:,":
        clause = text.rfind(f"{sign} ", start + LONGEST // 2, latest)
        if clause > 0:
            return clause + 1
    blank = max(text.rfind(sign, start, latest) for sign in " \n\t")
    return blank if blank > start else latest


@lru_cache(maxsize=1)
def _segmenter() -> PunktSentenceTokenizer:
    from nupunkt import load_default_model

    segmenter = load_default_model()
    for abbreviation in _ABBREVIATIONS:
        segmenter.add_abbreviation(abbreviation)
    for word in _WORDS:
        segmenter.remove_abbreviation(word)
    return segmenter
