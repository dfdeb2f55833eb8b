"""What all drawings in the terminal share: colours, bars, and how a reply is set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from dialectree.report import words
from dialectree.report.view import Entry

SOFT, WARN, BAD, ACCENT, SECOND = "dim", "yellow", "red", "cyan", "magenta"
SHOWN = 400
"""Characters of a text that the tree shows; the transcript shows it whole."""


def bar(share: float, width: int, full: str = "█", empty: str = "░") -> Text:
    """A share of 1 as a bar that reads without colour, too."""
    filled = round(share * width)
    return Text.assemble((full * filled, ACCENT), (empty * (width - filled), SOFT))


def gauge(share: float, width: int) -> Text:
    """A bar with a mark at one half."""
    drawn = bar(share, width)
    return Text.assemble(drawn[: width // 2], "│", drawn[width // 2 :])


def confidence(share: float | None, after: str = "") -> Text:
    """``Confidence ███░░░ 52%``."""
    drawn = Text.assemble(bar(share, 16), " ") if share is not None else Text()
    return Text.assemble(("Confidence ", SOFT), drawn, words.percent(share), (after, SOFT))


def entries(lines: Iterable[Entry]) -> Iterator[RenderableType]:
    """The fields of a reply, each text whole."""
    for entry in lines:
        said = Text(f"{words.line(entry.label, 80)}: ", SOFT)
        if entry.share is not None:
            said = Text.assemble(said, bar(entry.share, 10), f" {words.percent(entry.share)} ")
        said = Text.assemble(said, words.clean(entry.text))
        yield Padding(said, (0, 0, 0, 2 + 2 * entry.level), expand=False)
