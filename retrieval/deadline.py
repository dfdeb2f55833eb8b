"""A limit of the processor's time for reading one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import TypeVar

from dialectree.errors import InputError

Part = TypeVar("Part")
SECONDS = 60.0
"""Seconds of the processor's time that one document may take."""
_ends: ContextVar[tuple[float, str] | None] = ContextVar("ends", default=None)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Let :func:`timely` end the reading of the document ``name`` after :data:`SECONDS`."""
    token = _ends.set((thread_time() + SECONDS, name))
    try:
        yield
    finally:
        _ends.reset(token)


def timely(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield ``parts`` of the document that is read; raise InputError at the end of its time."""
    ends = _ends.get()
    for part in parts:
        if ends is not None and thread_time() > ends[0]:
            raise too_much(ends[1], f"{SECONDS:g} s")
        yield part


def too_much(name: str, limit: str) -> InputError:
    """Return the error for a document that takes too much to read."""
    return InputError(
        f"{name}: reading it takes more than {limit}, or it is damaged; cut it down, "
        "print a PDF to a new one, or give the paper's text"
    )
