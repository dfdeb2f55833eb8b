"""Draw what the terminal shows: colours, bars and links to files."""

from __future__ import annotations

from pathlib import Path

from rich.style import Style
from rich.text import Text

from dialectree.report import words

SOFT, WARN, BAD, ACCENT, SECOND = "dim", "yellow", "red", "cyan", "magenta"


def bar(share: float, width: int, full: str = "█", empty: str = "░") -> Text:
    """Draw a share of 1 as a bar that reads without colour, too."""
    filled = round(share * width)
    return Text.assemble((full * filled, ACCENT), (empty * (width - filled), SOFT))


def link_style(file: Path) -> Style:
    """Return the style that makes a text a link to ``file``, in terminals that know links."""
    return Style(link=file.resolve().as_uri())


def link(file: Path) -> Text:
    """Return the path of ``file`` as a link to it."""
    return Text(words.clean(str(file)), link_style(file))
