"""The plots of a report: accuracy, summaries, cost, calibration, risk, trees and categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialectree.evals.calibration import reliability
from dialectree.evals.drawing import (
    COLOURS,
    INK,
    PAPER,
    SOFT,
    STYLE,
    WIDE,
    Plot,
    canvas,
    colour_of,
    draw_shares,
    in_percents,
    legend_below,
    mark_of,
    short_name,
)
from dialectree.evals.proportions import by_category
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.study import RUBRIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CURVES = 6
MOST_POINTS = 200
"""Of a curve, so that a page does not grow with the questions."""
MOST_CATEGORIES = 60


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


def _accuracy(analysis: Analysis) -> Plot | None:
    rows = [row for row in analysis.study.rows if analysis.counts[row.name].parsed.n]
    if not rows:
        return None
    figure, axes = canvas(0.75 + 0.36 * len(rows))
    shares = [analysis.counts[row.name].parsed for row in rows]
    draw_shares(axes, [(-n, share, n) for n, share in enumerate(shares)])
    axes.set_yticks([-n for n in range(len(rows))], [short_name(row.name) for row in rows])
    axes.set_ylim(-len(rows) + 0.5, 0.5)
    axes.set_xlim(0, 1)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    in_percents(axes.xaxis)
    for n, share in enumerate(shares):
        text = f"{100 * (share.share or 0):.1f}%"
        axes.annotate(text, (1.0, -n), (6, 0), textcoords="offset points", va="center", color=INK)
    says = "; ".join(
        f"{short_name(row.name)} {100 * (share.share or 0):.1f}% of {share.n}"
        for row, share in zip(rows, shares, strict=True)
    )
    says = " ".join([f"{says}.", *analysis.left_out]) if analysis.left_out else says
    unparsed = sum(analysis.counts[row.name].unparsed for row in rows)
    left_out = f", {unparsed} unparsed left out" if unparsed else ""
    return Plot("accuracy", f"Accuracy with 95% intervals{left_out}", says, figure)


def _summaries(analysis: Analysis) -> Plot | None:
    study = analysis.study
    marks = {row.name: measures.rubric(study.of(row.name)) for row in study.rows}
    rows = [row for row in study.rows if any(m.values for m in marks[row.name].values())]
    if not rows:
        return None
    keys = ("overall", *RUBRIC)
    figure, axes = canvas(0.9 + len(keys) * (0.2 + 0.2 * len(rows)))
    ticks: list[float] = []
    for k, key in enumerate(keys):
        base = -k * (len(rows) + 1.0)
        ticks.append(base - (len(rows) - 1) / 2)
        for n, row in enumerate(rows):
            mean = marks[row.name][key].mean
            if mean.value is None:
                continue
            low, high = (mean.value if end is None else end for end in (mean.low, mean.high))
            axes.plot([low, high], [base - n] * 2, color=colour_of(n), linewidth=1.6)
            axes.plot(
                mean.value,
                base - n,
                mark_of(n),
                color=colour_of(n),
                markersize=6,
                label=short_name(row.name) if not k else None,
                clip_on=False,
            )
    axes.set_yticks(ticks, keys)
    axes.set_xlim(0, 101)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    legend_below(axes)
    says = "; ".join(
        f"{short_name(row.name)} {marks[row.name]['overall'].mean.value or 0:.1f}" for row in rows
    )
    return Plot("summaries", "Summaries, 0 to 100, with 95% intervals", f"Overall: {says}", figure)


def _front(analysis: Analysis) -> Plot | None:
    if len(analysis.spent) < 2:
        return None
    figure, axes = canvas(3.2)
    place = {row.name: n for n, row in enumerate(analysis.study.rows)}
    best = [one for one in analysis.spent if one.beaten_by is None]
    label: str | None = "nothing cheaper is as good"
    for kind in dict.fromkeys(measures.handed(one.row) for one in best):
        front = [one for one in best if measures.handed(one.row) == kind]
        if len(front) < 2:
            continue
        axes.step(
            [one.price for one in front],
            [one.right.share or 0 for one in front],
            where="post",
            color=SOFT,
            linewidth=1,
            linestyle=(0, (4, 3)),
            label=label,
        )
        label = None
    for one in analysis.spent:
        n, x = place[one.row.name], one.price
        low, high = one.right.low or 0.0, one.right.high or 0.0
        axes.plot([x, x], [low, high], color=colour_of(n), linewidth=1, alpha=0.65)
        axes.plot(
            x,
            one.right.share or 0.0,
            mark_of(n),
            color=colour_of(n),
            markersize=7,
            markerfacecolor=PAPER if one.baseline else colour_of(n),
            markeredgewidth=1.6,
            label=short_name(one.row.name) + (" (baseline)" if one.baseline else ""),
            linestyle="none",
            clip_on=False,
        )
    axes.set_xscale("log")
    _thousands(axes)
    money = all(one.price == one.cost.cost for one in analysis.spent)
    axes.set_xlabel("cost of a question" if money else "tokens a question")
    axes.set_ylim(0, 1)
    in_percents(axes.yaxis)
    axes.grid()
    legend_below(axes)
    says = "On the front: " + ", ".join(short_name(one.row.name) for one in best)
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
    figure, axes = canvas(4.2)
    axes.plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle=(0, (4, 3)), label="as it says")
    for n, row, bins in curves[:MOST_CURVES]:
        sure = [one.confidence for one in bins]
        right = [one.right.share or 0.0 for one in bins]
        axes.plot(
            sure,
            right,
            mark_of(n),
            linestyle="-",
            color=colour_of(n),
            linewidth=1.4,
            markersize=3,
            label=short_name(row.name),
        )
        for one in bins:
            size = 2.5 + 6 * (one.right.n / max(b.right.n for b in bins)) ** 0.5
            axes.plot(
                one.confidence,
                one.right.share or 0.0,
                mark_of(n),
                color=colour_of(n),
                markersize=size,
                clip_on=False,
            )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    in_percents(axes.xaxis)
    in_percents(axes.yaxis)
    axes.set_xlabel("P(claim)" if study.task == "verify" else "confidence")
    axes.set_ylabel("true" if study.task == "verify" else "right")
    axes.grid()
    legend_below(axes)
    says = "The closer to the dashed line, the more a confidence means what it says"
    if left_out > 0:
        says += f"; the first {MOST_CURVES} of {len(curves)} rows"
    return Plot("reliability", "Confidence and how often it came true", says, figure)


def _risk(analysis: Analysis) -> Plot | None:
    curves = [
        (n, row, curve.points)
        for n, row in enumerate(analysis.study.rows)
        if len((curve := measures.surest(analysis.study, row.name).curve).points) > 1
    ]
    if not curves:
        return None
    figure, axes = canvas(3.4)
    for n, row, points in curves[:MOST_CURVES]:
        few = points[: -1 : max(1, len(points) // MOST_POINTS)] + points[-1:]
        axes.plot(
            [point.coverage for point in few],
            [point.risk for point in few],
            mark_of(n),
            linestyle="-",
            color=colour_of(n),
            linewidth=1.4,
            markersize=3,
            markevery=max(1, len(few) // 10),
            label=short_name(row.name),
            clip_on=False,
        )
    axes.set_xlim(0, 1.02)
    axes.set_ylim(-0.02, 1.02)
    in_percents(axes.xaxis)
    in_percents(axes.yaxis)
    axes.set_xlabel("questions answered, the surest first")
    axes.set_ylabel("wrong among them")
    axes.grid()
    legend_below(axes)
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
        axes.set_title(short_name(row.name, 60), loc="left", fontsize=9, color=INK)
        axes.set_xlim(0, 1)
        axes.grid(axis="y")
        in_percents(axes.xaxis)
    grid[-1, 0].set_xlabel("P(claim), the strength of the root")
    grid[0, 0].legend(loc="lower right", bbox_to_anchor=(1.02, 0.98), ncol=2)
    figure.subplots_adjust(hspace=0.55)
    says = "; ".join(
        f"{short_name(row.name)}: variance {_variance(values.confidences):.3f}"
        for row, values in found
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
    figure, axes = canvas(0.9 + len(names) * (0.14 + 0.12 * len(rows)))
    height = {name: -place * (len(rows) + 1.2) for place, name in enumerate(names)}
    for line, (n, row) in enumerate(rows):
        right = measures.scored(study.of(row.name))
        outcomes = [(category[item], is_right) for item, is_right in right.items()]
        found = by_category(outcomes, clusters=study.groups(right))
        draw_shares(axes, [(height[one.name] - line, one.proportion, n) for one in found])
        axes.plot([], [], mark_of(n), color=colour_of(n), label=short_name(row.name))
    middle = [height[name] - (len(rows) - 1) / 2 for name in names]
    axes.set_yticks(middle, [short_name(name, 28) for name in names])
    axes.set_ylim(min(height.values()) - len(rows), 1)
    axes.set_xlim(-0.01, 1.01)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    in_percents(axes.xaxis)
    legend_below(axes)
    says = f"{len(names)} categories; the table has the figures"
    return Plot("categories", "Accuracy by category with 95% intervals", says, figure)
