"""Print notices on stderr, which may be closed, and name this program."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from dialectree.text import clean

_PROGRAM = "dialectree"


def say(text: str) -> None:
    """Print lines on stderr; ignore a closed or full stream.

    Removes control characters: errors quote models, endpoints and files.
    """
    try:
        print(clean(text), file=sys.stderr)
    except OSError:
        give_up(2)


def notice(text: str) -> None:
    """Print a line for the person on stderr; indent its further lines."""
    say("dialectree: " + "\n  ".join(text.splitlines()))


def program() -> str:
    """Return the word that starts this program in the caller's shell: ``dialectree``, or its path.

    A virtual environment that is not activated needs the path: ``.venv/bin/dialectree``.
    """
    path, command_path = Path(sys.argv[0]), shutil.which(_PROGRAM)
    if path.stem != _PROGRAM or (command_path and path.is_file() and path.samefile(command_path)):
        return _PROGRAM
    return shlex.quote(str(path))


def give_up(number: int) -> None:
    """Drop the unprinted output of the stream ``number``.

    Python would try to print it again at exit, and a failure there would set the exit status.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def find_closed_streams() -> list[int]:
    """Return the file descriptors of the standard streams that are closed."""
    return [number for number in (0, 1, 2) if not _is_open(number)]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
