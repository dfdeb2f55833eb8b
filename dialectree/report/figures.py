"""Write shares, money and moments for reports.

Money has two decimals, and below 1 three significant figures: ``12.35``, ``0.0123``.
"""

from __future__ import annotations

import re

from dialectree.text import figure

NOT_DETERMINED = "not determined"
_DIGITS = 17
"""Decimals that tell any two shares apart."""


def format_share(value: float | None) -> str:
    """Return a confidence as ``text.figure`` writes it; None is ``not determined``."""
    return figure(value, NOT_DETERMINED)


def format_change(before: float | None, after: float | None, missing: str = "–") -> tuple[str, str]:
    """Return two shares with enough decimals to see that they differ."""
    texts = figure(before, missing), figure(after, missing)
    for digits in range(3, _DIGITS + 1):
        if before is None or after is None or before == after or texts[0] != texts[1]:
            break
        texts = f"{before:.{digits}f}", f"{after:.{digits}f}"
    return texts


def format_percent(value: float) -> str:
    """Return a share as ``65 %``, with more digits if it would wrongly read as 0, 50 or 100."""
    percent = 100 * value
    for digits in range(5):
        if round(percent, digits) not in (0, 50, 100) or abs(percent - round(percent)) < 1e-9:
            return f"{percent:.{digits}f} %"
    near = round(percent)
    return f"{'more' if percent > near else 'less'} than {near} %"


def format_money(cost: float) -> str:
    """Return a cost: ``12.35``, ``0.0123``, ``0.00``."""
    return f"{cost:,.2f}" if cost >= 1 or not cost else f"{cost:.3g}"


def format_moment(stamp: str | None) -> str:
    """Return a time of the record as ``2026-01-31 12:00:00 UTC``."""
    if not stamp:
        return "not yet"
    match = re.match(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$", stamp)
    return f"{match[1]} {match[2]} UTC" if match else stamp
