"""Show a run to a person: as a page, as a text, in the terminal.

The record is shown unchanged. Text by a model or a person is data, never markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialectree.report.live import LiveProgress
    from dialectree.report.pages import markdown
    from dialectree.report.player import html
    from dialectree.report.progress import Lines
    from dialectree.report.terminal import overview, paths, result, transcript, tree
    from dialectree.report.verdicts import verdict_lines, verdict_text

__all__ = [
    "Lines",
    "LiveProgress",
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
    "live": ("LiveProgress",),
    "pages": ("markdown",),
    "player": ("html",),
    "progress": ("Lines",),
    "terminal": ("overview", "paths", "result", "transcript", "tree"),
    "verdicts": ("verdict_lines", "verdict_text"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that a page does not load the terminal's code."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'dialectree.report' has no attribute {name!r}")
    return getattr(import_module(f"dialectree.report.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
