"""Quotations in what debaters of papers and answers write."""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.quotations import Read, quotations


def occurs(quote: str, text: str) -> bool:
    """Return whether `quote` stands in `text`, word for word, an ellipsis aside."""
    return Read([text]).holds(quote)


def unfounded(text: str, sources: Sequence[str]) -> list[str]:
    """Return the quotations in `text` that stand in none of `sources`."""
    read = Read(sources)
    return [each.text for each in quotations(text) if not read.holds(each.text)]


def own_words(text: str, sources: Sequence[str]) -> str:
    """Return `text` with each quotation that stands in none of `sources` replaced by "…"."""
    read = Read(sources)
    for each in reversed(quotations(text)):
        if not read.holds(each.text):
            text = f"{text[: each.start]}…{text[each.end :]}"
    return text
