"""A table of typed cells, and how each kind of cell is written for a person and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from dialectree.evals.bootstrap import Figure
from dialectree.evals.proportions import Proportion
from dialectree.report import words

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
Of = TypeVar("Of")
Columns = list[tuple[str, Kind, Callable[[Of], Value]]]
"""The columns of a table: heading, kind, and what returns the cell of a row."""
NOTHING = "–"


class Column(NamedTuple):
    """One column: its heading and the kind of its cells."""

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
    key: str,
    title: str,
    over: Iterable[Of],
    columns: Columns[Of],
    notes: Iterable[str],
) -> Table | None:
    """Return a table with a row for each of ``over``; None where there is none."""
    rows = [[cell(one) for _, _, cell in columns] for one in over]
    if not rows:
        return None
    return Table(key, title, [Column(name, kind) for name, kind, _ in columns], rows, [*notes])


def shown(kind: Kind, value: Value) -> tuple[str, str]:
    """Return a cell as a person reads it: the figure, and its interval or an empty text.

    A dash stands for a figure that is not known or not defined.
    """
    if isinstance(value, Proportion):
        if value.share is None:
            return NOTHING, ""
        return f"{100 * value.share:.1f}%", _interval(value.low, value.high, 100, 1)
    if isinstance(value, Figure):
        if value.value is None:
            return NOTHING, ""
        scale, digits, plus = {"points": (100, 1, "+"), "marks": (1, 1, "")}.get(kind, (1, 3, ""))
        main = signed(scale * value.value, digits, plus)
        return main, _interval(value.low, value.high, scale, digits, plus)
    return _plain(kind, value), ""


def text_of(kind: Kind, value: Value) -> str:
    """Return a cell in one text, its interval in brackets."""
    main, interval = shown(kind, value)
    return f"{main} [{interval}]" if interval else main


def _plain(kind: Kind, value: str | int | float | None) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, str):
        return value
    if kind == "p":
        return probability(value)
    if kind == "rise":
        return points(value)
    if isinstance(value, int):
        return f"{value:,}"
    return mean(value) if kind == "mean" else signed(value, 2)


def mean(value: float) -> str:
    """Write a mean of counts with as many digits as it can bear."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.3g}"


def points(difference: float) -> str:
    """Write a difference of shares in points."""
    return signed(100 * difference, 1)


def probability(p: float | None) -> str:
    """Write a p value: two digits, and a power of ten where it is small."""
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


def signed(value: float, digits: int, plus: str = "") -> str:
    """Write a number with a minus sign; ``plus`` puts a sign before numbers above 0."""
    text = f"{value:{plus}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def _interval(
    low: float | None, high: float | None, scale: float, digits: int, plus: str = ""
) -> str:
    if low is None or high is None:
        return ""
    return f"{signed(scale * low, digits, plus)}, {signed(scale * high, digits, plus)}"


def as_csv(one: Table) -> str:
    """Return a table as CSV: a share takes five columns and a figure four."""
    headings: list[str] = []
    for name, kind in one.columns:
        headings += [f"{name}: {part}" for part in _PARTS[kind]] if kind in _PARTS else [name]
    return csv_text(
        headings,
        (
            [
                part
                for (_, kind), value in zip(one.columns, row, strict=True)
                for part in _parts(kind, value)
            ]
            for row in one.rows
        ),
    )


_FIGURE = ("value", "low", "high", "n")
_PARTS: dict[str, tuple[str, ...]] = {
    "share": ("right", "n", "share", "low", "high"),
    **dict.fromkeys(("points", "marks", "figure"), _FIGURE),
}


def _parts(kind: Kind, value: Value) -> Sequence[str | int | float | None]:
    if isinstance(value, tuple):
        return value
    return [value] if kind not in _PARTS else [None] * len(_PARTS[kind])


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
