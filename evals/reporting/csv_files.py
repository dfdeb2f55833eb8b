"""CSV that a spreadsheet reads as data: no cell of it is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from dialectree.evals.reporting.tabled import Table, bare, headings
from dialectree.report import words

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def written(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Columns and lines as CSV; numbers as they are, nothing as an empty cell."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([cell(name) for name in columns])
    writer.writerows([cell(value) for value in line] for line in lines)
    return file.getvalue()


def cell(value: object) -> object:
    """One cell. A text that a spreadsheet would reckon with begins with an apostrophe instead."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = words.clean(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def of(table: Table) -> str:
    """A table of a report as CSV."""
    columns = [name for column in table.columns for name in headings(column)]
    rows = (
        [
            part
            for column, value in zip(table.columns, row, strict=True)
            for part in bare(column, value)
        ]
        for row in table.rows
    )
    return written(columns, rows)
