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
    """Numbers as an array; ValueError for one that is not finite."""
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
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return ``measure(*columns)`` with its percentile interval.

    See Efron and Tibshirani (1993), chapter 13. ``together`` resamples rows across the columns,
    that is questions; otherwise each column by itself. With ``clusters``, whole clusters of rows
    are drawn. Below two rows there is no interval, nor where every draw gives the same: rows that
    are all alike do not say how far others may lie. An interval always holds its figure:
    resampling adds noise of its own to figures that only noise can raise, such as a calibration
    error.
    """
    n = len(columns[0]) if together else sum(map(len, columns))
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(measure(*columns))
    if min(map(len, columns)) < 2:
        return Figure(value, None, None, n)
    if clusters is not None and len(set(clusters)) < n:
        columns, measure = _whole(columns, measure, clusters)
        if len(columns[0]) < 2:
            return Figure(value, None, None, n)
    drawn = stats.bootstrap(
        columns,
        measure,
        n_resamples=resamples,
        vectorized=False,
        paired=together,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(chance.seed(seed, "bootstrap", n)),
    )
    low, high = map(float, drawn.confidence_interval)
    if math.isclose(low, high, abs_tol=1e-9):
        return Figure(value, None, None, n)
    return Figure(value, min(value, low), max(value, high), n)


def _whole(
    columns: Sequence[Floats], measure: Callable[..., float], clusters: Sequence[Hashable]
) -> tuple[list[Floats], Callable[..., float]]:
    """The clusters as rows, and the measure of their members."""
    places: dict[Hashable, list[int]] = {}
    for place, cluster in enumerate(clusters):
        places.setdefault(cluster, []).append(place)
    inside = [np.asarray(own) for own in places.values()]

    def of_members(drawn: Floats) -> float:
        rows = np.concatenate([inside[int(number)] for number in drawn])
        return float(measure(*(column[rows] for column in columns)))

    return [np.arange(len(inside), dtype=np.float64)], of_members
