"""Measure whether confidences match outcomes, and whether surer answers are more often right.

``confidences`` are probabilities, 0 to 1; ``right`` has the outcome of each. With the confidence of a
verdict goes whether the verdict is right, and with P(claim) whether the claim is true. The caller
leaves out answers without a confidence. The order of the answers does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from pandas import DataFrame
from scipy.stats import rankdata

from dialectree.evals.intervals import RESAMPLES, Clusters, Figure, Floats, bootstrap_interval, floats, shared

BINS = 10


def brier(
    confidences: Sequence[float],
    right: Sequence[bool],
    *,
    resamples: int = RESAMPLES,
    clusters: Clusters | None = None,
) -> Figure:
    """Return the mean of (confidence − outcome)², 0 to 1, lower is better (Brier 1950)."""
    sure, true = floats(confidences), floats(right)
    return bootstrap_interval(np.mean, [(sure - true) ** 2], resamples=resamples, clusters=clusters)


def ece(
    confidences: Sequence[float],
    right: Sequence[bool],
    *,
    adaptive: bool = False,
    bins: int = BINS,
    resamples: int = RESAMPLES,
    clusters: Clusters | None = None,
) -> Figure:
    """Return the expected calibration error: the mean of |confidence − share right| over bins.

    The error is 0 to 1, and bins count by their size. They have equal width (Guo and others 2017) or,
    if ``adaptive``, about equal size (Nixon and others 2019), with equal confidences in one bin. A
    finite number of answers alone raises the error above 0, and more bins raise it further.
    """
    measure = partial(_error, adaptive=adaptive, bins=bins)
    columns = floats(confidences), floats(right)
    return bootstrap_interval(measure, columns, resamples=resamples, clusters=clusters)


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> DataFrame:
    """Return the reliability curve: ``confidence``, ``right`` and ``n`` of each bin of equal width.

    Bins without answers are left out.
    """
    sure, true = floats(confidences), floats(right)
    order = np.argsort(sure, kind="stable")
    sure, true = sure[order], true[order]
    cuts = _cuts(sure, False, BINS)[1:] if len(sure) else []
    bins = zip(np.split(sure, cuts), np.split(true, cuts), strict=True)
    points = [
        (bin_confidences.mean(), came_true.sum(), len(bin_confidences))
        for bin_confidences, came_true in bins
        if len(bin_confidences)
    ]
    return DataFrame(points, columns=["confidence", "right", "n"])


def gap(sure: Floats, true: Floats) -> float:
    """Return the value of :func:`ece` for bins of equal width, without an interval."""
    return _error(sure, true, adaptive=False, bins=BINS)


def _error(sure: Floats, true: Floats, *, adaptive: bool, bins: int) -> float:
    order = np.argsort(sure, kind="stable")
    gaps = np.add.reduceat((sure - true)[order], _cuts(sure[order], adaptive, bins))
    return min(1.0, float(np.abs(gaps).sum()) / len(sure))


def _cuts(rising: Floats, adaptive: bool, bins: int) -> list[int]:
    """Return the start index of each bin among rising confidences, without empty bins."""
    if adaptive:
        edges = rising[[len(rising) * place // bins for place in range(bins)]]
        begins = np.searchsorted(rising, edges, side="left")
    else:
        begins = np.searchsorted(rising, np.arange(1, bins) / bins, side="right")
    return [place for place in np.unique([0, *begins]).tolist() if place < len(rising)]


def auc(
    scores: Sequence[float],
    true: Sequence[bool],
    *,
    resamples: int = RESAMPLES,
    clusters: Clusters | None = None,
) -> Figure:
    """Return the probability that a true case scores higher than a false one (Mann and Whitney).

    This is the area under the ROC curve: ties count half, and 0.5 is chance. True and false cases are
    resampled separately, unless cases share clusters: then whole clusters are resampled. The figure
    has no value if all cases are true or all are false.
    """
    sure, came_true = floats(scores), floats(true)
    high, low = sure[came_true == 1], sure[came_true == 0]
    if not len(high) or not len(low):
        return Figure(None, None, None, len(sure))
    if not shared(clusters):
        return bootstrap_interval(_auc, [high, low], together=False, resamples=resamples)

    def area(sure: Floats, came_true: Floats) -> float:
        high, low = sure[came_true == 1], sure[came_true == 0]
        return _auc(high, low) if len(high) and len(low) else 0.5

    return bootstrap_interval(area, [sure, came_true], resamples=resamples, clusters=clusters)


def _auc(high: Floats, low: Floats) -> float:
    ranks = rankdata(np.concatenate((high, low)))
    beaten = ranks[: len(high)].sum() - len(high) * (len(high) + 1) / 2
    return float(beaten / (len(high) * len(low)))


def risk_coverage(
    confidences: Sequence[float], right: Sequence[bool], question_count: int | None = None
) -> tuple[DataFrame, float | None]:
    """Return risk against coverage (El-Yaniv and Wiener 2010) and the area under the curve.

    Each point of the curve is for the answers with at least its ``confidence``. ``coverage`` is the
    share of these answers among the ``question_count`` questions, answered or withheld. ``risk`` is
    the share of wrong answers among these answers. The area is the mean risk over all numbers of
    answers given; for equally confident answers it takes the mean over their possible orders.
    """
    sure, came_true = floats(confidences), floats(right)
    points: list[tuple[float, float, float]] = []
    total, answered, wrong = 0.0, 0, 0.0
    for confidence in np.unique(sure)[::-1]:
        group = came_true[sure == confidence]
        errors = float(len(group) - group.sum())
        steps = np.arange(1, len(group) + 1)
        total += float(((wrong + errors * steps / len(group)) / (answered + steps)).sum())
        answered, wrong = answered + len(group), wrong + errors
        points.append((float(confidence), answered / (question_count or len(sure)), wrong / answered))
    curve = DataFrame(points, columns=["confidence", "coverage", "risk"])
    return curve, total / answered if answered else None


def risk_area(sure: Floats, true: Floats) -> float:
    """Return the area of :func:`risk_coverage`, fast enough for resampling.

    AURC (Geifman and El-Yaniv 2017), 0 to 1, lower is better: the mean, over all k, of the share of
    wrong answers among the k surest.
    """
    _, group, sizes = np.unique(-sure, return_inverse=True, return_counts=True)
    wrong = np.bincount(group, 1 - true)
    of, answer_counts = np.repeat(np.arange(len(sizes)), sizes), np.arange(1, len(sure) + 1)
    within = (answer_counts - (np.cumsum(sizes) - sizes)[of]) / sizes[of]
    return float(np.mean(((np.cumsum(wrong) - wrong)[of] + wrong[of] * within) / answer_counts))


def f1(predicted: Sequence[bool], true: Sequence[bool]) -> float | None:
    """Return F1, 2 hits / (predicted true + is true), 0 to 1; None if both have no true entry."""
    either = sum(predicted) + sum(true)
    hits = sum(p and t for p, t in zip(predicted, true, strict=True))
    return 2 * hits / either if either else None
