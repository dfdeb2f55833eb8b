"""Read JSON: every string and figure is a block, a short one with the name of its field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dialectree.errors import InputError
from dialectree.retrieval.builder import Cell, DocumentBuilder
from dialectree.retrieval.text import add_text

_PROSE = ("title", "abstract", "introduction", "body", "text", "content", "summary")
"""Fields whose text is clear without the field's name."""
_SHORT = 80
"""Most characters of a value that is shown with the name of its field."""


def read_json(text: str, builder: DocumentBuilder, name: str) -> None:
    """Add a JSON file to ``builder``. Raises InputError, with ``name``, if the text is not JSON."""
    try:
        value = _load(text)
        _add(value, "", builder, top=True)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0][:100]
        raise InputError(f"{name}: not JSON ({why}); save it again") from None


def read_json_lines(text: str, builder: DocumentBuilder, name: str) -> None:
    """Add a file with one JSON value per line; objects of plain values become table rows."""
    values = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                values.append(_load(line))
            except (ValueError, RecursionError) as error:
                why = str(error).splitlines()[0][:100]
                raise InputError(f"{name}: line {number} is not JSON ({why})") from None
    _add(values, "", builder)


def _load(text: str) -> Any:
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)


def _add(value: Any, field: str, builder: DocumentBuilder, *, top: bool = False) -> None:
    if isinstance(value, Mapping):
        for inner, part in value.items():
            if top and inner == "title" and isinstance(part, str) and part.strip():
                builder.title = " ".join(part.split())
                builder.expect(part)
                builder.add(part, "heading")
            else:
                _add(part, inner, builder)
    elif isinstance(value, list) and value and all(map(_is_flat, value)):
        _add_rows(value, builder)
    elif isinstance(value, list) and all(map(_is_scalar, value)):
        _add_scalar(" ".join(map(_format_value, value)), field, builder)
    elif isinstance(value, list):
        for part in value:
            _add(part, field, builder)
    else:
        _add_scalar(_format_value(value), field, builder)


def _add_scalar(text: str, field: str, builder: DocumentBuilder) -> None:
    builder.expect(text)
    if field and field not in _PROSE and len(text) <= _SHORT and "\n" not in text.strip():
        builder.add(f"{field}: {text}" if text.strip() else "", source=text)
    else:
        add_text(text, builder)


def _add_rows(records: Sequence[Mapping[str, Any]], builder: DocumentBuilder) -> None:
    """Add objects of plain values as the rows of a table, with a column for each field."""
    fields = [*dict.fromkeys(field for record in records for field in record)]
    names = [Cell(field) for field in fields]
    rows = [[Cell(_format_value(record.get(field))) for field in fields] for record in records]
    for row in [names, *rows]:
        builder.expect(" ".join(cell.text for cell in row))
    builder.add_table([names, *rows], head_rows=1)


def _is_flat(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_scalar, value.values()))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


def _format_value(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
