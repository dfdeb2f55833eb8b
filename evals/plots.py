"""Draw the plots of a report: accuracy, summaries, cost, calibration and risk.

Matplotlib draws without a screen. The same results give the same bytes. In SVG, text stays text.
Colour-blind readers can tell the colours apart, and marks also differ in shape. Inside a page the
colours are the page's variables, so a plot is readable on a dark background, too.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from dialectree import text as words
from dialectree.evals.confidence_measures import reliability
from dialectree.evals.intervals import Proportion
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.answers import RUBRIC
from dialectree.evals.reporting.formatting import cell
from dialectree.evals.reporting.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RIGHT_OF_ASKED = "right answers of all questions asked"
"""The label of an axis that shows accuracy."""
MOST_CURVES = 6
MOST_POINTS = 200
"""The most points of a curve, so that a page does not grow with the questions."""
INK, SOFT, LINE, PAPER = "#22262c", "#5c636d", "#dcd9d1", "#fffffe"
COLOURS = ("#0b63a5", "#c4580a", "#0a7d5c", "#9a4f86", "#8f6b00", "#5a6069")
DARK = ("#6db3ef", "#f0995a", "#4fc3a1", "#d99ac6", "#d9b64a", "#b0b5bb")
"""The colours on a dark background."""
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
"""The width of a plot in inches, small enough for a phone."""
BAR = 0.55
"""The height of a bar, where two bars are 1 apart."""
READABLE = 0.9
"""The smallest scale of a plot on a page; letters are then about 8 pixels."""
DASHED: Any = {"color": SOFT, "linewidth": 1, "linestyle": (0, (4, 3))}


@dataclass(frozen=True)
class Plot:
    """One plot: its key in file names, its title, its caption and its drawing."""

    key: str
    title: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The plot as an SVG file, on white."""
        metadata = {"Date": None, "Creator": None, "Title": self.title}
        return self._save_to_bytes("svg", metadata=metadata).decode()

    @property
    def png(self) -> bytes:
        """The plot as a bitmap, on white."""
        return self._save_to_bytes("png", dpi=200, metadata={"Software": None})

    def _save_to_bytes(self, form: str, **options: Any) -> bytes:
        import matplotlib

        file = io.BytesIO()
        with matplotlib.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            self.figure.savefig(file, format=form, bbox_inches="tight", pad_inches=0.06, **options)
        return file.getvalue()


def inline(plot: Plot) -> str:
    """Return the plot as an SVG element of a page, with the page's colours and fonts."""
    svg = plot.svg[plot.svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style|title)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id="|xlink:href="#|url\(#)', rf"\g<1>{plot.key}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    svg = re.sub(r"""(['"]?)DejaVu Sans\1, sans-serif""", "var(--sans)", svg)
    box, width = re.findall(r'viewBox="0 0 (([\d.]+) [\d.]+)"', svg)[0]
    opening = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'aria-hidden="true" viewBox="0 0 {box}" style="min-width:{READABLE * float(width):.0f}px">'
    )
    return opening + svg[svg.index(">") + 1 :]


def plots(analysis: Analysis) -> list[Plot]:
    """Return every plot for which there are results."""
    study = analysis.study
    optional_plots = (_accuracy(analysis), _summaries(study), _front(analysis), _reliability(study))
    return [plot for plot in (*optional_plots, _risk(study)) if plot is not None]


def _draw_points(
    key: str,
    title: str,
    caption: str,
    lines: Sequence[Mapping[str, Any]],
    *,
    height: float,
    axes: Mapping[str, Any],
    percent: str = "x",
    along: str = "x",
    joined: bool = False,
    legend: bool = True,
    dashed: Sequence[Sequence[Sequence[float]]] = (),
    at_right: Mapping[float, str] | None = None,
) -> Plot | None:
    """Return a plot of points, or None without any.

    Args:
        lines: for each point ``row``, ``place`` (of the colour), ``x`` and ``y``; ``low`` and
            ``high`` of the interval; the ``size`` of the mark, and ``hollow`` for a hollow one;
            ``pale``, the length of a pale bar after a bar from 0 to ``x``, for a plot of bars.
        height: In inches.
        axes: Properties of the axes.
        percent: The axes that show shares as percentages.
        along: The axis of the intervals.
        joined: True to join the points of a row to a curve.
        legend: True to name rows below the axes.
        dashed: Steps or lines to draw first.
        at_right: Texts to the right of the axes, by height.
    """
    if not lines:
        return None
    import matplotlib

    usual = {"low": None, "high": None, "size": 6.0, "hollow": False, "pale": None}
    points: Any = DataFrame([{**usual, **line} for line in lines])

    with matplotlib.rc_context(STYLE):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import PercentFormatter

        figure = Figure(figsize=(WIDE, height))
        FigureCanvasAgg(figure)
        subplot = figure.add_subplot()
        for steps in dashed:
            subplot.plot(*steps, **DASHED)
        for row, row_points in points.groupby("row", sort=False):
            place = int(row_points.place.iloc[0])  # colours and marks repeat
            colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
            if len(bars := row_points.dropna(subset=["pale"])):
                subplot.barh(bars.y, bars.x, BAR, color=colour, alpha=0.75)
                subplot.barh(bars.y, bars.pale, BAR, left=bars.x, color=colour, alpha=0.25)
            if joined:
                subplot.plot(row_points.x, row_points.y, color=colour, linewidth=1.4, clip_on=False)
            if len(interval_points := row_points.dropna(subset=["low", "high"])):
                ends, positions = (
                    interval_points[["low", "high"]].T,
                    interval_points[["y" if along == "x" else "x"] * 2].T,
                )
                across, up = (ends, positions) if along == "x" else (positions, ends)
                line_colour = INK if len(bars) else colour
                subplot.plot(across.astype(float), up.astype(float), color=line_colour, linewidth=1.6)
            marked, fill = (row_points[row_points["size"] > 0], PAPER if row_points.hollow.any() else colour)
            look: Any = {"marker": mark, "facecolors": fill, "edgecolors": colour, "clip_on": False}
            subplot.scatter(marked.x, marked.y, marked["size"] ** 2, **look)
            line: Any = {"linewidth": 1.4 * joined, "markersize": 3 if joined else 6, "markerfacecolor": fill}
            subplot.plot([], [], color=colour, marker=mark, label=short_name(str(row)), **line)
        subplot.set(**axes)
        for name in percent:
            axis = subplot.xaxis if name == "x" else subplot.yaxis
            axis.set_major_formatter(PercentFormatter(1, decimals=0))
        for level, text in (at_right or {}).items():
            where: Any = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
            subplot.annotate(text, (1.0, level), **where, color=INK)
        if "yticks" in axes:
            subplot.spines["left"].set_visible(False)
        subplot.grid(axis="x" if "yticks" in axes else "both")
        if axes.get("xscale") == "log":
            _plain_numbers(subplot)
        if legend:
            _legend_below(subplot)
    return Plot(key, title, caption, figure)


def _accuracy(analysis: Analysis) -> Plot | None:
    rows = [row for row in analysis.study.rows.values() if row.n]
    shares = {row.name: row.accuracy for row in rows}
    withheld = {row.name: row.counts["unanswered"] for row in rows}
    texts = [
        f"{short_name(name)} {share.right} of {share.n}, {withheld[name]} withheld"
        for name, share in shares.items()
    ]
    unparsed = any(row.counts["unparsed"] for row in analysis.study.rows.values())
    pale = " (pale: withheld)" if any(withheld.values()) else ""
    return _draw_points(
        "accuracy",
        f"Accuracy with 95% intervals{pale}{', unparsed left out' if unparsed else ''}",
        " ".join([f"Right: {'; '.join(texts)}.", *analysis.unread]),
        [
            {"row": name, "place": n, "x": share.share, "y": -n, "low": share.low, "high": share.high}
            | {"size": 0.0, "pale": withheld[name] / share.n}
            for n, (name, share) in enumerate(shares.items())
        ],
        height=0.95 + 0.36 * len(shares),
        axes={
            "xlabel": RIGHT_OF_ASKED,
            "xlim": (0, 1),
            "ylim": (-len(shares) + 0.5, 0.5),
            "yticks": [-n for n in range(len(shares))],
            "yticklabels": [*map(short_name, shares)],
        },
        legend=False,
        at_right={-n: cell(share)[0] for n, share in enumerate(shares.values())},
    )


def _summaries(study: Study) -> Plot | None:
    keys = ("overall", *RUBRIC)
    marks = {row.name: {key: row.mark(key) for key in keys} for row in study.rows.values()}
    rows = [name for name, row_marks in marks.items() if any(mark.n for mark in row_marks.values())]
    apart = len(rows) + 1.0
    means = [f"{short_name(name)} {cell(marks[name]['overall'], 'marks')[0]}" for name in rows]
    points = [
        {"row": name, "place": n, "x": mark.value, "y": -k * apart - n} | {"low": mark.low, "high": mark.high}
        for n, name in enumerate(rows)
        for k, key in enumerate(keys)
        if (mark := marks[name][key]).value is not None
    ]
    return _draw_points(
        "summaries",
        "Summaries, 0 to 100, with 95% intervals",
        f"Overall: {'; '.join(means)}",
        points,
        height=0.9 + len(keys) * (0.2 + 0.2 * len(rows)),
        axes={
            "xlabel": "mark",
            "xlim": (0, 101),
            "yticks": [-k * apart - (len(rows) - 1) / 2 for k in range(len(keys))],
            "yticklabels": keys,
        },
        percent="",
    )


def _front(analysis: Analysis) -> Plot | None:
    if len(analysis.priced) < 2:
        return None
    place = {row.name: n for n, row in enumerate(analysis.study.rows.values())}
    best = [priced_row for priced_row in analysis.priced if priced_row.beaten_by is None]
    steps: list[list[list[float]]] = []
    for kind in dict.fromkeys(priced_row.row.handed for priced_row in best):
        front = [priced_row for priced_row in best if priced_row.row.handed == kind]
        corners = [(priced_row.price, priced_row.row.accuracy.share or 0.0) for priced_row in front]
        across = [price for price, _ in corners for _ in (0, 1)][1:]
        up = [share for _, share in corners for _ in (0, 1)][:-1]
        steps += [[across, up]] if len(front) > 1 else []
    points = [
        {
            "row": priced_row.row.name,
            "place": place[priced_row.row.name],
            "x": priced_row.price,
            "y": share.share,
        }
        | {"low": share.low, "high": share.high, "size": 7.0, "hollow": priced_row.row.baseline}
        for priced_row in analysis.priced
        for share in (priced_row.row.accuracy,)
    ]
    unit = "cost of a question" if analysis.in_money else "tokens a question"
    return _draw_points(
        "front",
        "Cost and accuracy (hollow: baselines; dashed: nothing cheaper is as good)",
        "On the front: " + ", ".join(short_name(priced_row.row.name) for priced_row in best),
        points,
        height=3.2,
        axes={"xscale": "log", "xlabel": unit, "ylabel": RIGHT_OF_ASKED, "ylim": (0, 1)},
        percent="y",
        along="y",
        dashed=steps,
    )


def rules_plot(rules: Sequence[tuple[str, float, Proportion, bool]], *, recommended: bool) -> Plot:
    """Return a plot of the accuracy of rules, which say what to debate, by their tokens.

    Each rule has a name, tokens per question, an accuracy, and True if it is the recommended one.
    """
    title = "Accuracy by tokens"
    plot = _draw_points(
        "rules",
        f"{title} (filled: recommended)" if recommended else title,
        "; ".join(f"{name} {cell(share)[0]}" for name, _, share, _ in rules),
        [
            {"row": name, "place": place, "x": tokens, "y": share.share}
            | {"low": share.low, "high": share.high, "size": 7.0, "hollow": not chosen}
            for place, (name, tokens, share, chosen) in enumerate(rules)
        ],
        height=3.2,
        axes={"xlabel": "tokens a question", "ylabel": RIGHT_OF_ASKED},
        percent="y",
        along="y",
    )
    assert plot is not None  # there are always two rules
    return plot


def _plain_numbers(axes: Axes) -> None:
    """Write the numbers of a logarithmic axis in full, thousands as ``2k``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / 1000:g}k" if v >= 1000 else f"{v:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.12)


def _reliability(study: Study) -> Plot | None:
    lines: list[dict[str, Any]] = []
    for n, row in enumerate(study.rows.values()):
        answers = row.calibrated
        if len(answers) > 1:
            bins = reliability([*answers.confidence], [*answers.true])
            sizes = 2.5 + 6 * (bins.n / bins.n.max()) ** 0.5
            lines += [
                {"row": row.name, "place": n, "x": x, "y": right / of, "size": size}
                for x, right, of, size in zip(bins.confidence, bins.right, bins.n, sizes, strict=True)
            ]
    names = ("P(claim)", "true") if study.task == "verify" else ("confidence", "right")
    title = "Confidence and how often it came true (dashed: as it says)"
    return _curves("reliability", title, lines, *names, dashed=[[[0, 1], [0, 1]]])


def _risk(study: Study) -> Plot | None:
    lines: list[dict[str, Any]] = []
    for n, row in enumerate(study.rows.values()):
        curve = row.surest.curve
        if len(curve) > 1:
            places = range(len(curve))
            few = [*places[: -1 : max(1, len(curve) // MOST_POINTS)], places[-1]]
            marker_step = max(1, len(few) // 10)
            lines += [
                {"row": row.name, "place": n, "x": curve.coverage[at], "y": curve.risk[at]}
                | {"size": 3.0 * (k % marker_step == 0)}
                for k, at in enumerate(few)
            ]
    names = "questions answered, the surest first", "wrong among them"
    return _curves("risk", "Errors among the surest answers", lines, *names)


def _curves(
    key: str, title: str, lines: Sequence[Mapping[str, Any]], across: str, up: str, **dashed: Any
) -> Plot | None:
    """Draw shares against shares, with a curve for each of the first ``MOST_CURVES`` rows."""
    rows = [*dict.fromkeys(line["row"] for line in lines)]
    row_subset = f"the first {MOST_CURVES} of {len(rows)} methods"
    return _draw_points(
        key,
        title,
        f"{up} by {across}, {row_subset if len(rows) > MOST_CURVES else 'all methods'}",
        [line for line in lines if line["row"] in rows[:MOST_CURVES]],
        height=4.2 if dashed else 3.4,
        axes={"xlim": (-0.02, 1.02), "ylim": (-0.02, 1.02), "xlabel": across, "ylabel": up},
        percent="xy",
        joined=True,
        **dashed,
    )


def short_name(text: str) -> str:
    """Return a name of at most 34 characters on one line."""
    return words.line(text, 34) or "none"


def _legend_below(axes: Axes) -> None:
    """Put the legend under the axes."""
    long = max(map(len, axes.get_legend_handles_labels()[1]), default=0) > 26
    below = -0.58 / axes.figure.get_size_inches()[1]  # type: ignore[union-attr]
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, below), ncol=1 if long else 2)
