"""A table of a report: a frame with a caption, written once as HTML, Markdown and CSV.

A cell is a text, a number, a :class:`Proportion` or a :class:`Figure`. The page and the Markdown
show it rounded for a person; the CSV file has the full numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from markupsafe import Markup
from pandas import DataFrame

from dialectree import text as words
from dialectree.evals.intervals import Figure, Proportion
from dialectree.report.markdown_text import escape_markdown

Kind = Literal[
    "mean",  # of counts
    "points",  # a Figure of −1 to 1, in points
    "rise",  # a number of −1 to 1, in points
    "marks",  # a Figure of 0 to 100
    "p",
]
"""The number format of a column, if the values alone do not decide it."""
NOTHING = "–"
Line = dict[str, object]
"""The cells of a line of a table, by column."""


class Table(NamedTuple):
    """A frame with its caption and the notes that explain it."""

    key: str
    """The name in links and files."""
    title: str
    frame: DataFrame
    kinds: Mapping[str, Kind] = {}
    """The number format by column."""
    notes: tuple[str, ...] = ()


class WrittenTable(NamedTuple):
    """A table in three forms."""

    html: Markup
    markdown: str
    csv: str


def table(
    key: str,
    title: str,
    lines: Iterable[Mapping[str, object]],
    *notes: str,
    kinds: Mapping[str, Kind] | None = None,
) -> Table | None:
    """Return a table of the lines; None without lines. A column without any value is left out."""
    frame = DataFrame([*lines], dtype=object)
    if frame.empty:
        return None
    frame = frame.where(frame.notna(), None).dropna(axis="columns", how="all")
    return Table(key, title, frame, kinds or {}, notes)


def render_table(report_table: Table, long: Iterable[str] = ()) -> WrittenTable:
    """Return a table as HTML, Markdown and CSV; ``long`` are headings that may break on paper."""
    names, texts = [*map(str, report_table.frame)], [*format_table_rows(report_table)]
    numeric = [not isinstance(first_value(report_table.frame[name]), str) for name in names]
    classes = [
        Markup(' class="n{}"').format(" row" if name in long else "") if number else ""
        for name, number in zip(names, numeric, strict=True)
    ]
    head = Markup("").join(
        Markup('<th{} dir="auto">{}</th>').format(kind, words.clean(name))
        for name, kind in zip(names, classes, strict=True)
    )
    body = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup("").join(map(_html, line, numeric))) for line in texts
    )
    html = Markup("<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>").format(head, body)
    rows = [names, *([in_brackets(*cell) for cell in line] for line in texts)]
    lines = [f"| {' | '.join(escape_markdown(words.clean(cell)) for cell in row)} |" for row in rows]
    lines.insert(1, f"|{'|'.join(' ---: ' if number else ' --- ' for number in numeric)}|")
    return WrittenTable(html, "\n".join(lines), as_csv(_numbers(report_table.frame)))


def draw_table(report_table: Table) -> str:
    """Return a table for a terminal of at least 100 columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in map(str, report_table.frame):
        is_text = isinstance(first_value(report_table.frame[name]), str)
        drawing.add_column(name, justify="left" if is_text else "right")
    for cells in format_table_rows(report_table):
        drawing.add_row(*(Text(in_brackets(*cell)) for cell in cells))
    console = Console(width=120, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(drawing)
    return "\n".join(line.rstrip() for line in captured.get().splitlines() if line.strip())


def _html(cell: tuple[str, str], numeric: bool) -> Markup:
    text, interval = cell
    small = Markup("<small>{}</small>").format(words.clean(interval).replace(", ", " to "))
    return Markup('<td{} dir="auto">{}{}</td>').format(
        Markup(' class="n"') if numeric else "", words.clean(text), small if interval else ""
    )


def first_value(column: Iterable[object]) -> object:
    """Return the first known value of a column."""
    return next((value for value in column if value is not None and value == value), None)


def format_table_rows(report_table: Table) -> Iterable[list[tuple[str, str]]]:
    """Yield the lines of a table as a person reads them: each figure, and its interval if any."""
    kinds: list[Kind | None] = [report_table.kinds.get(str(name)) for name in report_table.frame]
    for line in report_table.frame.itertuples(index=False, name=None):
        yield [cell(value, kind) for value, kind in zip(line, kinds, strict=True)]


def cell(value: Any, kind: Kind | None = None) -> tuple[str, str]:
    """Return the texts of a value and of its interval; a dash for an unknown value."""
    if isinstance(value, Proportion):
        if value.share is None:
            return NOTHING, ""
        return f"{100 * value.share:.1f}%", _ends(value.low, value.high, 100, 1)
    if isinstance(value, Figure):
        if value.value is None:
            return NOTHING, ""
        scale, digits, plus = {"points": (100, 1, "+"), "marks": (1, 1, "")}.get(kind or "", (1, 3, ""))
        main = format_signed(scale * value.value, digits, plus)
        return main, _ends(value.low, value.high, scale, digits, plus)
    if value is None or value == "" or value != value:
        return NOTHING, ""
    if isinstance(value, str):
        return value, ""
    if kind == "p":
        return probability(value), ""
    if kind == "rise":
        return format_signed(100 * value, 1), ""
    if isinstance(value, int):
        return f"{value:,}", ""
    return _mean(value) if kind == "mean" else format_signed(value, 2), ""


def in_brackets(text: str, interval: str) -> str:
    """Return a cell as one text, with its interval in brackets."""
    return f"{text} [{interval}]" if interval else text


def _mean(value: float) -> str:
    """Write a mean of counts: the larger the number, the fewer the decimals."""
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


def format_signed(value: float, digits: int, plus: str = "") -> str:
    """Write a number with a minus sign; ``plus`` puts a sign before numbers above 0."""
    text = f"{value:{plus}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def _ends(low: float | None, high: float | None, scale: float, digits: int, plus: str = "") -> str:
    if low is None or high is None:
        return ""
    return f"{format_signed(scale * low, digits, plus)}, {format_signed(scale * high, digits, plus)}"


def _numbers(frame: DataFrame) -> DataFrame:
    """Return the numbers behind the cells: a share takes five columns and a figure four."""
    columns: dict[str, object] = {}
    for name, column in frame.items():
        first = first_value(column)
        if isinstance(first, Proportion | Figure):
            for part in first._fields:
                columns[f"{name}: {part}"] = [value and getattr(value, part) for value in column]
        else:
            columns[str(name)] = [*column]
    return DataFrame(columns, dtype=object)


def as_csv(frame: DataFrame) -> str:
    """Return a frame as CSV: numbers as they are, an unknown value as an empty cell."""
    cells = {_csv_cell(str(name)): [*map(_csv_cell, column)] for name, column in frame.items()}
    return str(DataFrame(cells, dtype=object).to_csv(index=False, lineterminator="\n"))


def _csv_cell(value: object) -> object:
    """Return one cell. An apostrophe keeps a spreadsheet from reading a text as a formula."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = words.clean(value)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text
