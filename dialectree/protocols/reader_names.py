"""Parse and write the name of the user's own file reader in settings and records."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, PlainSerializer, WithJsonSchema

_READER = re.compile(r"(?:(\.\w+(?:,\.\w+)*)=)?(\w+(?:\.\w+)*)[:.](\w+)")


def split_reader(reader: str) -> tuple[tuple[str, ...], str]:
    """Return the file endings that a reader is for, and its ``module:attribute``.

    ``reader`` is ``module:name`` or ``module.name``, optionally after ``.pdf,.png=``. Raises
    ValueError for anything else.
    """
    match = _READER.fullmatch(reader)
    if match is None:
        raise ValueError(
            "write a reader as module:function, or after the endings of its files: .pdf,.png=module:function"
        )
    endings = tuple(match[1].lower().split(",")) if match[1] else ()
    return endings, f"{match[2]}:{match[3]}"


def _check_reader(reader: object) -> object:
    """Return a name or a live reader; refuse everything else."""
    if isinstance(reader, str):
        split_reader(reader)
    elif reader is not None and not callable(reader):
        raise ValueError("a reader is a text, module:function, or a function of a path")
    return reader


def _name_reader(reader: object) -> str | None:
    """Return the name by which a record names a reader."""
    if reader is None or isinstance(reader, str):
        return reader
    return f"live:{getattr(reader, '__name__', type(reader).__name__)}"


FileReader = Annotated[
    Any,
    AfterValidator(_check_reader),
    PlainSerializer(_name_reader),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]
