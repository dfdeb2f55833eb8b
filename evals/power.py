"""The smallest difference that a number of questions would probably show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom, t

ALPHA = 0.05
POWER = 0.8


def smallest_one_way(n: int, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference on the same ``n`` questions if all that differ go one way.

    For rows that differ on none so far. The exact test needs k differing questions with 2 / 2ᵏ ≤ α;
    the d at which k of n differ with ``POWER`` (Clopper and Pearson 1934). None for n below k.
    """
    needed = math.ceil(math.log2(2 / alpha))
    return float(beta.ppf(POWER, needed, n - needed + 1)) if n >= needed else None


def smallest_paired(n: int, differing: float, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference of two shares on the same ``n`` questions that is noticed.

    ``differing`` is the share of questions, in 0 to 1, that just one of the two gets right (both
    discordant cells together). The d at which the exact test of McNemar stays below ``alpha`` with
    ``POWER``: of n questions K ~ Binomial(n, ψ) differ, and of those b ~ Binomial(K, (1 + d/ψ)/2)
    go one way (Connor 1987, by the exact distribution). None where even the largest difference, ψ
    itself, is too small.
    """
    if n < 1 or differing <= 0:
        return None
    low, high = binom.interval(1 - 1e-9, n, differing)
    differ = np.arange(int(low), int(high) + 1)
    weight = binom.pmf(differ, n, differing)
    # The fewest b of K with 2 P(Binomial(K, 1/2) >= b) <= alpha; more than K where none is enough.
    needed = binom.isf(alpha / 2, differ, 0.5) + 1

    def power(d: float) -> float:
        return float((weight * binom.sf(needed - 1, differ, (1 + d / differing) / 2)).sum())

    if power(differing) < POWER:
        return None
    solved: Any = brentq(lambda d: power(d) - POWER, 0.0, differing)
    return float(solved)


def smallest_clustered(error: float, clusters: int, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference that a test over clusters notices, about.

    d = (t₁₋α⁄₂ + t_power) times the clustered standard ``error`` of the difference. None where so
    few clusters have no sign flip as rare as ``alpha``, and where d would be above 1.
    """
    if 2 / 2**clusters > alpha:
        return None
    smallest = float(error * (t.isf(alpha / 2, clusters - 1) + t.ppf(POWER, clusters - 1)))
    return smallest if smallest <= 1 else None
