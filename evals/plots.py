"""The plots of a report: accuracy, summaries, cost, calibration and risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialectree.evals.calibration import reliability
from dialectree.evals.plot_style import (
    DASHED,
    INK,
    PAPER,
    STYLE,
    Plot,
    canvas,
    draw_interval,
    in_percents,
    legend_below,
    look,
    short_name,
)
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
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
    shares = [
        (row, counts.parsed, counts.parsed.share)
        for row in analysis.study.rows
        if (counts := analysis.counts[row.name]).parsed.share is not None
    ]
    rows = [(row, share, value) for row, share, value in shares if value is not None]
    if not rows:
        return None
    figure, axes = canvas(0.75 + 0.36 * len(rows))
    for n, (_, share, value) in enumerate(rows):
        draw_interval(axes, -n, value, (share.low, share.high), n)
        text, place = f"{100 * value:.1f}%", (1.0, -n)
        axes.annotate(text, place, (6, 0), textcoords="offset points", va="center", color=INK)
    axes.set_yticks([-n for n in range(len(rows))], [short_name(row.name) for row, _, _ in rows])
    axes.set_ylim(-len(rows) + 0.5, 0.5)
    axes.set_xlim(0, 1)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    in_percents(axes.xaxis)
    texts = (f"{short_name(row.name)} {100 * v:.1f}% of {share.n}" for row, share, v in rows)
    caption = " ".join([f"{'; '.join(texts)}.", *analysis.left_out])
    unparsed = sum(analysis.counts[row.name].unparsed for row, _, _ in rows)
    left_out = f", {unparsed} unparsed left out" if unparsed else ""
    return Plot("accuracy", f"Accuracy with 95% intervals{left_out}", caption, figure)


def _summaries(analysis: Analysis) -> Plot | None:
    study = analysis.study
    every = [(row, measures.rubric(study.of(row.name))) for row in study.rows]
    rows = [(row, marks) for row, marks in every if any(one.values for one in marks.values())]
    if not rows:
        return None
    keys = ("overall", *RUBRIC)
    figure, axes = canvas(0.9 + len(keys) * (0.2 + 0.2 * len(rows)))
    height = len(rows) + 1.0
    for k, key in enumerate(keys):
        for n, (_, marks) in enumerate(rows):
            value, low, high, _ = marks[key].mean
            if value is not None:
                draw_interval(axes, -k * height - n, value, (low, high), n)
    for n, (row, _) in enumerate(rows):
        axes.plot([], [], **look(n), linestyle="none", label=short_name(row.name))
    axes.set_yticks([-k * height - (len(rows) - 1) / 2 for k in range(len(keys))], keys)
    axes.set_xlim(0, 101)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    legend_below(axes)
    means = (f"{short_name(row.name)} {m['overall'].mean.value or 0:.1f}" for row, m in rows)
    title = "Summaries, 0 to 100, with 95% intervals"
    return Plot("summaries", title, f"Overall: {'; '.join(means)}", figure)


def _front(analysis: Analysis) -> Plot | None:
    if len(analysis.spent) < 2:
        return None
    figure, axes = canvas(3.2)
    place = {row.name: n for n, row in enumerate(analysis.study.rows)}
    best = [one for one in analysis.spent if one.beaten_by is None]
    label: str | None = "nothing cheaper is as good"
    for kind in dict.fromkeys(measures.handed(one.row) for one in best):
        front = [one for one in best if measures.handed(one.row) == kind]
        if len(front) > 1:
            prices, shares = [one.price for one in front], [one.right.share or 0 for one in front]
            axes.step(prices, shares, where="post", **DASHED, label=label)
            label = None
    for one in analysis.spent:
        style, low, high = look(place[one.row.name]), one.right.low or 0.0, one.right.high or 0.0
        axes.plot([one.price] * 2, [low, high], color=style["color"], linewidth=1, alpha=0.65)
        axes.plot(
            one.price,
            one.right.share or 0.0,
            **style,
            markersize=7,
            markerfacecolor=PAPER if one.baseline else style["color"],
            markeredgewidth=1.6,
            label=short_name(one.row.name) + (" (baseline)" if one.baseline else ""),
            linestyle="none",
            clip_on=False,
        )
    axes.set_xscale("log")
    _in_thousands(axes)
    axes.set_xlabel("cost of a question" if analysis.in_money else "tokens a question")
    axes.set_ylim(0, 1)
    in_percents(axes.yaxis)
    axes.grid()
    legend_below(axes)
    caption = "On the front: " + ", ".join(short_name(one.row.name) for one in best)
    return Plot("front", "Cost and accuracy (hollow: baselines)", caption, figure)


def _in_thousands(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda v, _: f"{v / 1000:g}k" if v >= 1000 else f"{v:g}")
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.12)


def _unit_square(axes: Axes, across: str, up: str) -> None:
    """Finish a plot of shares against shares."""
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    in_percents(axes.xaxis)
    in_percents(axes.yaxis)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid()
    legend_below(axes)


def _first_of(number: int) -> str:
    """Say that curves are left out, where some are."""
    return f"; the first {MOST_CURVES} of {number} rows" if number > MOST_CURVES else ""


def _reliability(analysis: Analysis) -> Plot | None:
    study = analysis.study
    every = [(n, row, measures.calibrated(study, row.name)) for n, row in enumerate(study.rows)]
    curves = [
        (n, row, reliability(measured.confidences, measured.true))
        for n, row, measured in every
        if len(measured.answers) > 1
    ]
    if not curves:
        return None
    figure, axes = canvas(4.2)
    axes.plot([0, 1], [0, 1], **DASHED, label="as it says")
    for n, row, bins in curves[:MOST_CURVES]:
        points = [(one.confidence, one.right.share or 0.0) for one in bins]
        sures, rights = zip(*points, strict=True)
        name = short_name(row.name)
        axes.plot(sures, rights, **look(n), linewidth=1.4, markersize=3, label=name)
        most = max(one.right.n for one in bins)
        for (sure, right), one in zip(points, bins, strict=True):
            size = 2.5 + 6 * (one.right.n / most) ** 0.5
            axes.plot(sure, right, **look(n), markersize=size, clip_on=False)
    claims = study.task == "verify"
    _unit_square(axes, "P(claim)" if claims else "confidence", "true" if claims else "right")
    caption = "The closer to the dashed line, the more a confidence means what it says"
    title = "Confidence and how often it came true"
    return Plot("reliability", title, f"{caption}{_first_of(len(curves))}", figure)


def _risk(analysis: Analysis) -> Plot | None:
    study = analysis.study
    every = [(n, row, measures.surest(study, row.name)) for n, row in enumerate(study.rows)]
    curves = [(n, row, one.curve.points) for n, row, one in every if len(one.curve.points) > 1]
    if not curves:
        return None
    figure, axes = canvas(3.4)
    for n, row, points in curves[:MOST_CURVES]:
        few = points[: -1 : max(1, len(points) // MOST_POINTS)] + points[-1:]
        axes.plot(
            [point.coverage for point in few],
            [point.risk for point in few],
            **look(n),
            linewidth=1.4,
            markersize=3,
            markevery=max(1, len(few) // 10),
            label=short_name(row.name),
            clip_on=False,
        )
    _unit_square(axes, "questions answered, the surest first", "wrong among them")
    axes.set_xlim(0, 1.02)
    caption = "A confidence that means something has few errors on the left"
    title = "Errors among the surest answers"
    return Plot("risk", title, f"{caption}{_first_of(len(curves))}", figure)
