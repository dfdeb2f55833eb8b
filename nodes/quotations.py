"""Quotations in the texts of debaters."""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.quotations import QuotationSearch, quotations


def occurs(quote: str, text: str) -> bool:
    """Return whether `text` contains `quote` word for word; an ellipsis is allowed."""
    return QuotationSearch([text]).holds(quote)


def find_unsupported_quotations(text: str, sources: Sequence[str]) -> list[str]:
    """Return the quotations in `text` that `sources` do not contain."""
    read = QuotationSearch(sources)
    return [quotation.text for quotation in quotations(text) if not read.holds(quotation.text)]


def own_words(text: str, sources: Sequence[str]) -> str:
    """Return `text` with "…" for each quotation that `sources` do not contain."""
    read = QuotationSearch(sources)
    for quotation in reversed(quotations(text)):
        if not read.holds(quotation.text):
            text = f"{text[: quotation.start]}…{text[quotation.end :]}"
    return text
