"""What the live view draws with: colours and bars."""

from __future__ import annotations

from rich.text import Text

SOFT, WARN, BAD, ACCENT, SECOND = "dim", "yellow", "red", "cyan", "magenta"


def bar(share: float, width: int, full: str = "█", empty: str = "░") -> Text:
    """Draw a share of 1 as a bar that reads without colour, too."""
    filled = round(share * width)
    return Text.assemble((full * filled, ACCENT), (empty * (width - filled), SOFT))
