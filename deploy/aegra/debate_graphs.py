"""The graphs of the installed protocols, in a file: Aegra takes no module."""

from __future__ import annotations

from dialectree.protocol import methods


def __getattr__(name: str) -> object:
    """Return the graph of the method called ``name``, as aegra.json names it."""
    known = methods()
    if name not in known:
        raise AttributeError(f"there is no method {name}; known: {', '.join(known)}")
    return known[name].graph()
