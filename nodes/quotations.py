"""Quotations in what debaters of papers and answers write."""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.quotations import QuotationSearch, quotations


def occurs(quote: str, text: str) -> bool:
    """Return whether `quote` stands in `text`, word for word, an ellipsis aside."""
    return QuotationSearch([text]).holds(quote)


def find_unsupported_quotations(text: str, sources: Sequence[str]) -> list[str]:
    """Return the quotations in `text` that stand in none of `sources`."""
    read = QuotationSearch(sources)
    return [quotation.text for quotation in quotations(text) if not read.holds(quotation.text)]


def own_words(text: str, sources: Sequence[str]) -> str:
    """Return `text` with each quotation that stands in none of `sources` replaced by "…"."""
    read = QuotationSearch(sources)
    for quotation in reversed(quotations(text)):
        if not read.holds(quotation.text):
            text = f"{text[: quotation.start]}…{text[quotation.end :]}"
    return text
