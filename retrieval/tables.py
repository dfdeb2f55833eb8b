"""Read tables of values separated by commas, tabs or semicolons."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from dialectree.errors import InputError
from dialectree.retrieval.builder import Cell, DocumentBuilder

_SEPARATORS = ",;\t|"
_FIGURE = re.compile(r"[^\w]*[-−+]?\d[\d.,\s]*\s*%?")


def read_csv(text: str, builder: DocumentBuilder) -> None:
    """Add a file of values to ``builder``: a first row without figures names the columns.

    Raises InputError for other files.
    """
    csv.field_size_limit(10_000_000)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:20_000], _SEPARATORS)
    except csv.Error:
        dialect = csv.excel_tab if "\t" in text else csv.excel
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), dialect)]
    except csv.Error as error:
        raise InputError(f"no table of values ({error}); save it again") from None
    for row in rows:
        builder.expect(" ".join(row))
    add_values([[Cell(value.strip()) for value in row] for row in rows], builder)


def add_values(rows: Sequence[Sequence[Cell]], builder: DocumentBuilder) -> None:
    """Add rows of values. Empty rows separate tables; a row with one value above a table is a paragraph."""
    for filled, group in groupby(rows, key=lambda row: any(cell.text for cell in row)):
        table = [*group] if filled else []
        while table and sum(bool(cell.text) for cell in table[0]) == 1 and len(table[0]) > 1:
            builder.add(next(cell.text for cell in table.pop(0) if cell.text))
        names = [cell.text for cell in table[0]] if table else []
        has_names = len(table) > 1 and all(name and not _FIGURE.fullmatch(name) for name in names)
        builder.add_table(table, int(has_names))
