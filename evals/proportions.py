"""Shares of right answers with their intervals, and the correction of several p values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from dialectree.evals.bootstrap import LEVEL
from dialectree.evals.clustered import design


class Proportion(NamedTuple):
    """A share and its interval, all in 0 to 1; None without a single question."""

    right: int
    n: int
    share: float | None
    low: float | None
    high: float | None


def wilson(right: int, n: int, level: float = LEVEL, design: float = 1.0) -> Proportion:
    """Return a share with Wilson's score interval (Wilson 1927), without continuity correction.

    The bounds are (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n): never outside 0 to 1, and of
    some width even for none or all right. For answers in clusters n is divided by ``design``, see
    :func:`dialectree.evals.clustered.design`. ValueError for more right answers than answers.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} right answers of {n}")
    if n == 0:
        return Proportion(0, 0, None, None, None)
    bounds: Any = proportion_confint(right / design, n / design, 1 - level, method="wilson")
    low = 0.0 if right == 0 else max(0.0, float(bounds[0]))
    high = 1.0 if right == n else min(1.0, float(bounds[1]))
    return Proportion(right, n, right / n, low, high)


def share_of(right: Sequence[bool], clusters: Sequence[Hashable] | None = None) -> Proportion:
    """Return the share of right answers; with ``clusters``, an interval that heeds them."""
    return wilson(sum(right), len(right), design=design(right, clusters))


def corrected(ps: Sequence[float], way: Literal["bonferroni", "holm"]) -> list[float]:
    """Adjust the p of several comparisons so that each can be read against one threshold.

    Bonferroni: m p. Holm (1979): in rising order the k-th times (m − k + 1), never falling; at
    least as powerful.
    """
    adjusted = np.array(ps, dtype=np.float64)
    m, order = len(adjusted), np.argsort(adjusted, kind="stable")
    if way == "holm":
        adjusted[order] = np.maximum.accumulate(adjusted[order] * np.arange(m, 0, -1))
    else:
        adjusted = adjusted * m
    return [float(p) for p in np.minimum(adjusted, 1.0)]
