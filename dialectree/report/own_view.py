"""Find the view that a protocol brings for its own debates: one file beside its graph."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from dialectree.records import Node, RunRecord


class OwnView:
    """A module that shows what is particular to the debates of a protocol.

    A function of the module takes the place of the method of its name here. ``MARKDOWN`` is the
    text of Jinja macros: ``appendix`` of the run; ``line``, ``row`` and ``node`` of a node that the
    module ``shows``.
    """

    MARKDOWN = ""

    def __init__(self, module: ModuleType) -> None:
        vars(self).update(vars(module))

    def answer(self, record: RunRecord) -> list[str]:
        """Return the outcome in plain paragraphs; without any it is the verdict's own."""
        return []

    def grounds(self, record: RunRecord) -> list[str]:
        """Return what the answer rests on besides, a line each."""
        return []

    def heading(self, record: RunRecord) -> str:
        """Return the heading above the details of the nodes."""
        return "The debates"

    def shows(self, node: Node) -> bool:
        """Return whether the macros ``line``, ``row`` and ``node`` show ``node``."""
        return False

    def outcome(self, node: Node) -> str:
        """Return what a node without a verdict came to, in a few words."""
        return ""


@cache
def find_own_view(graph: str, view: str) -> OwnView | None:
    """Return the module called ``view`` beside a graph (``module:attribute``), or None."""
    name = f"{graph.partition(':')[0].rpartition('.')[0]}.{view}"
    return OwnView(import_module(name)) if find_spec(name) else None
