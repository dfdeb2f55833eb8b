"""Print on the standard streams, which may be closed or have another encoding."""

from __future__ import annotations

import codecs
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import unicodedata
from textwrap import fill

from dialectree.system.streams import find_closed_streams, give_up, notice, program, say

__all__ = [
    "WIDTH",
    "give_up",
    "notice",
    "page",
    "print_file",
    "print_list_entry",
    "program",
    "replace_what_cannot_be_printed",
    "say",
    "stand_in",
]

WIDTH = 80
"""Columns that every terminal has."""
_PLAIN = {"→": "->", "·": "|", "–": "-", "—": "-", "…": "...", "’": "'", "“": '"', "”": '"'}
_PLAIN |= {"█": "#", "░": "-", "│": "|", "✓": "+", "✗": "-", "×": "x"}
_PLAIN |= {"•": "*", "▌": ">", "⚠": "!"}
_PLAIN |= {"′": "'"}
"""Our own signs in ASCII; a Greek letter becomes its name."""


def stand_in() -> None:
    """Open the standard streams that are closed, so that no other file gets their numbers.

    Python has no object for a closed stream. One is made here, because ``print`` needs stdout.
    """
    for _ in find_closed_streams():
        os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def replace_what_cannot_be_printed() -> None:
    """Let stdout and stderr print our own signs in ASCII if they lack them, and ? for other signs."""
    codecs.register_error("plainly", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plainly")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(char) or _name(char) for char in characters), error.end


def _name(char: str) -> str:
    """Return the name of a Greek letter; a question mark for any other sign."""
    kind, _, name = unicodedata.name(char, "").rpartition(" LETTER ")
    return name.lower() if kind.startswith("GREEK") and name.isalpha() else "?"


def print_file(text: str) -> None:
    """Print the text of a file: in UTF-8, even if the terminal reads another encoding."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    print(text)


def print_list_entry(text: str, indent: int = 0) -> None:
    """Print one entry of a list on stdout, wrapped between words at 80 columns and indented."""
    first, rest = " " * indent, " " * (indent + 2)
    print(
        fill(
            text,
            WIDTH,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def page(text: str) -> None:
    """Print a long text through the pager of the terminal, as git does: PAGER, or ``less -FRX``.

    Without a pager it is printed directly.
    """
    words = shlex.split(os.environ.get("PAGER") or "less")
    if not words or shutil.which(words[0]) is None:
        print(text, end="")
        return
    environment = {"LESS": "FRX", **os.environ}
    pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's own
    try:
        pager.communicate(text.encode())
    finally:
        signal.signal(signal.SIGINT, before)
