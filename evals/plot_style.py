"""How a plot is drawn: its colours and letters, and the same drawing inside a page and as files.

Matplotlib draws without a screen. The same results give the same bytes, and text stays text.
Colour-blind readers can tell the colours apart, and marks differ in shape, too. Inside a page the
colours are the page's variables, so that a plot is as readable on dark ground as on light.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dialectree import text as words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, LINE, PAPER = "#22262c", "#5c636d", "#dcd9d1", "#fffffe"
COLOURS = ("#0b63a5", "#c4580a", "#0a7d5c", "#9a4f86", "#8f6b00", "#5a6069")
DARK = ("#6db3ef", "#f0995a", "#4fc3a1", "#d99ac6", "#d9b64a", "#b0b5bb")
"""The same colours on dark ground."""
MARKS = ("o", "s", "^", "D", "v", "P", "X")
_VARIABLES = {
    **{INK: "--ink", SOFT: "--soft", LINE: "--line", PAPER: "--paper"},
    **{colour: f"--plot-{number}" for number, colour in enumerate(COLOURS)},
}
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "dialectree",
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.facecolor": PAPER,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
}
WIDE = 4.6
"""Inches; a plot is read on a phone, too."""
READABLE = 0.9
"""A page shrinks a plot to this scale at most: its letters are then about 8 pixels."""
DASHED: Any = {"color": SOFT, "linewidth": 1, "linestyle": (0, (4, 3))}


@dataclass(frozen=True)
class Plot:
    """One plot: its name in files, its title, its content in words, and its drawing."""

    key: str
    title: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The plot as a file of its own, on white."""
        metadata = {"Date": None, "Creator": None, "Title": self.title}
        return self._saved("svg", metadata=metadata).decode()

    @property
    def png(self) -> bytes:
        """The plot as a bitmap, on white."""
        return self._saved("png", dpi=200, metadata={"Software": None})

    def _saved(self, form: str, **options: Any) -> bytes:
        import matplotlib

        file = io.BytesIO()
        with matplotlib.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            self.figure.savefig(file, format=form, bbox_inches="tight", pad_inches=0.06, **options)
        return file.getvalue()


def inline(plot: Plot) -> str:
    """Return the plot as an element of a page, in the page's colours and letters."""
    drawn = plot.svg[plot.svg.index("<svg") :]
    drawn = re.sub(r"<(metadata|style|title)\b.*?</\1>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'\b(id="|xlink:href="#|url\(#)', rf"\g<1>{plot.key}-", drawn)
    for colour, variable in _VARIABLES.items():
        drawn = drawn.replace(colour, f"var({variable})")
    drawn = re.sub(r"""(['"]?)DejaVu Sans\1, sans-serif""", "var(--sans)", drawn)
    box, width = re.findall(r'viewBox="0 0 (([\d.]+) [\d.]+)"', drawn)[0]
    opening = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'aria-hidden="true" viewBox="0 0 {box}" style="min-width:{READABLE * float(width):.0f}px">'
    )
    return opening + drawn[drawn.index(">") + 1 :]


def canvas(height: float) -> tuple[Figure, Axes]:
    """Return a figure as wide as all of them and ``height`` inches high."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE, height))
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def short_name(text: str) -> str:
    """Return a name of at most 34 characters on one line."""
    return words.line(text, 34) or "none"


def look(place: int) -> Any:
    """Return the colour and the mark of the row at ``place``; they come round again."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKS[place % len(MARKS)]}


def in_percents(axis: Any) -> None:
    """Write shares of one as percentages along ``axis``."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1, decimals=0))


def legend_below(axes: Axes) -> None:
    """Put the legend under the axes."""
    long = max(map(len, axes.get_legend_handles_labels()[1]), default=0) > 26
    below = -0.58 / axes.figure.get_size_inches()[1]  # type: ignore[union-attr]
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, below), ncol=1 if long else 2)
