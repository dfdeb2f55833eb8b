"""Whether more confident answers are more often right, whatever the numbers themselves say."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from dialectree.evals.bootstrap import RESAMPLES, Figure, Floats, resampled
from dialectree.evals.calibration import columns
from dialectree.evals.clustered import shared


class Point(NamedTuple):
    """The outcome if only answers of at least this confidence count."""

    confidence: float
    coverage: float
    """The share of questions that are still answered, above 0 to 1."""
    risk: float
    """The share of wrong ones among them."""


class RiskCoverage(NamedTuple):
    """The curve from the most confident answers to all, and the mean risk along it."""

    points: list[Point]
    area: float | None
    """0 to 1, less is better; None without an answer."""


def auc(
    scores: Sequence[float],
    true: Sequence[bool],
    *,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return how probably a true one has a higher score than a false one (Mann and Whitney).

    The area under the ROC curve, ties half; 0.5 is chance. True and false ones are resampled apart,
    clusters whole. None where all are true or all are false.
    """
    sure, came_true = columns(scores, true)
    high, low = sure[came_true == 1], sure[came_true == 0]
    if not len(high) or not len(low):
        return Figure(None, None, None, len(sure))
    if not shared(clusters):
        return resampled(_auc, [high, low], together=False, resamples=resamples)

    def area(sure: Floats, came_true: Floats) -> float:
        high, low = sure[came_true == 1], sure[came_true == 0]
        return _auc(high, low) if len(high) and len(low) else 0.5

    return resampled(area, [sure, came_true], resamples=resamples, clusters=clusters)


def _auc(high: Floats, low: Floats) -> float:
    ranks = rankdata(np.concatenate((high, low)))
    beaten = ranks[: len(high)].sum() - len(high) * (len(high) + 1) / 2
    return float(beaten / (len(high) * len(low)))


def risk_coverage(
    confidences: Sequence[float], right: Sequence[bool], asked: int | None = None
) -> RiskCoverage:
    """Return risk against coverage (El-Yaniv and Wiener 2010), a point for each confidence.

    Coverage is of the questions ``asked``: the answers, and those that were withheld. The area is
    the mean risk over all numbers of answers given; among equally confident ones it takes the mean
    over their possible orders.
    """
    sure, came_true = columns(confidences, right)
    points: list[Point] = []
    total, answered, wrong = 0.0, 0, 0.0
    for confidence in np.unique(sure)[::-1]:
        group = came_true[sure == confidence]
        errors = float(len(group) - group.sum())
        steps = np.arange(1, len(group) + 1)
        total += float(((wrong + errors * steps / len(group)) / (answered + steps)).sum())
        answered, wrong = answered + len(group), wrong + errors
        points.append(Point(float(confidence), answered / (asked or len(sure)), wrong / answered))
    return RiskCoverage(points, total / answered if answered else None)


def f1(predicted: Sequence[bool], true: Sequence[bool]) -> float | None:
    """Return 2 hits / (predicted true + is true), 0 to 1; None where neither has a true one."""
    either = sum(predicted) + sum(true)
    hits = sum(p and t for p, t in zip(predicted, true, strict=True))
    return 2 * hits / either if either else None
