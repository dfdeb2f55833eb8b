"""dialectree: structured debate between language models, as LangGraph state machines.

``answer`` debates a question, ``decide`` one with options, ``verify`` a claim, ``compare`` two
papers; each returns the record of it, and each has a twin (``aanswer`` ...) for event loops.
``resume`` goes on with a run that was broken off, and ``contest`` changes something in one and does
again what depends on it. The compiled graphs are ``dialectree.graphs.<protocol file>.graph``, and
``as_tool`` makes a LangChain tool of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialectree.api import (
        aanswer,
        acompare,
        acontest,
        adecide,
        answer,
        aresume,
        as_tool,
        averify,
        compare,
        contest,
        decide,
        resume,
        verify,
    )
    from dialectree.context import Context
    from dialectree.errors import DialectreeError
    from dialectree.records import RunRecord

__all__ = [
    "Context",
    "DialectreeError",
    "RunRecord",
    "aanswer",
    "acompare",
    "acontest",
    "adecide",
    "answer",
    "aresume",
    "as_tool",
    "averify",
    "compare",
    "contest",
    "decide",
    "resume",
    "verify",
]

_HOMES = {
    "aanswer": "dialectree.api",
    "acompare": "dialectree.api",
    "acontest": "dialectree.api",
    "adecide": "dialectree.api",
    "answer": "dialectree.api",
    "aresume": "dialectree.api",
    "as_tool": "dialectree.api",
    "averify": "dialectree.api",
    "compare": "dialectree.api",
    "contest": "dialectree.api",
    "decide": "dialectree.api",
    "resume": "dialectree.api",
    "verify": "dialectree.api",
    "Context": "dialectree.context",
    "DialectreeError": "dialectree.errors",
    "RunRecord": "dialectree.records",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``import dialectree`` itself costs nothing."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'dialectree' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
