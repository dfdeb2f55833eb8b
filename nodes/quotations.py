"""Quotations: find them in a text, and check that they stand in their source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialectree.answers import normal

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
_EDGES = " .,;:!?'\""
_PAIRS = ('""', "“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』")
_SINGLE = r"(?<!\w)['‘](?=\w)((?:[^'‘’]|(?<=\w)['’](?=\w))+)['’](?!\w)"
"""Single quotes may hold apostrophes, and an apostrophe opens no quotation."""
_QUOTED = re.compile("|".join([*(f"{pair[0]}([^{pair}]+){pair[1]}" for pair in _PAIRS), _SINGLE]))


def occurs(quote: str, text: str) -> bool:
    """Return whether `quote` stands in `text` after normalising both, word for word.

    A quotation may skip words at an ellipsis. It may not begin or end inside a word or a number.
    Punctuation around it and Markdown's asterisks do not count.
    """
    source, start = normal(text.replace("*", "")), 0
    pieces = [piece.strip(_EDGES) for piece in _ELLIPSIS.split(normal(quote.replace("*", "")))]
    pieces = [piece for piece in pieces if any(map(str.isalnum, piece))]
    for piece in pieces:
        whole = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(piece)}(?!\w)(?![.,]\d)")
        place = whole.search(source, start)
        if place is None:
            return False
        start = place.end()
    return bool(pieces)


def quoted(text: str) -> list[str]:
    """Return the texts in quotes that have two words or more.

    A single word in quotes is more often a name, or irony.
    """
    quotes = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    return [quote for quote in quotes if len(quote.split()) > 1]


def unfounded(text: str, sources: Sequence[str]) -> list[str]:
    """Return the quotations in `text` that stand in none of `sources`."""
    return [q for q in quoted(text) if not any(occurs(q, source) for source in sources)]


def own_words(text: str, sources: Sequence[str]) -> str:
    """Return `text` with each quotation that stands in none of `sources` replaced by "…"."""
    for quote in unfounded(text, sources):
        text = text.replace(quote, "…")
    return text
