"""How a plot is drawn: its colours and letters, and the same figure inside a page and as files.

Drawn by Matplotlib without a screen. The same results give the same bytes; text stays text. Colours
can be told apart by colour-blind readers, and marks differ in shape, too. Inside a page the colours
are the page's variables, so that a plot is as readable on dark ground as on light.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dialectree.evals.proportions import Proportion
from dialectree.report import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, LINE, PAPER = "#22262c", "#5c636d", "#dcd9d1", "#fffffe"
COLOURS = ("#0b63a5", "#c4580a", "#0a7d5c", "#9a4f86", "#8f6b00", "#5a6069")
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
    "axes.unicode_minus": True,
    "figure.facecolor": PAPER,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
}
WIDE = 4.6
"""Inches; a plot is read on a phone, too."""
READABLE = 0.9
"""A page shrinks a plot to this scale at most: its letters are then about 8 pixels."""


@dataclass(frozen=True)
class Plot:
    """One plot: its name in files, its title, what it shows in words, and how it is drawn."""

    key: str
    title: str
    says: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The plot as a file of its own, on white."""
        file = io.BytesIO()
        _save(self, file, "svg", metadata={"Date": None, "Creator": None, "Title": self.title})
        return file.getvalue().decode()

    @property
    def png(self) -> bytes:
        """The plot as a picture of dots, on white."""
        file = io.BytesIO()
        _save(self, file, "png", dpi=200, metadata={"Software": None})
        return file.getvalue()


def inline(plot: Plot) -> str:
    """The plot as an element of a page, in the page's colours and letters."""
    drawn = plot.svg[plot.svg.index("<svg") :]
    drawn = re.sub(r"<(metadata|style|title)\b.*?</\1>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'\b(id="|xlink:href="#|url\(#)', rf"\g<1>{plot.key}-", drawn)
    drawn = re.sub(r"#[0-9a-f]{6}\b", _variable, drawn)
    drawn = re.sub(r"""(['"]?)DejaVu Sans\1, sans-serif""", "var(--sans)", drawn)
    return re.sub(r'^<svg[^>]*?(viewBox="0 0 ([\d.]+) [^"]*")[^>]*>', _opening, drawn, count=1)


def _variable(found: re.Match[str]) -> str:
    name = _VARIABLES.get(found[0])
    return f"var({name})" if name else found[0]


def _opening(found: re.Match[str]) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'aria-hidden="true" style="min-width:{READABLE * float(found[2]):.0f}px" {found[1]}>'
    )


def _save(plot: Plot, file: io.BytesIO, form: str, **options: Any) -> None:
    import matplotlib

    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        plot.figure.savefig(file, format=form, bbox_inches="tight", pad_inches=0.06, **options)


def canvas(height: float) -> tuple[Figure, Axes]:
    """A figure as wide as all of them and ``height`` inches high."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE, height))
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def short_name(text: str, limit: int = 34) -> str:
    """A name of at most ``limit`` characters on one line."""
    return words.line(text, limit) or "none"


def colour_of(place: int) -> str:
    """The colour of the row at ``place``; they come round again."""
    return COLOURS[place % len(COLOURS)]


def mark_of(place: int) -> str:
    """The mark of the row at ``place``; they come round again."""
    return MARKS[place % len(MARKS)]


def in_percents(axis: Any) -> None:
    """Shares of one are written as percentages along ``axis``."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f}%"))


def legend_below(axes: Axes) -> None:
    """The legend under the axes, whatever is above it."""
    handles, names = axes.get_legend_handles_labels()
    columns = 1 if max(map(len, names), default=0) > 26 else 2
    height = axes.get_figure(root=True).get_size_inches()[1]  # type: ignore[union-attr]
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(-0.02, -0.58 / height),
        ncol=columns,
        handletextpad=0.5,
        columnspacing=1.5,
    )


def draw_shares(axes: Axes, lines: Sequence[tuple[float, Proportion, int]]) -> None:
    """Shares as marks with their intervals: height, share, place of colour and mark."""
    for height, share, place in lines:
        if share.share is None or share.low is None or share.high is None:
            continue
        axes.plot([share.low, share.high], [height] * 2, color=colour_of(place), linewidth=1.6)
        axes.plot(
            share.share,
            height,
            mark_of(place),
            color=colour_of(place),
            markersize=6,
            clip_on=False,
        )


def files(made: Sequence[Plot]) -> Iterator[tuple[str, bytes]]:
    """The plots as files: a name, and what is in it."""
    for plot in made:
        yield f"{plot.key}.svg", plot.svg.encode()
        yield f"{plot.key}.png", plot.png
