"""dialectree: structured debate between language models, as LangGraph state machines.

``answer`` debates a question and returns the record of it; ``aanswer`` is its twin for programs
that run an event loop. The compiled graphs are ``dialectree.graphs.<protocol file>.graph``, and
``as_tool`` makes a LangChain tool of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialectree.api import aanswer, answer, as_tool
    from dialectree.context import Context
    from dialectree.errors import DialectreeError
    from dialectree.records import RunRecord

__all__ = ["Context", "DialectreeError", "RunRecord", "aanswer", "answer", "as_tool"]

_HOMES = {
    "aanswer": "dialectree.api",
    "answer": "dialectree.api",
    "as_tool": "dialectree.api",
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
