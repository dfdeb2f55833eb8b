"""Compute figures of answers with intervals: shares, resampled measures, agreement of raters.

Answers come in clusters if questions belong together, or if a question is asked several times. The
answers of a cluster say less than independent ones. So intervals by a formula count fewer answers
(the design effect), and resampling draws whole clusters. The draws come from a seed, through
:mod:`dialectree.system.chance`, so the same results always give the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from dialectree.system import chance

Floats = NDArray[np.float64]
Clusters = Sequence[Hashable]
"""The cluster of each answer."""

LEVEL = 0.95
RESAMPLES = 2000


class Figure(NamedTuple):
    """A figure over ``n`` questions and its interval; None if undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Proportion(NamedTuple):
    """A share and its interval, all 0 to 1; None without questions."""

    right: int
    n: int
    share: float | None
    low: float | None
    high: float | None


def floats(values: Sequence[float] | Sequence[bool]) -> Floats:
    """Return numbers as an array."""
    return np.asarray(values, dtype=np.float64)


# Clusters


def shared(clusters: Clusters | None) -> bool:
    """Return whether any two answers share a cluster."""
    return clusters is not None and len(set(clusters)) < len(clusters)


def sums(values: Sequence[float], clusters: Clusters) -> Floats:
    """Return the sum of each cluster's values, in the order in which the clusters first occur."""
    totals: dict[Hashable, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0.0) + value
    return floats([*totals.values()])


def design(values: Sequence[float], clusters: Clusters | None, level: float = LEVEL) -> float:
    """Return the divisor of n that makes an interval for independent answers wide enough.

    This is the design effect (Kish 1965): the variance of the mean by the clusters' sums, divided by
    the variance for as many independent answers, times (t / z)² for the number of clusters (Korn and
    Graubard 1998). The divisor is at least 1, and 1 without clusters. If all values are equal, each
    cluster counts as one answer.
    """
    if clusters is None or not shared(clusters):
        return 1.0
    n, count = len(values), len(set(clusters))
    plain = float(((floats(values) - np.mean(floats(values))) ** 2).sum())
    if count == 1 or plain < 1e-12:
        return n / count
    spread = (error(values, clusters) * n) ** 2 / plain
    few = float(stats.t.isf((1 - level) / 2, count - 1) / stats.norm.isf((1 - level) / 2))
    return min(float(n), max(1.0, spread * few**2))


def error(values: Sequence[float], clusters: Clusters) -> float:
    """Return the standard error of the mean by the clusters' sums; 0 below two clusters."""
    count = len(set(clusters))
    if count < 2:
        return 0.0
    deviations = floats(values) - np.mean(floats(values))
    squares = float((sums(deviations.tolist(), clusters) ** 2).sum())
    return float((count / (count - 1) * squares) ** 0.5 / len(values))


# Figures


def wilson(right: int, n: int, level: float = LEVEL, design: float = 1.0) -> Proportion:
    """Return a share with Wilson's score interval (Wilson 1927), without continuity correction.

    For answers in clusters n is divided by ``design``, see :func:`design`.
    """
    if n == 0:
        return Proportion(0, 0, None, None, None)
    bounds: Any = proportion_confint(right / design, n / design, 1 - level, method="wilson")
    low = 0.0 if right == 0 else max(0.0, float(bounds[0]))
    high = 1.0 if right == n else min(1.0, float(bounds[1]))
    return Proportion(right, n, right / n, low, high)


def share_of(right: Sequence[bool], clusters: Clusters | None = None) -> Proportion:
    """Return the share of right answers; ``clusters`` widen its interval."""
    return wilson(sum(right), len(right), design=design(right, clusters))


def bootstrap_interval(
    measure: Callable[..., float],
    columns: Sequence[Floats],
    *,
    together: bool = True,
    seed: int = 0,
    resamples: int = RESAMPLES,
    clusters: Clusters | None = None,
) -> Figure:
    """Return ``measure(*columns)`` with its percentile interval (Efron and Tibshirani 1993).

    With ``together``, each draw takes the same questions from all columns; otherwise each column is
    resampled by itself. With ``clusters``, whole clusters are drawn. Low and high are None below two
    rows, and if all draws give the same figure: equal rows do not show the spread of other rows.
    Noise from resampling can only raise some figures, such as ECE. So the interval is widened where
    it would not contain the figure.
    """
    n = len(columns[0]) if together else sum(map(len, columns))
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(measure(*columns))
    if clusters is not None and len(set(clusters)) < n:
        columns, measure = _by_cluster(columns, measure, clusters)
    if min(map(len, columns)) < 2:
        return Figure(value, None, None, n)
    bootstrap_result = stats.bootstrap(
        columns,
        measure,
        n_resamples=resamples,
        vectorized=False,
        paired=together,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(chance.seed(seed, "bootstrap", n)),
    )
    low, high = map(float, bootstrap_result.confidence_interval)
    if math.isclose(low, high, abs_tol=1e-9):
        return Figure(value, None, None, n)
    return Figure(value, min(value, low), max(value, high), n)


def _by_cluster(
    columns: Sequence[Floats], measure: Callable[..., float], clusters: Clusters
) -> tuple[list[Floats], Callable[..., float]]:
    """Return a column of cluster numbers to draw from, and the measure over drawn clusters' members."""
    places: dict[Hashable, list[int]] = {}
    for place, cluster in enumerate(clusters):
        places.setdefault(cluster, []).append(place)
    members = [np.asarray(cluster_places) for cluster_places in places.values()]

    def of_members(cluster_numbers: Floats) -> float:
        rows = np.concatenate([members[int(number)] for number in cluster_numbers])
        return float(measure(*(column[rows] for column in columns)))

    return [np.arange(len(members), dtype=np.float64)], of_members


def kappa(first: Sequence[float], second: Sequence[float], scale: Sequence[float] | None = None) -> Figure:
    """Return Cohen's kappa of two raters (1960) with its interval (Fleiss, Cohen, Everitt 1969).

    1 is full agreement, 0 agreement by chance. With a ``scale`` of equal steps a disagreement has the
    weight of its squared distance (Cohen 1968). Value, low and high are None if a rater gave only one
    mark. Low and high are also None if the standard error is 0, as in full agreement: other answers
    may vary.
    Raises ValueError for sequences of different length, or a mark that is not on the scale.
    """
    n = len(first)
    pairs = list(zip(first, second, strict=True))
    marks = sorted({mark for pair in pairs for mark in pair}) if scale is None else [*scale]
    table = np.zeros((len(marks), len(marks)))
    for first_mark, second_mark in pairs:
        table[marks.index(first_mark), marks.index(second_mark)] += 1
    if min(len(set(first)), len(set(second))) < 2:
        return Figure(None, None, None, n)
    with np.errstate(all="ignore"):  # the test of kappa = 0 divides 0 by 0 where nothing varies
        result: Any = cohens_kappa(table, wt=None if scale is None else "quadratic")
    if not result.std_kappa > 1e-6:
        return Figure(float(result.kappa), None, None, n)
    low, high = max(-1.0, result.kappa_low), min(1.0, result.kappa_upp)
    return Figure(float(result.kappa), float(low), float(high), n)
