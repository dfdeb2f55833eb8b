"""Ask before many calls."""

from __future__ import annotations

import sys
from math import inf

from dialectree.errors import InputError
from dialectree.protocols.settings import ProtocolSettings

UNASKED = 300
"""Calls up to which the program does not ask: no protocol of ours takes more by default."""


def require(expected_calls: int, context: ProtocolSettings | None) -> None:
    """Ask before more than :data:`UNASKED` calls; raise InputError without consent.

    ``expected_calls`` is the estimated maximum. A lower ``max_calls`` of ``context`` replaces it.
    A replay needs no consent.
    """
    bound = context.max_calls if context is not None and context.max_calls else inf
    calls = min(expected_calls, bound)
    if calls <= UNASKED or (context is not None and context.replay):
        return
    if not terminal():
        raise InputError(f"up to {calls:,} calls: give --yes to go on, or a --max-calls of at most {UNASKED}")
    ask(f"Up to {calls:,} calls.")


def terminal() -> bool:
    """Return whether a person can be asked: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str, refused: str = "nothing was begun") -> None:
    """Ask the person at the terminal whether to go on; raise InputError after a no.

    ``refused`` is the error's message.
    """
    print(f"{question} Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError(refused)
