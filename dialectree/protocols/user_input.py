"""Check what the user gives: a protocol's input, and any single text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dialectree.errors import ArgumentError, InputError, fault_line
from dialectree.protocols.protocol import ProtocolInput

MAX_LENGTH = 200_000
"""Characters of a question, a claim or an option."""


def checked(kind: type[ProtocolInput], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input without outer blanks; raise InputError where it does not fit ``kind``."""
    fields = kind.model_fields
    for name in values:
        if name not in fields:
            raise ArgumentError(f"{name}: there is no such input; known: {', '.join(fields)}")
    given = {
        name: _tidied(values.get(name), name)
        for name, field in fields.items()
        if field.is_required() or values.get(name) is not None
    }
    try:
        return kind.model_validate(given).model_dump(exclude_none=True)
    except ValidationError as error:
        raise InputError(fault_line(error)) from None


def tidy(text: str, name: str) -> str:
    """Return ``text`` without outer blanks; raise InputError where it is empty or too long."""
    text = text.encode("utf-8", "replace").decode().strip()
    if not text:
        raise InputError(f"the {name} is empty")
    if len(text) > MAX_LENGTH:
        raise InputError(f"the {name} is longer than {MAX_LENGTH:,} characters")
    return text


def _tidied(value: object, name: str) -> object:
    if value is None:
        raise ArgumentError(f"the {name} is missing")
    if isinstance(value, str):
        return tidy(value, name)
    if isinstance(value, list | tuple):
        return [_tidied(part, f"{name.removesuffix('s')} {n}") for n, part in enumerate(value, 1)]
    return value
