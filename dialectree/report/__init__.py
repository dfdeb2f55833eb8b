"""What a person sees of a run: a page, a text, a tree in the terminal.

The record is shown as it is. Whatever a model or a person wrote is data, never markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialectree.records import RunRecord

if TYPE_CHECKING:
    from dialectree.report.live import LiveTree, Watcher
    from dialectree.report.pages import markdown
    from dialectree.report.player import html
    from dialectree.report.progress import Lines
    from dialectree.report.terminal import overview, paths, result, transcript, tree
    from dialectree.report.verdicts import verdict_lines, verdict_text

__all__ = [
    "Lines",
    "LiveTree",
    "Watcher",
    "html",
    "markdown",
    "overview",
    "paths",
    "result",
    "transcript",
    "tree",
    "verdict_lines",
    "verdict_text",
]

_MODULES = {
    "live": ("LiveTree", "Watcher"),
    "pages": ("markdown",),
    "player": ("html",),
    "progress": ("Lines",),
    "terminal": ("overview", "paths", "result", "transcript", "tree"),
    "verdicts": ("verdict_lines", "verdict_text"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: a page needs no terminal, and none a page."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'dialectree.report' has no attribute {name!r}")
    return getattr(import_module(f"dialectree.report.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__


def _in_two_lines(record: RunRecord) -> str:
    """Return what was asked and what came of it."""
    from dialectree.report.verdicts import two_line_summary

    return f"<RunRecord {two_line_summary(record)}>"


def _as_card(record: RunRecord) -> str:
    """Return the run as a card of a notebook."""
    from dialectree.report.pages import card

    return card(record)


# Records stand below the reports, so the reports bring their views of a record themselves.
for _name, _shown in {
    "__repr__": _in_two_lines,
    "__str__": _in_two_lines,
    "_repr_html_": _as_card,
}.items():
    setattr(RunRecord, _name, _shown)
