"""Format confidences and strengths so that a figure never claims more than it knows."""

from __future__ import annotations

NOT_DETERMINED = "not determined"


def percent(share: float | None) -> str:
    """Return a confidence as a percentage. Only certainty itself is shown as 100% or 0%."""
    if share is None:
        return NOT_DETERMINED
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    if share > 0.99:
        return f"{min(share, 0.999):.1%}"
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def figure(value: float | None) -> str:
    """Return a strength as a number. It reads as 0, 0.5 or 1 only if it is."""
    if value is None:
        return "–"
    for digits in range(2, 7):
        if round(value, digits) == value or round(value, digits) not in (0, 0.5, 1):
            return f"{value:.{digits}f}"
    near = round(value, 1)
    return f"{'>' if value > near else '<'}{near:g}"


def move(before: float | None, after: float | None) -> str:
    """Return ``0.675 → 0.684``, with enough digits to see that two strengths differ."""
    shown = figure(before), figure(after)
    for digits in range(3, 7):
        if before is None or after is None or before == after or shown[0] != shown[1]:
            break
        shown = f"{before:.{digits}f}", f"{after:.{digits}f}"
    return " → ".join(shown)


def short(value: float | None, digits: int = 3) -> str:
    """Return ``0.41`` or ``none``; use more digits where it would wrongly read as 0, 0.5 or 1."""
    if value is None:
        return "none"
    shown = f"{value:.{digits}g}"
    return shown if float(shown) == value or float(shown) not in (0, 0.5, 1) else figure(value)
