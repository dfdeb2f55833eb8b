"""A table of typed cells, and how each kind of cell is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.proportions import Proportion

Kind = Literal[
    "text",
    "count",
    "mean",  # a mean of counts
    "share",  # a Proportion, in percent with its interval
    "points",  # a Figure of −1 to 1, in points with its interval
    "rise",  # a number of −1 to 1, in points
    "marks",  # a Figure of 0 to 100 with its interval
    "figure",  # a Figure of about −1 to 1 with its interval
    "number",
    "p",
]
Value = str | int | float | Proportion | Figure | None
NOTHING = "–"


class Column(NamedTuple):
    """One column: its heading and the kind of its cells."""

    name: str
    kind: Kind = "text"


class Table(NamedTuple):
    """A table, and what has to be known to read it."""

    key: str
    """Its name in links and files."""
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()


def shown(kind: Kind, value: Value) -> str:
    """A cell as a person reads it. What is not known or not defined is a dash."""
    if value is None or (isinstance(value, tuple) and value[-3 if len(value) == 5 else 0] is None):
        return NOTHING
    if isinstance(value, Proportion):
        return f"{_percent(value.share)}{_interval(value.low, value.high, 100, 1)}"
    if isinstance(value, Figure):
        scale, digits, sign = {"points": (100, 1, "+"), "marks": (1, 1, "")}.get(kind, (1, 3, ""))
        main = _signed(scale * (value.value or 0.0), digits, bool(sign))
        return f"{main}{_interval(value.low, value.high, scale, digits, bool(sign))}"
    if isinstance(value, str):
        return value or NOTHING
    if kind == "p":
        return probability(value)
    if kind == "rise":
        return _signed(100 * value, 1, False)
    if isinstance(value, int):
        return f"{value:,}"
    return mean(value) if kind == "mean" else _signed(value, 2, False)


def mean(value: float | None) -> str:
    """A mean of counts: as many digits as it can bear."""
    if value is None:
        return NOTHING
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.3g}"


def probability(p: float | None) -> str:
    """A p value: two digits, and a power of ten where it is small."""
    if p is None:
        return NOTHING
    if p >= 0.995:
        return "1"
    if p >= 0.0995:
        return f"{p:.2f}"
    if p >= 0.001:
        return f"{p:.3f}"
    if p <= 0:
        return "<10⁻³⁰⁰"
    mantissa, _, power = f"{p:.1e}".partition("e")
    return f"{mantissa}×10{str(int(power)).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}%"


def _signed(value: float, digits: int, plus: bool) -> str:
    text = f"{value:+.{digits}f}" if plus else f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def _interval(
    low: float | None, high: float | None, scale: float, digits: int, plus: bool = False
) -> str:
    if low is None or high is None:
        return ""
    ends = (_signed(scale * end, digits, plus) for end in (low, high))
    return f" [{', '.join(ends)}]"


def headings(column: Column) -> list[str]:
    """The columns of a CSV file that one column takes."""
    if column.kind == "share":
        return [f"{column.name}: {part}" for part in ("right", "n", "share", "low", "high")]
    if column.kind in ("points", "marks", "figure"):
        return [f"{column.name}: {part}" for part in ("value", "low", "high", "n")]
    return [column.name]


def bare(column: Column, value: Value) -> list[str | int | float]:
    """The cells of a CSV file for one cell: numbers as they are, an empty text for nothing."""
    width = len(headings(column))
    if value is None:
        return [""] * width
    if isinstance(value, tuple):
        return ["" if part is None else part for part in value]
    return [value]
