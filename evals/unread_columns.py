"""Stop an evaluation at columns that look like options or right answers and would not be read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from dialectree.errors import InputError
from dialectree.evals.cell_forms import is_filled, read_truth
from dialectree.evals.column_names import (
    choose_right_column,
    list_option_columns,
    list_right_columns,
    looks_right,
)
from dialectree.evals.column_recognition import ASKED, ColumnReading
from dialectree.evals.dataset_items import IGNORE, ColumnMap, DatasetRow, format_columns
from dialectree.text import format_list, line

_REFERENCES = ("gold", "label", "true", "false")


def require_columns_read(
    rows: Sequence[DatasetRow], reading: ColumnReading, mapped: ColumnMap, cluster: str | None
) -> None:
    """Raise InputError if a column that looks like options or right answers would be lost.

    The message has the flag that reads the column, and the one that leaves it out.
    """
    ours = {name: columns for name, columns in mapped.items() if name != IGNORE}
    ignored = mapped.get(IGNORE, ())
    sources = ours or reading.sources
    read = (
        {*ignored} | {name for columns in sources.values() for name in columns} | {*filter(None, [cluster])}
    )
    every = dict.fromkeys(name for row in rows for name in row.values)
    names = [name for name in every if any(is_filled(row.values.get(name)) for row in rows)]
    unread = [name for name in names if name not in read]
    kinds = [name for name in ASKED if name in reading.sources]
    if kinds not in (["question"], ["claim"]):
        return  # rows without a question, or of several kinds, are refused
    options: list[tuple[str, ...]] = []
    if "options" not in reading.sources and kinds != ["claim"]:
        options = list_option_columns(unread)
    known = [column for name in _REFERENCES for column in sources.get(name, ())]
    without = [row.values for row in rows if not any(is_filled(row.values.get(name)) for name in known)]
    rights = [
        name for name in list_right_columns(unread) if any(is_filled(values.get(name)) for values in without)
    ]
    nested = [name for name in unread if any(_holds_right_answer(values.get(name)) for values in without)]
    if nested and not options and not rights:
        raise InputError(
            f"{rows[0].path}: {format_list(line(name, 40) for name in nested)} may hold the right answer "
            "inside an object, which would not be read: make a column of it, name the published data set "
            f"with --data FILE, or leave out with --columns "
            f"{shlex.quote(format_columns({**ours, IGNORE: [*ignored, *nested]}))}"
        )
    if not options and not rights:
        return
    lost = [*(name for columns in options for name in columns), *rights]
    right = choose_right_column(rights)
    cells = [cell for row in rows if is_filled(cell := row.values.get(right or ""))]
    truths = [read_truth(cell, numbers=right == "label") for cell in cells]
    claims = "claim" in kinds or not (options or "options" in sources or None in truths)
    read_flag = suggest_columns(sources, options[:1], right, claims=claims)
    ignore_flag = format_columns({**ours, IGNORE: [*ignored, *lost]})
    raise InputError(
        f"{rows[0].path}: {format_list(line(name, 40) for name in lost)} "
        f"{'looks' if len(lost) == 1 else 'look'} like options or right answers, and would not be read"
        f"{f' ({reading.doubt})' if reading.doubt else ''}: read with --columns {shlex.quote(read_flag)}, "
        f"or leave out with --columns {shlex.quote(ignore_flag)}"
    )


def _holds_right_answer(value: object) -> bool:
    """Return whether an object, or one in a list, has a key that looks like a right answer."""
    if isinstance(value, Mapping):
        return any(looks_right(str(key)) or _holds_right_answer(value[key]) for key in value)
    return isinstance(value, list) and any(map(_holds_right_answer, value))


def suggest_columns(
    sources: ColumnMap, options: Sequence[tuple[str, ...]], right: str | None, *, claims: bool = False
) -> str:
    """Return a text for ``--columns`` that reads ``sources``, and also ``options`` and ``right``."""
    asked = {} if any(name in sources for name in ASKED) else {"question": ("COLUMN",)}
    listed = options[0] if options else tuple(sources.get("options", ()))
    added = {"options": listed} if listed else {}
    if right is not None:
        added["label" if claims else "gold" if listed else "true"] = (right,)
    return format_columns({**asked, **sources, **added})
