"""Intervals by resampling the questions, for figures that no formula serves.

The draws come from a seed by way of :mod:`dialectree.chance`, so the same results give the same
interval on any day.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dialectree import chance

Floats = NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 2000


class Figure(NamedTuple):
    """A figure over ``n`` questions and its interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def floats(values: Sequence[float] | Sequence[bool]) -> Floats:
    """Return numbers as an array; ValueError for one that is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a figure is not finite")
    return array


def resampled(
    measure: Callable[..., float],
    columns: Sequence[Floats],
    *,
    together: bool = True,
    seed: int = 0,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return ``measure(*columns)`` with its percentile interval.

    See Efron and Tibshirani (1993), chapter 13. ``together`` resamples questions across the
    columns; otherwise each column is resampled by itself. With ``clusters``, whole clusters are
    drawn. There is no interval below two rows, nor where every draw gives the same figure: rows
    that are all alike do not say how far others may lie. The interval always contains the figure:
    resampling adds noise of its own to figures that noise can only raise, such as ECE.
    """
    n = len(columns[0]) if together else sum(map(len, columns))
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(measure(*columns))
    if clusters is not None and len(set(clusters)) < n:
        columns, measure = _by_cluster(columns, measure, clusters)
    if min(map(len, columns)) < 2:
        return Figure(value, None, None, n)
    drawn = stats.bootstrap(
        columns,
        measure,
        n_resamples=resamples,
        vectorized=False,
        paired=together,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(chance.seed(seed, "bootstrap", n)),
    )
    low, high = map(float, drawn.confidence_interval)
    if math.isclose(low, high, abs_tol=1e-9):
        return Figure(value, None, None, n)
    return Figure(value, min(value, low), max(value, high), n)


def _by_cluster(
    columns: Sequence[Floats], measure: Callable[..., float], clusters: Sequence[Hashable]
) -> tuple[list[Floats], Callable[..., float]]:
    """Return the clusters' numbers as the rows to draw, and the measure over their members."""
    places: dict[Hashable, list[int]] = {}
    for place, cluster in enumerate(clusters):
        places.setdefault(cluster, []).append(place)
    members = [np.asarray(own) for own in places.values()]

    def of_members(drawn: Floats) -> float:
        rows = np.concatenate([members[int(number)] for number in drawn])
        return float(measure(*(column[rows] for column in columns)))

    return [np.arange(len(members), dtype=np.float64)], of_members
