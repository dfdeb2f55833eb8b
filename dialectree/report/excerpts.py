"""Take sentences out of a longer text, unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dialectree.quotations import QuotationSearch, quotations
from dialectree.text import clean

_SENTENCE = re.compile(r"\S.*?(?:[.!?…][\"'”’)\]]*(?=\s)|\Z)", re.DOTALL)
_READ = 20_000
"""The most characters of a text that are searched for sentences."""


class Excerpt(NamedTuple):
    """A part of a text, as it stands there."""

    text: str
    cut: bool = False
    """True if the excerpt ends within a sentence."""


def first_sentences(text: str, most: int, limit: int) -> str:
    """Return the first ``most`` sentences of ``text`` on one line of about ``limit`` characters at most.

    A sentence that is longer than the limit ends with an ellipsis.
    """
    flat = " ".join(clean(text[:_READ]).split())
    spans = [*_sentence_spans(flat)][:most]
    return _show(_leading(flat, spans, limit))


def excerpt(passage: str, citing: str, limit: int) -> Excerpt:
    """Return the sentence of ``passage`` that ``citing`` quotes, or else its first sentences.

    Args:
        passage: The text that is cited.
        citing: The text that cites the passage, perhaps with quotations from it.
        limit: The most characters of the excerpt.
    """
    spans = [*_sentence_spans(passage[:_READ])]
    quoted_texts = [quotation.text for quotation in quotations(citing[:_READ])]
    for start, end in spans if quoted_texts else ():
        sentence = QuotationSearch([passage[start:end]])
        if any(sentence.holds(quoted_text) for quoted_text in quoted_texts):
            return _leading(passage, [(start, end)], limit)
    return _leading(passage, spans, limit)


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _SENTENCE.finditer(text))


def _leading(text: str, spans: list[tuple[int, int]], limit: int) -> Excerpt:
    """Return the first of the sentences at ``spans`` that fit into ``limit`` characters."""
    if not spans:
        return Excerpt("")
    start, end = spans[0]
    for _, next_end in spans[1:]:
        if next_end - start > limit:
            break
        end = next_end
    if end - start <= limit:
        return Excerpt(text[start:end])
    shortened = text[start : start + limit]
    return Excerpt(
        (shortened[: shortened.rfind(" ")] if " " in shortened[1:] else shortened).rstrip(), cut=True
    )


def _show(part: Excerpt) -> str:
    return f"{part.text}…" if part.cut else part.text
