"""Describe the faults of a file that a person wrote."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError


def fault_lines(error: ValidationError) -> Iterator[str]:
    """Yield a line for each fault, such as ``rows[1].method: field required``; places count from 1."""
    for fault in error.errors(include_url=False, include_context=False):
        parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])
        place = "".join(parts).lstrip(".")
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = "there is no such key"
        elif fault["type"] not in ("value_error", "missing"):
            message += f", not {fault['input']!r:.80}"
        message = message[:1].lower() + message[1:]
        yield " ".join(f"{place}: {message}".removeprefix(": ").split())
