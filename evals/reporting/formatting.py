"""Tables of a report, and how their cells are written for a person and as CSV.

Each column declares its kind once. The page and the Markdown show the texts of :func:`texts`, the
CSV files the numbers behind them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from dialectree import text as words
from dialectree.evals.intervals import Figure, Proportion

Kind = Literal[
    "text",
    "count",
    "mean",  # of counts
    "share",  # a Proportion, in percent with its interval
    "points",  # a Figure of −1 to 1, in points with its interval
    "rise",  # a number of −1 to 1, in points
    "marks",  # a Figure of 0 to 100 with its interval
    "figure",  # a Figure of about −1 to 1 with its interval
    "number",
    "p",
]
Value = str | int | float | Proportion | Figure | None
Of = TypeVar("Of")
Columns = list[tuple[str, Kind, Callable[[Of], Value]]]
"""The columns of a table: heading, kind, and the function that returns the cell of a row."""
NOTHING = "–"
_FIGURE = ("value", "low", "high", "n")
_PARTS: dict[Kind, tuple[str, ...]] = {
    "share": ("right", "n", "share", "low", "high"),
    "points": _FIGURE,
    "marks": _FIGURE,
    "figure": _FIGURE,
}
"""The columns of a kind in a CSV file, where there are several."""


class Column(NamedTuple):
    """The heading of a column and the kind of its cells."""

    name: str
    kind: Kind = "text"


class Table(NamedTuple):
    """A table, and the notes that are needed to read it."""

    key: str
    """Its name in links and files."""
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()


def table(
    key: str, title: str, over: Iterable[Of], columns: Columns[Of], *notes: str
) -> Table | None:
    """Return a table with a row for each of ``over``, or None without any."""
    rows = [[cell(one) for _, _, cell in columns] for one in over]
    if not rows:
        return None
    return Table(key, title, [Column(name, kind) for name, kind, _ in columns], rows, notes)


def texts(one: Table) -> list[list[tuple[str, str]]]:
    """Return the cells as a person reads them: the figure, and its interval or an empty text."""
    return [
        [shown(column.kind, value) for column, value in zip(one.columns, row, strict=True)]
        for row in one.rows
    ]


def shown(kind: Kind, value: Value) -> tuple[str, str]:
    """Return the text of a figure and of its interval; a dash for one that is not known."""
    if isinstance(value, Proportion):
        if value.share is None:
            return NOTHING, ""
        return f"{100 * value.share:.1f}%", _ends(value.low, value.high, 100, 1)
    if isinstance(value, Figure):
        if value.value is None:
            return NOTHING, ""
        scale, digits, plus = {"points": (100, 1, "+"), "marks": (1, 1, "")}.get(kind, (1, 3, ""))
        main = signed(scale * value.value, digits, plus)
        return main, _ends(value.low, value.high, scale, digits, plus)
    if value is None or value == "":
        return NOTHING, ""
    if isinstance(value, str):
        return value, ""
    if kind == "p":
        return probability(value), ""
    if kind == "rise":
        return signed(100 * value, 1), ""
    if isinstance(value, int):
        return f"{value:,}", ""
    return mean(value) if kind == "mean" else signed(value, 2), ""


def bracketed(one: Table) -> list[list[str]]:
    """Return the cells of a table, each in one text with its interval in brackets."""
    return [
        [text_of(column.kind, value) for column, value in zip(one.columns, row, strict=True)]
        for row in one.rows
    ]


def text_of(kind: Kind, value: Value) -> str:
    """Return a cell in one text, its interval in brackets."""
    main, interval = shown(kind, value)
    return f"{main} [{interval}]" if interval else main


def mean(value: float) -> str:
    """Write a mean of counts with as many digits as it can bear."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.3g}"


def probability(p: float | None) -> str:
    """Write a p value with two digits, and a power of ten where it is small."""
    if p is None:
        return NOTHING
    if p >= 0.0995:
        return f"{p:.2f}" if p < 0.995 else "1"
    if p >= 0.001:
        return f"{p:.3f}"
    if p <= 0:
        return "<10⁻³⁰⁰"
    mantissa, _, power = f"{p:.1e}".partition("e")
    return f"{mantissa}×10{str(int(power)).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def signed(value: float, digits: int, plus: str = "") -> str:
    """Write a number with a minus sign; ``plus`` puts a sign before numbers above 0."""
    text = f"{value:{plus}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def _ends(low: float | None, high: float | None, scale: float, digits: int, plus: str = "") -> str:
    if low is None or high is None:
        return ""
    return f"{signed(scale * low, digits, plus)}, {signed(scale * high, digits, plus)}"


def as_csv(one: Table) -> str:
    """Return a table as CSV: a share takes five columns and a figure four."""
    headings = [
        f"{name}: {part}" if part else name
        for name, kind in one.columns
        for part in _PARTS.get(kind, ("",))
    ]
    return csv_text(headings, (_numbers(one.columns, row) for row in one.rows))


def _numbers(columns: Sequence[Column], row: Sequence[Value]) -> list[object]:
    numbers: list[object] = []
    for (_, kind), value in zip(columns, row, strict=True):
        parts = len(_PARTS.get(kind, ("",)))
        numbers += value if isinstance(value, tuple) else [value, *[None] * (parts - 1)]
    return numbers


def csv_text(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return columns and lines as CSV; numbers as they are, None as an empty cell."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([_csv_cell(value) for value in line] for line in (columns, *lines))
    return file.getvalue()


def _csv_cell(value: object) -> object:
    """Return one cell. An apostrophe keeps a spreadsheet from reading a text as a formula."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = words.clean(value)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text
