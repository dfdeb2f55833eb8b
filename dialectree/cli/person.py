"""The person at the terminal: asked on stderr, answers on stdin, and can leave at any moment."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Mapping

from dialectree.errors import Halted
from dialectree.report.words import clean

_typed = bytearray()
"""What was read from stdin beyond the last line."""


async def ask(asked: Mapping[str, str]) -> str:
    """One line from the person. To a request for a clarification the end of the input is no answer.

    A ruling that nobody gives breaks the run off: Halted, so that it goes on when there is one.
    """
    shown = [f"\nAbout: {asked['question']}", asked.get("transcript", ""), asked["request"]]
    judging = "labels" in asked
    empty = "no ruling" if judging else "go on without"
    try:
        print(clean("\n".join(filter(None, shown))), file=sys.stderr)
        print(f"Your answer (empty: {empty}): ", end="", file=sys.stderr, flush=True)
    except BrokenPipeError:
        raise Halted("nobody can be asked: what read the questions is gone") from None
    line = await _line()
    if judging and not line:
        raise Halted("nobody ruled: the input has ended")
    return line


async def _line() -> str:
    """The next line with its end; empty at the end of the input.

    Waits without a thread, which could not be called off while it reads.
    """
    try:
        source = sys.stdin.fileno()
    except (io.UnsupportedOperation, AttributeError):  # no file behind it
        return sys.stdin.readline()
    while b"\n" not in _typed:
        await _readable(source)
        if not (more := os.read(source, 65_536)):
            break
        _typed.extend(more)
    line, end, rest = bytes(_typed).partition(b"\n")
    _typed[:] = rest
    return (line + end).decode(errors="replace")


async def _readable(source: int) -> None:
    """Returns when ``source`` can be read without waiting; a plain file always can."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except (PermissionError, NotImplementedError):
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)
