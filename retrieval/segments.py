"""A paper in segments: about three sentences each, the pieces of evidence that a debate quotes."""

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
"""Sentences of a segment."""
SHORTEST = 150
"""A segment of at most so many characters joins its neighbour."""
LONGEST = 500
"""Characters of one sentence; what is longer, such as a table, is cut."""

_ABBREVIATIONS = (
    "alg algs app cor esp i.i.d lem mat max prop props std tab tbl tbls thm thms w.h.p w.l.o.g w.r.t"
)
"""Abbreviations of papers that the segmenter, made for all kinds of text, does not know."""
_WORDS = "all art code day found free hand hard in life low month row scatter series so stars sum tasks walk"
"""Words that the segmenter takes for abbreviations, and papers write out."""
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

_FOREIGN_STOP = re.compile(r"[।॥؟۔።፧։។៕၊။]+(?=\s|$)")
"""The end of a sentence in scripts of India, Arabic, Urdu, Amharic, Armenian, Khmer and Burmese."""
_BEFORE_ORDINALS = frozenset(
    ["der", "die", "das", "dem", "den", "des", "am", "im", "zum", "vom", "beim", "den", "det"]
)
"""Words before an ordinal in German, Danish and Norwegian: "der 2. Tag"."""
_LOOKED_BACK = 40
"""Characters before a stop that tell what it ends."""
_AFTER_WORKS = re.compile(
    r"(?<=[^\W\d_][.!?])(?:\d{1,3}(?:[,–-]\d{1,3})*|[⁰¹²³⁴-⁹]+(?:[,⁻–][⁰¹²³⁴-⁹]+)*)"
    r"(?=\s+[^\W\d_a-z])"
)
"""The numbers of works after a full stop: "It grew fast.12 It fell." """


_PASSAGES_READ = 20
"""Passages that tell the language of a document."""


class _Stretch(NamedTuple):
    """Sentences in a row: from a place in one passage to a place in the same or a later one."""

    first: Passage
    last: Passage
    start: int
    end: int
    sentences: tuple[tuple[int, int], ...]

    def short(self) -> bool:
        return self.end - self.start <= SHORTEST


class Piece(NamedTuple):
    """The text of a segment, and its place in the passages that it was cut from."""

    text: str
    page: int | None
    """The page on which it begins; None where the file has no pages."""
    offset: int
    """Characters into the passages, which are joined by empty lines."""
    heading: str | None
    """The heading that it begins under."""
    number: int
    """From 1."""


def segments(paper: Paper) -> list[Piece]:
    """Return the segments of ``paper`` in reading order; they hold all of its body.

    Three sentences of one paragraph make a segment, or as many short ones as are no longer short
    together. A short rest joins the segment before it in its paragraph, else the next one under its
    heading, else the one before, else any other.
    """
    return [piece for piece, _ in cut(list_passages(paper), version=paper.version)]


def list_passages(paper: Paper) -> Sequence[Passage]:
    """Return the passages of a paper; its abstract and introduction, where it has no body."""
    if paper.body.strip():
        return paper.passages
    return [Passage(text=text, offset=0) for text in (paper.abstract, paper.introduction) if text]


def cut(
    passages: Iterable[Passage], language: str | None = None, *, version: int = 2
) -> Iterator[tuple[Piece, tuple[tuple[int, int], ...]]]:
    """Return pieces of ``passages``, each with where its sentences begin and end in its text.

    ``language`` is an ISO code; without it, the text tells. Passages of ``version`` 2 are cut by
    their kind and language, and their rows stay whole. Those of version 1 are cut as earlier
    versions did, so that ids of sentences in their runs stay.
    """
    placed = list(_set_offsets(passages))
    text = "\n\n".join(passage.text for passage in placed)
    language = (language or language_of(placed)) if version > 1 else None
    parts = _join_short_stretches(part for passage in placed for part in _parts(passage, language))
    for number, stretch in enumerate(parts, 1):
        start, first = stretch.start, stretch.first
        page = first.page_at(start - first.offset)
        piece = Piece(text[start : stretch.end], page, start, first.heading, number)
        yield piece, tuple((begin - start, end - start) for begin, end in stretch.sentences)


def language_of(passages: Sequence[Passage]) -> str:
    """Return the ISO code of the language in which a document begins."""
    return detect_language(" ".join(passage.text for passage in passages[:_PASSAGES_READ]))


def _set_offsets(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Set the offset of each passage in the text that all of them make."""
    offset = 0
    for passage in passages:
        yield passage.model_copy(update={"offset": offset})
        offset += len(passage.text) + 2


def _threes(passage: Passage, language: str | None) -> Iterator[_Stretch]:
    """Return the sentences of a passage, three by three; without ``language``, as in version 1."""
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
    """Join short threes of one passage. A long one takes up one short one, and no more."""
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
    """Join what is still short with a neighbour in another passage."""
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
    """Tell whether the last stretch stands under the heading that the one before ends under."""
    return len(stretches) > 1 and stretches[-2].last.heading == stretches[-1].first.heading


def _join_last(stretches: list[_Stretch]) -> None:
    """Join the last stretch to the one before, where there is one."""
    if len(stretches) > 1:
        last = stretches.pop()
        both = stretches[-1].sentences + last.sentences
        stretches[-1] = stretches[-1]._replace(last=last.last, end=last.end, sentences=both)


def sentences(text: str, language: str | None = None) -> Iterator[tuple[int, int]]:
    """Return where each sentence of a paragraph begins and ends, without blanks around it.

    ``language`` is an ISO code; without it, the text tells.
    """
    language = language or detect_language(text)
    own_rules = language in ("en", "ja", "zh")
    ends = _english_ends(text) if own_rules else _foreign_ends(text, language)
    patterns = (_AFTER_WORKS,) if text.isascii() else (_WIDE_STOP, _FOREIGN_STOP, _AFTER_WORKS)
    for pattern in patterns:
        ends |= {match.end() for match in pattern.finditer(text)}
    return _between(text, ends)


def paper_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Return the sentences of a paragraph as earlier versions cut it."""
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
    """Return a sentence, in pieces where it is too long; nothing if it is blank."""
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
    """Return where to cut a long sentence: behind one of its clauses, else at a blank."""
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
