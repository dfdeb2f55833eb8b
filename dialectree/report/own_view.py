"""Find the view that a protocol brings for its own debates: one file beside its graph."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from dialectree.records import Node, RunRecord


class OwnView:
    """A module that shows the debates of a protocol, with what it leaves out.

    A function of the module takes the place of the method of its name here. ``MARKDOWN`` is the
    text of Jinja macros, or a file ``VIEW.md.jinja`` beside the module has them: ``opening``,
    ``summary``, ``table`` and ``appendix`` of the run; ``line``, ``row`` and ``node`` of a node
    that the module ``shows``.
    """

    def __init__(self, module: ModuleType) -> None:
        self.file = Path(str(module.__file__))
        vars(self).update(vars(module))

    def templates(self, kind: str) -> str:
        """Return the text of the macros of a ``kind``, such as ``md.jinja``; empty without any."""
        beside = self.file.with_name(f"{self.file.stem}.{kind}")
        if beside.is_file():
            return beside.read_text()
        text = vars(self).get("MARKDOWN", "") if kind == "md.jinja" else ""
        return f"{_MACROS}{text}" if text else ""

    def introduction(self, record: RunRecord) -> list[str]:
        """Return what a terminal shows under the question, a line each."""
        return []

    def answer(self, record: RunRecord) -> list[str]:
        """Return the outcome in plain paragraphs; without any it is the verdict's own."""
        return []

    def notes(self, record: RunRecord) -> list[str] | None:
        """Return the notes on the verdict; None: the verdict's own."""
        return None

    def summary(self, record: RunRecord) -> object:
        """Return what the macro ``summary`` shows in the place of the answer, or None."""
        return None

    def heading(self, record: RunRecord) -> str:
        """Return the heading above the details of the nodes."""
        return "The debates"

    def shows(self, node: Node) -> bool:
        """Return whether the macros ``line``, ``row`` and ``node`` show ``node``."""
        return False

    def outcome(self, node: Node) -> str:
        """Return what a settled node came to, in a few words."""
        return ""

    def others(self, node: Node) -> list[Any]:
        """Return the stages (``view.stages``) that the macro ``node`` leaves out."""
        return []


_NAMES = ("opening()", "summary(made)", "table()", "appendix()")
_MACROS = "".join(f"{{% macro {name} %}}{{% endmacro %}}" for name in _NAMES)


@cache
def beside(graph: str, view: str) -> OwnView | None:
    """Return the module called ``view`` beside a graph (``module:attribute``), or None."""
    name = f"{graph.partition(':')[0].rpartition('.')[0]}.{view}"
    return OwnView(import_module(name)) if find_spec(name) else None
