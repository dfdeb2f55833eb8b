"""The plots of a report: accuracy, summaries, cost, calibration and risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dialectree.evals.calibration import reliability
from dialectree.evals.plot_style import (
    DASHED,
    INK,
    PAPER,
    STYLE,
    Plot,
    canvas,
    in_percents,
    legend_below,
    look,
    short_name,
)
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.formatting import shown
from dialectree.evals.reporting.study import RUBRIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CURVES = 6
MOST_POINTS = 200
"""Of a curve, so that a page does not grow with the questions."""


def plots(analysis: Analysis) -> list[Plot]:
    """Return every plot that the results have something for."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        made = [
            _accuracy(analysis),
            _summaries(analysis),
            _front(analysis),
            _reliability(analysis),
            _risk(analysis),
        ]
    return [plot for plot in made if plot is not None]


def _accuracy(analysis: Analysis) -> Plot | None:
    shares = {name: counts.share for name, counts in analysis.counts.items() if counts.n}
    if not shares:
        return None
    figure, axes = canvas(0.75 + 0.36 * len(shares))
    for n, (right, of, value, low, high) in enumerate(shares.values()):
        _interval(axes, -n, n, value or 0.0, low, high)
        text, place = f"{100 * right / of:.1f}%", (1.0, -n)
        axes.annotate(text, place, (6, 0), textcoords="offset points", va="center", color=INK)
    axes.set_ylim(-len(shares) + 0.5, 0.5)
    _lines(axes, 1, [-n for n in range(len(shares))], [short_name(name) for name in shares])
    in_percents(axes.xaxis)
    texts = [f"{short_name(name)} {one.right} of {one.n}" for name, one in shares.items()]
    caption = " ".join([f"Right: {'; '.join(texts)}.", *analysis.unread])
    unparsed = any(counts.unparsed for counts in analysis.counts.values())
    title = f"Accuracy with 95% intervals{', unparsed left out' if unparsed else ''}"
    return Plot("accuracy", title, caption, figure)


def _summaries(analysis: Analysis) -> Plot | None:
    study = analysis.study
    every = {row.name: measures.rubric(study.of(row.name)) for row in study.rows}
    rows = {name: marks for name, marks in every.items() if any(m.values for m in marks.values())}
    if not rows:
        return None
    keys = ("overall", *RUBRIC)
    figure, axes = canvas(0.9 + len(keys) * (0.2 + 0.2 * len(rows)))
    apart = len(rows) + 1.0
    for n, (name, marks) in enumerate(rows.items()):
        for k, key in enumerate(keys):
            value, low, high, _ = marks[key].mean
            if value is not None:
                _interval(axes, -k * apart - n, n, value, low, high)
        axes.plot([], [], **look(n), linestyle="none", label=short_name(name))
    _lines(axes, 101, [-k * apart - (len(rows) - 1) / 2 for k in range(len(keys))], keys)
    legend_below(axes)
    means = [f"{short_name(n)} {shown('marks', m['overall'].mean)[0]}" for n, m in rows.items()]
    title = "Summaries, 0 to 100, with 95% intervals"
    return Plot("summaries", title, f"Overall: {'; '.join(means)}", figure)


def _interval(
    axes: Axes, height: float, place: int, value: float, low: float | None, high: float | None
) -> None:
    """Draw a figure as a mark with its interval, where it has one."""
    ends = [value if low is None else low, value if high is None else high]
    axes.plot(ends, [height] * 2, color=look(place)["color"], linewidth=1.6)
    axes.plot(value, height, **look(place), markersize=6, clip_on=False)


def _lines(axes: Axes, right: float, heights: Sequence[float], names: Sequence[str]) -> None:
    """Name the lines of a plot of intervals that goes from 0 to ``right``."""
    axes.set_yticks(heights, names)
    axes.set_xlim(0, right)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def _front(analysis: Analysis) -> Plot | None:
    if len(analysis.spent) < 2:
        return None
    figure, axes = canvas(3.2)
    place = {row.name: n for n, row in enumerate(analysis.study.rows)}
    best = [one for one in analysis.spent if one.beaten_by is None]
    for kind in dict.fromkeys(measures.handed(one.row) for one in best):
        front = [one for one in best if measures.handed(one.row) == kind]
        if len(front) > 1:
            prices, shares = [one.price for one in front], [one.right.share or 0 for one in front]
            label = "nothing cheaper is as good"
            axes.step(prices, shares, where="post", **DASHED, label=label)
    for one in analysis.spent:
        style, low, high = look(place[one.row.name]), one.right.low or 0.0, one.right.high or 0.0
        axes.plot([one.price] * 2, [low, high], color=style["color"], linewidth=1, alpha=0.65)
        axes.plot(
            one.price,
            one.right.share or 0.0,
            **style,
            markersize=7,
            markerfacecolor=PAPER if one.baseline else style["color"],
            label=short_name(one.row.name),
            linestyle="none",
            clip_on=False,
        )
    axes.set_xscale("log")
    _plain_numbers(axes)
    axes.set_xlabel("cost of a question" if analysis.in_money else "tokens a question")
    axes.set_ylim(0, 1)
    in_percents(axes.yaxis)
    axes.grid()
    legend_below(axes)
    caption = "On the front: " + ", ".join(short_name(one.row.name) for one in best)
    return Plot("front", "Cost and accuracy (hollow: baselines)", caption, figure)


def _plain_numbers(axes: Axes) -> None:
    """Write the numbers of a logarithmic axis plainly, thousands as ``2k``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda v, _: f"{v / 1000:g}k" if v >= 1000 else f"{v:g}")
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.12)


class _Curve(NamedTuple):
    """The points of a row's curve, and how large to draw each mark."""

    place: int
    row: str
    points: Sequence[tuple[float, float]]
    sizes: Sequence[float]


def _reliability(analysis: Analysis) -> Plot | None:
    study = analysis.study
    curves: list[_Curve] = []
    for n, row in enumerate(study.rows):
        measured = measures.calibrated(study, row.name)
        if len(measured.answers) > 1:
            bins = reliability(measured.confidences, measured.true)
            most = max(one.right.n for one in bins)
            points = [(one.confidence, one.right.share or 0.0) for one in bins]
            sizes = [2.5 + 6 * (one.right.n / most) ** 0.5 for one in bins]
            curves.append(_Curve(n, row.name, points, sizes))
    claims = study.task == "verify"
    axes_names = ("P(claim)", "true") if claims else ("confidence", "right")
    title = "Confidence and how often it came true (dashed: as it says)"
    return _curves("reliability", title, curves, *axes_names, diagonal=True)


def _risk(analysis: Analysis) -> Plot | None:
    study = analysis.study
    curves: list[_Curve] = []
    for n, row in enumerate(study.rows):
        points = measures.surest(study, row.name).curve.points
        if len(points) > 1:
            few = points[: -1 : max(1, len(points) // MOST_POINTS)] + points[-1:]
            every = max(1, len(few) // 10)
            sizes = [3 * (k % every == 0) for k in range(len(few))]
            curves.append(_Curve(n, row.name, [(one.coverage, one.risk) for one in few], sizes))
    names = "questions answered, the surest first", "wrong among them"
    return _curves("risk", "Errors among the surest answers", curves, *names)


def _curves(
    key: str, title: str, curves: Sequence[_Curve], across: str, up: str, diagonal: bool = False
) -> Plot | None:
    """Draw shares against shares, a curve for each row."""
    if not curves:
        return None
    figure, axes = canvas(4.2 if diagonal else 3.4)
    if diagonal:
        axes.plot([0, 1], [0, 1], **DASHED)
    for n, row, points, sizes in curves[:MOST_CURVES]:
        axes.plot(*zip(*points, strict=True), color=look(n)["color"], linewidth=1.4, clip_on=False)
        for (x, y), size in zip(points, sizes, strict=True):
            if size:
                axes.plot(x, y, **look(n), markersize=size, clip_on=False)
        axes.plot([], [], **look(n), linewidth=1.4, markersize=3, label=short_name(row))
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=across, ylabel=up)
    in_percents(axes.xaxis)
    in_percents(axes.yaxis)
    axes.grid()
    legend_below(axes)
    shown = f"the first {MOST_CURVES} of {len(curves)} rows"
    caption = f"{up} by {across}, {shown if len(curves) > MOST_CURVES else 'every row'}"
    return Plot(key, title, caption, figure)
