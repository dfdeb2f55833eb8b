"""Cut papers into segments of about three sentences, the evidence that a debate quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dialectree.retrieval.languages import detect_language
from dialectree.retrieval.papers import Paper, Passage

if TYPE_CHECKING:
    from nupunkt import PunktSentenceTokenizer

SENTENCES = 3
"""Usual sentences of a segment."""
SHORTEST = 150
"""Most characters of a short segment, which joins its neighbour."""
LONGEST = 500
"""Most characters of one sentence; longer text, such as a table, is cut."""

_ABBREVIATIONS = (
    "alg algs app cor esp i.i.d lem mat max prop props std tab tbl tbls thm thms w.h.p w.l.o.g w.r.t"
)
"""Abbreviations of papers that the general segmenter does not know."""
_WORDS = "all art code day found free hand hard in life low month row scatter series so stars sum tasks walk"
"""Words that the segmenter takes for abbreviations, but that are words in papers."""
_AFTER_SYMBOL = re.compile(
    r"(?<![\w.-])\w\.\s+(?=(?:A|All|As|At|But|By|Each|Finally|For|From|Furthermore|Given|Here|Hence"
    r"|However|If|In|It|Its|Let|Moreover|Note|On|Our|See|Since|So|Some|That|The|Then|There"
    r"|Therefore|These|This|Thus|To|We|When|Where|Which|While|With)[\s,])"
)
"""The end of a sentence whose last word is a symbol, as in "of n and m. If". The next word shows
that the symbol is not the initial of a name."""
_AFTER_LABEL = re.compile(r"\b[A-Z]\.?\d+(?:\.\d+)*[a-z]?\.\s+(?=[a-z]{2})")
"""The name of a figure with an extra dot, which ends no sentence, as in "Fig. S1. shows it"."""
_WIDE_STOP = re.compile(r"[。！？｡]+(?![。！？｡」』”’）])|[。！？｡]+[」』”’]+(?![」』”’）とは])")
"""The end of a sentence in Chinese or Japanese, but not of a quoted one before "と" or in brackets."""

_FOREIGN_STOP = re.compile(r"[।॥؟۔።፧։។៕၊။]+(?=\s|$)")
"""The end of a sentence in scripts of India, Arabic, Urdu, Amharic, Armenian, Khmer and Burmese."""
_BEFORE_ORDINALS = frozenset(
    ["der", "die", "das", "dem", "den", "des", "am", "im", "zum", "vom", "beim", "den", "det"]
)
"""Words before an ordinal in German, Danish and Norwegian: "der 2. Tag"."""
_LOOKED_BACK = 40
"""Characters before a full stop that are read to tell what the stop ends."""
_AFTER_WORKS = re.compile(
    r"(?<=[^\W\d_][.!?])(?:\d{1,3}(?:[,–-]\d{1,3})*|[⁰¹²³⁴-⁹]+(?:[,⁻–][⁰¹²³⁴-⁹]+)*)"
    r"(?=\s+[^\W\d_a-z])"
)
"""Numbers of cited works after a full stop: "It grew fast.12 It fell." """


_PASSAGES_READ = 20
"""First passages from which a document's language is detected."""


class _Stretch(NamedTuple):
    """Consecutive sentences of one passage or of several."""

    first: Passage
    last: Passage
    start: int
    end: int
    sentences: tuple[tuple[int, int], ...]

    def short(self) -> bool:
        return self.end - self.start <= SHORTEST


class Piece(NamedTuple):
    """The text of a segment, and its place in its passages."""

    text: str
    page: int | None
    """The page on which the segment begins; None if the file has no pages."""
    offset: int
    """The start of the segment in the passages joined by empty lines, in characters."""
    heading: str | None
    """The heading above the segment's beginning."""
    number: int
    """From 1."""
    place: str = ""
    """Where the segment begins in a file without pages, counted from 1: ``paragraph 12``, ``row 5``."""


def segments(paper: Paper) -> list[Piece]:
    """Return the segments of ``paper`` in reading order; together they are its whole body.

    A segment is three sentences of one paragraph, or more if these are short. A short rest
    of a paragraph joins the first of these that exists: the segment before it in its paragraph, the
    next segment under its heading, the segment before it, any other segment.
    """
    return [piece for piece, _ in cut(list_passages(paper), version=paper.version)]


def list_passages(paper: Paper) -> Sequence[Passage]:
    """Return the passages of a paper, or abstract and introduction if it has no body."""
    if paper.body.strip():
        return paper.passages
    return [Passage(text=text, offset=0) for text in (paper.abstract, paper.introduction) if text]


def cut(
    passages: Iterable[Passage], language: str | None = None, *, version: int = 2
) -> Iterator[tuple[Piece, tuple[tuple[int, int], ...]]]:
    """Yield pieces of ``passages``, each with the start and end of every sentence in the piece's text.

    ``language`` is an ISO code; if it is None, the language is detected. Passages of ``version`` 2 are cut by
    their kind and language, and rows stay whole. Those of version 1 are cut as in earlier versions,
    so that old runs keep the ids of their sentences.
    """
    placed = list(_set_offsets(passages))
    text = "\n\n".join(passage.text for passage in placed)
    places = dict(zip((passage.offset for passage in placed), _count_places(placed), strict=True))
    language = (language or language_of(placed)) if version > 1 else None
    parts = _join_short_stretches(part for passage in placed for part in _parts(passage, language))
    for number, stretch in enumerate(parts, 1):
        start, first = stretch.start, stretch.first
        page = first.page_at(start - first.offset)
        place = places[first.offset] if page is None else ""
        piece = Piece(text[start : stretch.end], page, start, first.heading, number, place)
        yield piece, tuple((begin - start, end - start) for begin, end in stretch.sentences)


def _count_places(passages: Iterable[Passage]) -> Iterator[str]:
    """Yield the place of each passage: its number among the paragraphs, or among the rows of its table.

    Headings and the names of columns have the number of what follows them.
    """
    paragraph = row = 0
    for passage in passages:
        row = row + 1 if passage.kind == "row" else 0
        if passage.kind in ("names", "row"):
            yield f"row {max(row, 1)}"
        elif passage.kind == "heading":
            yield f"paragraph {paragraph + 1}"
        else:
            paragraph += 1
            yield f"paragraph {paragraph}"


def language_of(passages: Sequence[Passage]) -> str:
    """Return the ISO code of the language in which a document begins."""
    return detect_language(" ".join(passage.text for passage in passages[:_PASSAGES_READ]))


def _set_offsets(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yield passages with their offsets in the text that joins them."""
    offset = 0
    for passage in passages:
        yield passage.model_copy(update={"offset": offset})
        offset += len(passage.text) + 2


def _threes(passage: Passage, language: str | None) -> Iterator[_Stretch]:
    """Yield the sentences of a passage in threes; without ``language``, as in version 1."""
    at = passage.offset
    if language is None:
        parts = paper_sentences(passage.text)
    elif passage.kind in ("heading", "names", "row"):
        parts = _cut(passage.text, 0, len(passage.text))
    else:
        parts = sentences(passage.text, language)
    spans = [(at + start, at + end) for start, end in parts]
    for i in range(0, len(spans), SENTENCES):
        three = tuple(spans[i : i + SENTENCES])
        yield _Stretch(passage, passage, three[0][0], three[-1][1], three)


def _parts(passage: Passage, language: str | None) -> list[_Stretch]:
    """Return the threes of one passage, with short ones joined; a long three takes at most one short one."""
    parts: list[_Stretch] = []
    single = True
    for three in _threes(passage, language):
        joins = bool(parts) and three.short() and (single or parts[-1].short())
        parts.append(three)
        single = not joins
        if joins:
            _join_last(parts)
    if parts and parts[-1].short():
        _join_last(parts)
    return parts


def _join_short_stretches(parts: Iterable[_Stretch]) -> list[_Stretch]:
    """Join segments that are still short with a neighbour in another passage."""
    stretches: list[_Stretch] = []
    for part in parts:
        short = bool(stretches) and stretches[-1].short()
        if short and part.first.heading != stretches[-1].first.heading and _continues(stretches):
            _join_last(stretches)
            short = False
        stretches.append(part)
        if short:
            _join_last(stretches)
    if stretches and stretches[-1].short():
        _join_last(stretches)
    return stretches


def _continues(stretches: Sequence[_Stretch]) -> bool:
    """Return whether the last stretch begins under the same heading as the one before it ends."""
    return len(stretches) > 1 and stretches[-2].last.heading == stretches[-1].first.heading


def _join_last(stretches: list[_Stretch]) -> None:
    """Join the last stretch to the one before, if there are two."""
    if len(stretches) > 1:
        last = stretches.pop()
        both = stretches[-1].sentences + last.sentences
        stretches[-1] = stretches[-1]._replace(last=last.last, end=last.end, sentences=both)


def sentences(text: str, language: str | None = None) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence of a paragraph, without blanks around it.

    ``language`` is an ISO code; if it is None, the language is detected.
    """
    language = language or detect_language(text)
    own_rules = language in ("en", "ja", "zh")
    ends = _english_ends(text) if own_rules else _foreign_ends(text, language)
    patterns = (_AFTER_WORKS,) if text.isascii() else (_WIDE_STOP, _FOREIGN_STOP, _AFTER_WORKS)
    for pattern in patterns:
        ends |= {match.end() for match in pattern.finditer(text)}
    return _between(text, ends)


def paper_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a paragraph as in earlier versions."""
    return _between(text, _english_ends(text) | {match.end() for match in _WIDE_STOP.finditer(text)})


def _english_ends(text: str) -> set[int]:
    ends = {end for _, (_, end) in _segmenter().tokenize_with_spans(text)}
    ends -= {match.end() for match in _AFTER_LABEL.finditer(text)}
    return ends | {match.end() for match in _AFTER_SYMBOL.finditer(text)}


def _foreign_ends(text: str, language: str) -> set[int]:
    from sentencex import get_sentence_boundaries

    ends = {boundary["end_index"] for boundary in get_sentence_boundaries(language, text)}
    return {end for end in ends if not _goes_on(text, end)}


def _goes_on(text: str, end: int) -> bool:
    """Return whether a full stop ends an initial, an ordinal or an abbreviation."""
    words = text[max(0, end - _LOOKED_BACK) : end].split()
    if not words or not words[-1].endswith("."):
        return False
    after = text[end : end + 3].strip()
    word = words[-1][:-1]
    ordinal = word.isdecimal() and len(word) < 3 and len(words) > 1
    return (
        after[:1].islower()
        or (len(word) == 1 and word.isupper())
        or (ordinal and words[-2].lower() in _BEFORE_ORDINALS)
    )


def _between(text: str, ends: set[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for end in sorted(ends | {len(text)}):
        yield from _cut(text, start, end)
        start = end


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, in pieces if it is too long; nothing if it is blank."""
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
    """Return the place to cut a long sentence: after a clause, else at a blank."""
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
    for abbreviation in _ABBREVIATIONS.split():
        segmenter.add_abbreviation(abbreviation)
    for word in _WORDS.split():
        segmenter.remove_abbreviation(word)
    return segmenter
