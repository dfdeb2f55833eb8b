"""The plots of a report: the same figure inside the page, as an SVG file and as a PNG file.

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

from dialectree.evals.calibration import reliability
from dialectree.evals.proportions import Proportion, by_category
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.study import RUBRIC
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
MOST_CURVES = 6
MOST_POINTS = 200
"""Of a curve, so that a page does not grow with the questions."""
MOST_CATEGORIES = 60


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


def plots(analysis: Analysis) -> list[Plot]:
    """Every plot that the results have something for."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        made = [
            _accuracy(analysis),
            _summaries(analysis),
            _front(analysis),
            _reliability(analysis),
            _roots(analysis),
            _risk(analysis),
            _categories(analysis),
        ]
    return [plot for plot in made if plot is not None]


def inline(plot: Plot) -> str:
    """The plot as an element of a page, in the page's colours and letters."""
    drawn = plot.svg[plot.svg.index("<svg") :]
    drawn = re.sub(r"<(metadata|style|title)\b.*?</\1>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'\b(id="|xlink:href="#|url\(#)', rf"\g<1>{plot.key}-", drawn)
    drawn = re.sub(r"#[0-9a-f]{6}\b", _variable, drawn)
    drawn = re.sub(r"""(['"]?)DejaVu Sans\1, sans-serif""", "var(--sans)", drawn)
    return re.sub(r"^<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>", _opening, drawn, count=1)


def _variable(found: re.Match[str]) -> str:
    name = _VARIABLES.get(found[0])
    return f"var({name})" if name else found[0]


def _opening(found: re.Match[str]) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'aria-hidden="true" {found[1]}>'
    )


def _save(plot: Plot, file: io.BytesIO, form: str, **options: Any) -> None:
    import matplotlib

    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        plot.figure.savefig(file, format=form, bbox_inches="tight", pad_inches=0.06, **options)


def _canvas(height: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE, height))
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _name(text: str, limit: int = 34) -> str:
    return words.line(text, limit) or "none"


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _mark(place: int) -> str:
    return MARKS[place % len(MARKS)]


def _percents(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f}%"))


def _below(axes: Axes) -> None:
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


def _shares(
    axes: Axes, lines: Sequence[tuple[float, Proportion, int]], names: Sequence[str] = ()
) -> None:
    """Shares as marks with their intervals, each at its height."""
    for height, share, place in lines:
        if share.share is None or share.low is None or share.high is None:
            continue
        axes.plot([share.low, share.high], [height] * 2, color=_colour(place), linewidth=1.6)
        axes.plot(share.share, height, _mark(place), color=_colour(place), markersize=6)


def _accuracy(analysis: Analysis) -> Plot | None:
    rows = [row for row in analysis.study.rows if analysis.counts[row.name].parsed.n]
    if not rows:
        return None
    figure, axes = _canvas(0.75 + 0.36 * len(rows))
    shares = [analysis.counts[row.name].parsed for row in rows]
    _shares(axes, [(-n, share, n) for n, share in enumerate(shares)])
    axes.set_yticks([-n for n in range(len(rows))], [_name(row.name) for row in rows])
    axes.set_ylim(-len(rows) + 0.5, 0.5)
    axes.set_xlim(0, 1)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    _percents(axes.xaxis)
    for n, share in enumerate(shares):
        text = f"{100 * (share.share or 0):.1f}%"
        axes.annotate(text, (1.0, -n), (6, 0), textcoords="offset points", va="center", color=INK)
    says = "; ".join(
        f"{_name(row.name)} {100 * (share.share or 0):.1f}% of {share.n}"
        for row, share in zip(rows, shares, strict=True)
    )
    says = " ".join([f"{says}.", *analysis.left_out]) if analysis.left_out else says
    return Plot("accuracy", "Accuracy with 95% intervals", says, figure)


def _summaries(analysis: Analysis) -> Plot | None:
    study = analysis.study
    marks = {row.name: measures.rubric(study.of(row.name)) for row in study.rows}
    rows = [row for row in study.rows if any(marks[row.name].values())]
    if not rows:
        return None
    keys = ("overall", *RUBRIC)
    figure, axes = _canvas(0.9 + len(keys) * (0.2 + 0.2 * len(rows)))
    ticks: list[float] = []
    for k, key in enumerate(keys):
        base = -k * (len(rows) + 1.0)
        ticks.append(base - (len(rows) - 1) / 2)
        for n, row in enumerate(rows):
            mean = measures.mean(marks[row.name][key])
            if mean.value is None:
                continue
            low, high = (mean.value if end is None else end for end in (mean.low, mean.high))
            axes.plot([low, high], [base - n] * 2, color=_colour(n), linewidth=1.6)
            axes.plot(
                mean.value,
                base - n,
                _mark(n),
                color=_colour(n),
                markersize=6,
                label=_name(row.name) if not k else None,
            )
    axes.set_yticks(ticks, keys)
    axes.set_xlim(0, 101)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    _below(axes)
    says = "; ".join(
        f"{_name(row.name)} {measures.mean(marks[row.name]['overall']).value or 0:.1f}"
        for row in rows
    )
    return Plot("summaries", "Summaries, 0 to 100, with 95% intervals", f"Overall: {says}", figure)


def _front(analysis: Analysis) -> Plot | None:
    if len(analysis.spent) < 2:
        return None
    figure, axes = _canvas(3.2)
    place = {row.name: n for n, row in enumerate(analysis.study.rows)}
    best = [one for one in analysis.spent if one.beaten_by is None]
    label: str | None = "nothing cheaper is as good"
    for kind in dict.fromkeys(measures.handed(one.row) for one in best):
        front = [one for one in best if measures.handed(one.row) == kind]
        axes.step(
            [one.cost.tokens or 0 for one in front],
            [one.right.share or 0 for one in front],
            where="post",
            color=SOFT,
            linewidth=1,
            linestyle=(0, (4, 3)),
            label=label,
        )
        label = None
    for one in analysis.spent:
        n, x = place[one.row.name], one.cost.tokens or 0
        low, high = one.right.low or 0.0, one.right.high or 0.0
        axes.plot([x, x], [low, high], color=_colour(n), linewidth=1, alpha=0.65)
        axes.plot(
            x,
            one.right.share or 0.0,
            _mark(n),
            color=_colour(n),
            markersize=7,
            markerfacecolor=PAPER if one.baseline else _colour(n),
            markeredgewidth=1.6,
            label=_name(one.row.name) + (" (baseline)" if one.baseline else ""),
            linestyle="none",
        )
    axes.set_xscale("log")
    _thousands(axes)
    axes.set_xlabel("tokens a question")
    axes.set_ylim(0, 1)
    _percents(axes.yaxis)
    axes.grid()
    _below(axes)
    says = "On the front: " + ", ".join(_name(one.row.name) for one in best)
    return Plot("front", "Cost and accuracy (hollow: baselines)", says, figure)


def _thousands(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda v, _: f"{v / 1000:g}k" if v >= 1000 else f"{v:g}")
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.12)


def _reliability(analysis: Analysis) -> Plot | None:
    study = analysis.study
    curves = []
    for n, row in enumerate(study.rows):
        found = measures.calibrated(study, row.name)
        if len(found.confidences) > 1:
            curves.append((n, row, reliability(found.confidences, found.right)))
    if not curves:
        return None
    left_out = len(curves) - MOST_CURVES
    figure, axes = _canvas(4.2)
    axes.plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle=(0, (4, 3)), label="as it says")
    for n, row, bins in curves[:MOST_CURVES]:
        sure = [one.confidence for one in bins]
        right = [one.right.share or 0.0 for one in bins]
        axes.plot(
            sure,
            right,
            _mark(n),
            linestyle="-",
            color=_colour(n),
            linewidth=1.4,
            markersize=3,
            label=_name(row.name),
        )
        for one in bins:
            size = 2.5 + 6 * (one.right.n / max(b.right.n for b in bins)) ** 0.5
            axes.plot(
                one.confidence, one.right.share or 0.0, _mark(n), color=_colour(n), markersize=size
            )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    _percents(axes.xaxis)
    _percents(axes.yaxis)
    axes.set_xlabel("P(claim)" if study.task == "verify" else "confidence")
    axes.set_ylabel("true" if study.task == "verify" else "right")
    axes.grid()
    _below(axes)
    says = "The closer to the dashed line, the more a confidence means what it says"
    if left_out > 0:
        says += f"; the first {MOST_CURVES} of {len(curves)} rows"
    return Plot("reliability", "Confidence and how often it came true", says, figure)


def _risk(analysis: Analysis) -> Plot | None:
    curves = [
        (n, row, curve.points)
        for n, row in enumerate(analysis.study.rows)
        if len((curve := measures.surest(analysis.study, row.name)).points) > 1
    ]
    if not curves:
        return None
    figure, axes = _canvas(3.4)
    for n, row, points in curves[:MOST_CURVES]:
        few = points[: -1 : max(1, len(points) // MOST_POINTS)] + points[-1:]
        axes.plot(
            [point.coverage for point in few],
            [point.risk for point in few],
            _mark(n),
            linestyle="-",
            color=_colour(n),
            linewidth=1.4,
            markersize=3,
            markevery=max(1, len(few) // 10),
            label=_name(row.name),
        )
    axes.set_xlim(0, 1.02)
    axes.set_ylim(-0.02, 1.02)
    _percents(axes.xaxis)
    _percents(axes.yaxis)
    axes.set_xlabel("answers given, the surest first")
    axes.set_ylabel("wrong among them")
    axes.grid()
    _below(axes)
    says = "A confidence that means something has few errors on the left"
    if len(curves) > MOST_CURVES:
        says += f"; the first {MOST_CURVES} of {len(curves)} rows"
    return Plot("risk", "Errors among the surest answers", says, figure)


def _roots(analysis: Analysis) -> Plot | None:
    study = analysis.study
    if study.task != "verify":
        return None
    found = []
    for row in study.rows:
        values = measures.calibrated(study, row.name)
        if len(values.confidences) > 1:
            found.append((row, values))
    if not found:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = found[:MOST_CURVES]
    figure = Figure(figsize=(WIDE, 0.5 + 1.15 * len(found)))
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(found), 1, sharex=True, sharey=True, squeeze=False)
    edges = [step / 20 for step in range(21)]
    for axes, (row, values) in zip(grid[:, 0], found, strict=True):
        true = [p for p, t in zip(values.confidences, values.right, strict=True) if t]
        false = [p for p, t in zip(values.confidences, values.right, strict=True) if not t]
        axes.hist(true, edges, color=COLOURS[0], label="true claims", alpha=0.85)
        axes.hist(
            false, edges, histtype="step", color=COLOURS[1], linewidth=1.6, label="false claims"
        )
        axes.axvline(0.5, color=SOFT, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_title(_name(row.name, 60), loc="left", fontsize=9, color=INK)
        axes.set_xlim(0, 1)
        axes.grid(axis="y")
        _percents(axes.xaxis)
    grid[-1, 0].set_xlabel("P(claim), the strength of the root")
    grid[0, 0].legend(loc="lower right", bbox_to_anchor=(1.02, 0.98), ncol=2)
    figure.subplots_adjust(hspace=0.55)
    says = "; ".join(
        f"{_name(row.name)}: variance {_variance(values.confidences):.3f}" for row, values in found
    )
    return Plot("roots", "What the roots of the trees came to", says, figure)


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


def _categories(analysis: Analysis) -> Plot | None:
    study = analysis.study
    category = {item: study.category(item) for item in study.items}
    names = sorted({name or "" for name in category.values()})
    rows = [(n, row) for n, row in enumerate(study.rows) if analysis.counts[row.name].n]
    rows = rows[:MOST_CURVES]
    if not rows or not 2 <= len(names) <= MOST_CATEGORIES:
        return None
    figure, axes = _canvas(0.9 + len(names) * (0.14 + 0.12 * len(rows)))
    height = {name: -place * (len(rows) + 1.2) for place, name in enumerate(names)}
    for line, (n, row) in enumerate(rows):
        right = measures.scored(study.of(row.name))
        found = by_category((category[item], is_right) for item, is_right in right.items())
        _shares(axes, [(height[one.name] - line, one.proportion, n) for one in found])
        axes.plot([], [], _mark(n), color=_colour(n), label=_name(row.name))
    middle = [height[name] - (len(rows) - 1) / 2 for name in names]
    axes.set_yticks(middle, [_name(name, 28) for name in names])
    axes.set_ylim(min(height.values()) - len(rows), 1)
    axes.set_xlim(-0.01, 1.01)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    _percents(axes.xaxis)
    _below(axes)
    says = f"{len(names)} categories; the table has the figures"
    return Plot("categories", "Accuracy by category with 95% intervals", says, figure)


def files(made: Sequence[Plot]) -> Iterator[tuple[str, bytes]]:
    """The plots as files: a name, and what is in it."""
    for plot in made:
        yield f"{plot.key}.svg", plot.svg.encode()
        yield f"{plot.key}.png", plot.png
