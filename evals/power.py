"""What a number of questions can show: the smallest effect that would probably be noticed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom, t
from statsmodels.stats.power import NormalIndPower

ALPHA = 0.05
POWER = 0.8


def smallest_h(n: int, other_n: int, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The smallest Cohen's h that a two-sided z-test of two shares finds with ``power``.

    About (z₁₋α⁄₂ + z_power) √(1/n₁ + 1/n₂) (Cohen 1988, section 6.4). None where even the largest
    h there is, π, would be missed.
    """
    if n < 1 or other_n < 1:
        return None
    solved = NormalIndPower().solve_power(
        nobs1=n, alpha=alpha, power=power, ratio=other_n / n, alternative="two-sided"
    )
    return float(solved) if solved <= math.pi else None


def smallest_rise(
    share: float, n: int, other_n: int, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """How much higher than ``share`` another share must be to be noticed; None where 1 is too low.

    The share p₂ with 2 asin √p₂ = 2 asin √p₁ + h, less p₁; in 0 to 1.
    """
    h = smallest_h(n, other_n, alpha, power)
    if h is None:
        return None
    angle = math.asin(math.sqrt(share)) + h / 2
    return math.sin(angle) ** 2 - share if angle <= math.pi / 2 else None


def smallest_change(
    share: float, n: int, other_n: int, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The smallest rise above ``share``; below 0, the smallest fall, where no rise is possible."""
    rise = smallest_rise(share, n, other_n, alpha, power)
    if rise is not None:
        return rise
    fall = smallest_rise(1 - share, n, other_n, alpha, power)
    return None if fall is None else -fall


def smallest_one_way(n: int, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The smallest difference on the same ``n`` questions if all that differ go one way.

    For rows that differ on none so far. The exact test needs k differing questions with 2 / 2ᵏ ≤ α;
    the d at which k of n differ with ``power`` (Clopper and Pearson 1934). None for n below k.
    """
    needed = math.ceil(math.log2(2 / alpha))
    return float(beta.ppf(power, needed, n - needed + 1)) if n >= needed else None


def smallest_paired(
    n: int, differing: float, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Return the smallest difference of two shares on the same ``n`` questions that is noticed.

    ``differing`` is the share of questions, in 0 to 1, that just one of the two gets right (both
    discordant cells together). The d at which the exact test of McNemar stays below ``alpha`` with
    ``power``: of n questions K ~ Binomial(n, ψ) differ, and of those b ~ Binomial(K, (1 + d/ψ)/2)
    go one way. None where even the largest difference, ψ itself, is too small.
    """
    if n < 1 or differing <= 0:
        return None
    differ = np.arange(*_likely(n, differing))
    weight = binom.pmf(differ, n, differing)
    # The fewest b of K with 2 P(Binomial(K, 1/2) >= b) <= alpha; more than K where none is enough.
    needed = binom.isf(alpha / 2, differ, 0.5) + 1

    def found(d: float) -> float:
        return float((weight * binom.sf(needed - 1, differ, (1 + d / differing) / 2)).sum())

    if found(differing) < power:
        return None
    solved: Any = brentq(lambda d: found(d) - power, 0.0, differing)
    return float(solved)


def _likely(n: int, share: float) -> tuple[int, int]:
    """The counts of n that occur with more than a chance of about 1e-9, as a range."""
    low, high = binom.interval(1 - 1e-9, n, share)
    return int(low), int(high) + 1


def smallest_clustered(
    error: float, clusters: int, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Return the smallest difference that a test over clusters notices, about.

    d = (t₁₋α⁄₂ + t_power) times the clustered standard ``error`` of the difference. None where so
    few clusters have no sign flip as rare as ``alpha``, and where d would be above 1.
    """
    if 2 / 2**clusters > alpha:
        return None
    found = float(error * (t.isf(alpha / 2, clusters - 1) + t.ppf(power, clusters - 1)))
    return found if found <= 1 else None
