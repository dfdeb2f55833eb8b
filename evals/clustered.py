"""Answers in clusters: questions that belong together, or one question asked several times.

The answers of a cluster tell less than as many independent ones. Intervals count fewer answers
(the design effect), and tests draw once for each cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from scipy.stats import norm, t

from dialectree.evals.bootstrap import LEVEL, Floats, floats


def shared(clusters: Sequence[Hashable] | None) -> bool:
    """Return whether any two answers are of one cluster."""
    return clusters is not None and len(set(clusters)) < len(clusters)


def sums(values: Sequence[float], clusters: Sequence[Hashable]) -> Floats:
    """Return the sum of each cluster's values, in the order in which the clusters first occur."""
    totals: dict[Hashable, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0.0) + value
    return floats([*totals.values()])


def design(
    values: Sequence[float], clusters: Sequence[Hashable] | None, level: float = LEVEL
) -> float:
    """Return by how much to divide n so that an interval for independent answers is wide enough.

    The design effect (Kish 1965): the variance of the mean by the clusters' sums, over that of as
    many independent answers; times (t / z)² for the number of clusters (Korn and Graubard 1998).
    At least 1. Where all values are alike each cluster counts as one answer. 1 without clusters.
    """
    if clusters is None or not shared(clusters):
        return 1.0
    n, count = len(values), len(set(clusters))
    deviations = floats(values) - np.mean(floats(values))
    plain = float((deviations**2).sum())
    if count == 1 or plain < 1e-12:
        return n / count
    spread = count / (count - 1) * float((sums(deviations.tolist(), clusters) ** 2).sum()) / plain
    few = float(t.isf((1 - level) / 2, count - 1) / norm.isf((1 - level) / 2))
    return min(float(n), max(1.0, spread * few**2))


def error(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the standard error of the mean by the clusters' sums; 0 below two clusters."""
    count = len(set(clusters))
    if count < 2:
        return 0.0
    deviations = floats(values) - np.mean(floats(values))
    squares = float((sums(deviations.tolist(), clusters) ** 2).sum())
    return float((count / (count - 1) * squares) ** 0.5 / len(values))
