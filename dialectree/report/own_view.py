"""Find the view that a protocol has for its own debates, in a file next to the protocol's graph."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from dialectree.records import Node, RunRecord


class OwnView:
    """A module that shows the special parts of a protocol's debates.

    A function of the module replaces the method of the same name. ``MARKDOWN`` has Jinja macros:
    ``appendix`` for the run; ``line``, ``row`` and ``node`` for a node that the module ``shows``.
    """

    MARKDOWN = ""

    def __init__(self, module: ModuleType) -> None:
        vars(self).update(vars(module))

    def answer(self, record: RunRecord) -> list[str]:
        """Return the outcome in plain paragraphs; if empty, the verdict's answer is shown."""
        return []

    def grounds(self, record: RunRecord) -> list[str]:
        """Return further grounds of the answer, one per line."""
        return []

    def heading(self, record: RunRecord) -> str:
        """Return the heading above the details of the nodes."""
        return "The debates"

    def shows(self, node: Node) -> bool:
        """Return whether the macros ``line``, ``row`` and ``node`` show ``node``."""
        return False

    def outcome(self, node: Node) -> str:
        """Return the outcome of a node without a verdict, in a few words."""
        return ""


@cache
def find_own_view(graph: str, view: str) -> OwnView | None:
    """Return the module called ``view`` next to a graph (``module:attribute``), or None."""
    name = f"{graph.partition(':')[0].rpartition('.')[0]}.{view}"
    return OwnView(import_module(name)) if find_spec(name) else None
