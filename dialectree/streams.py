"""The standard streams, of which a caller may have closed some."""

from __future__ import annotations

import os

_NUMBERS = (0, 1, 2)


def closed() -> list[int]:
    """The file descriptors of those that lead nowhere."""
    return [number for number in _NUMBERS if not _is_open(number)]


def stand_in() -> None:
    """No file of ours gets the number of a standard stream, and with it what is printed there."""
    for _ in closed():
        os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
