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
    """Print lines on stderr, if it is read and has room.

    Control characters are taken out: errors quote models, endpoints and files.
    """
    try:
        print(clean(text), file=sys.stderr)
    except OSError:
        give_up(2)


def notice(text: str) -> None:
    """Print a line for the person on stderr; what follows a line break in it is indented."""
    say("dialectree: " + "\n  ".join(text.splitlines()))


def program() -> str:
    """Return what starts this program in the caller's shell: ``dialectree``, or its path.

    The path of a virtual environment that is not activated is needed: ``.venv/bin/dialectree``.
    """
    path, command_path = Path(sys.argv[0]), shutil.which(_PROGRAM)
    if path.stem != _PROGRAM or (command_path and path.is_file() and path.samefile(command_path)):
        return _PROGRAM
    return shlex.quote(str(path))


def give_up(number: int) -> None:
    """Drop what is still to be printed on the stream ``number``.

    Python would try again at the end, and set the exit status where that fails.
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
