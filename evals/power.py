"""What a number of questions can show: the smallest effect that would probably be noticed."""

from __future__ import annotations

import math
from typing import Any

from scipy.optimize import brentq
from scipy.stats import beta, norm
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
    """The smallest difference of two shares on the same ``n`` questions that is noticed.

    ``differing`` is the share of questions, in 0 to 1, that just one of the two gets right (both
    discordant cells together). The d that solves d √n = z₁₋α⁄₂ √ψ + z_power √(ψ − d²) (Connor
    1987; ψ is ``differing``); None where even the largest difference, ψ itself, is too small.
    """
    if n < 1 or differing <= 0:
        return None
    sure, found = float(norm.isf(alpha / 2)), float(norm.ppf(power))

    def short(d: float) -> float:
        return sure * math.sqrt(differing) + found * math.sqrt(differing - d * d) - d * math.sqrt(n)

    if short(differing) > 0:
        return None
    solved: Any = brentq(short, 0.0, differing)
    return float(solved)
