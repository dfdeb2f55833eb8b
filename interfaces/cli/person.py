"""Ask the person at the terminal on stderr, and read the answers from stdin.

The person can leave at any moment.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Mapping

from dialectree.errors import Halted
from dialectree.text import clean

_typed = bytearray()
"""The bytes already read from stdin that belong to the next line."""


async def ask(request: Mapping[str, str]) -> str:
    """Return one line that the person types; an empty line if the input has ended.

    Raise Halted if the input ends before a ruling: resuming asks again.
    """
    paragraphs = [f"\nAbout: {request['question']}", request.get("transcript", ""), request["request"]]
    judging = "labels" in request
    empty = "no ruling" if judging else "go on without"
    try:
        print(clean("\n".join(filter(None, paragraphs))), file=sys.stderr)
        print(f"Your answer (empty: {empty}): ", end="", file=sys.stderr, flush=True)
    except BrokenPipeError:
        raise Halted("the person cannot be asked: stderr is closed") from None
    line = await _line()
    if judging and not line:
        raise Halted("no ruling: the input has ended")
    return line


async def _line() -> str:
    """Return the next line with its line break; empty at the end of the input.

    No thread waits for the line, because a reading thread cannot be cancelled.
    """
    try:
        source = sys.stdin.fileno()
    except (io.UnsupportedOperation, AttributeError):  # stdin is not a file
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
    """Return when ``source`` can be read without waiting; a plain file always can."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except (PermissionError, NotImplementedError):
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)
