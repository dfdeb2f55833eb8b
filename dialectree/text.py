"""Format numbers by one rule, wherever a person reads them: terminal, Markdown, HTML, messages.

- A share (a confidence, a strength, a probability) has two decimals: ``0.73``. It reads as 0, 0.5
  or 1 only if it is; otherwise it has as many decimals as tell it apart: ``0.996``.
- Counts of calls and tokens have thousands separators: ``12,345 tokens``.
- Money has two decimals, and below 1 three significant figures: ``12.35``, ``0.0123``.
- A time is ``0.9 s``, ``48 s``, ``1 min 26 s`` or ``2 h 03 min``.
"""

from __future__ import annotations

from math import isfinite

NOT_DETERMINED = "not determined"
_DIGITS = 17
"""Decimals that tell any two shares apart."""


def figure(value: float | None, missing: str = "–") -> str:
    """Return a share with two decimals, or more where it would wrongly read as 0, 0.5 or 1."""
    if value is None:
        return missing
    for digits in range(2, 7):
        if round(value, digits) == value or round(value, digits) not in (0, 0.5, 1):
            return f"{value:.{digits}f}"
    near = round(value, 1)
    return f"{'>' if value > near else '<'}{near:g}"


def share(value: float | None) -> str:
    """Return a confidence as :func:`figure` does; say so where there is none."""
    return figure(value, NOT_DETERMINED)


def apart(before: float | None, after: float | None, missing: str = "–") -> tuple[str, str]:
    """Return two shares with enough decimals to see that they differ."""
    shown = figure(before, missing), figure(after, missing)
    for digits in range(3, _DIGITS + 1):
        if before is None or after is None or before == after or shown[0] != shown[1]:
            break
        shown = f"{before:.{digits}f}", f"{after:.{digits}f}"
    return shown


def move(before: float | None, after: float | None) -> str:
    """Return ``0.675 → 0.684``."""
    return " → ".join(apart(before, after))


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 call``, ``1,204 calls``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def money(cost: float) -> str:
    """``12.35``, ``0.0123``, ``0.00``."""
    return f"{cost:,.2f}" if cost >= 1 or not cost else f"{cost:.3g}"


def duration(seconds: float) -> str:
    """``0.9 s``, ``1 min 26 s``, ``2 h 03 min``."""
    if not isfinite(seconds):
        return "–"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
