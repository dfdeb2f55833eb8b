"""Read small files that a person names: regular ones, up to a size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

LARGEST = 1_000_000
"""Bytes of a file at most."""


def read_small_file(path: str | Path) -> bytes:
    """Return the content of a regular file of at most :data:`LARGEST` bytes.

    Never waits for a pipe or a device. Raises OSError, with a text for a person, for anything else.
    """
    waits_for_nobody = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | waits_for_nobody)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is no regular file")
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(f"it has more than {LARGEST:,} bytes")
    return content
