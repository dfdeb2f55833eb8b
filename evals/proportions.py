"""Shares of right answers: how sure a share is, and whether two shares differ.

Every function is total over counts that make sense: where a figure is not defined (no question at
all) it is None and never NaN. Counts that make no sense are a ValueError.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

LEVEL = 0.95
"""Confidence level of every interval, unless another is asked for."""


class Proportion(NamedTuple):
    """A share and its interval, all in 0 to 1; None without a single question."""

    right: int
    n: int
    share: float | None
    low: float | None
    high: float | None


class Comparison(NamedTuple):
    """Two shares of different questions, or of the same ones taken as if they were different."""

    difference: float | None
    """The first share less the second, -1 to 1."""
    low: float | None
    """Newcombe's interval of the difference."""
    high: float | None
    z: float | None
    p: float | None
    """Two-sided."""
    h: float | None
    """Cohen's effect size; 0.2 is called small, 0.5 medium, 0.8 large."""


class Category(NamedTuple):
    """One line of the table by category."""

    name: str
    proportion: Proportion


def _require(right: int, n: int) -> None:
    if not 0 <= right <= n:
        raise ValueError(f"{right} right answers of {n}")


def wilson(right: int, n: int, level: float = LEVEL) -> Proportion:
    """A share with Wilson's score interval (Wilson 1927), without continuity correction.

    The bounds are (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n): never outside 0 to 1, and of
    some width even for none or all right.
    """
    _require(right, n)
    if n == 0:
        return Proportion(0, 0, None, None, None)
    bounds = binomtest(right, n).proportion_ci(level, method="wilson")
    low = 0.0 if right == 0 else max(0.0, float(bounds.low))
    high = 1.0 if right == n else min(1.0, float(bounds.high))
    return Proportion(right, n, right / n, low, high)


def compare(right: int, n: int, other_right: int, other_n: int, level: float = LEVEL) -> Comparison:
    """The pooled two-proportion z-test, two-sided, with Cohen's h and Newcombe's interval.

    z = (p₁ − p₂) / √(p(1 − p)(1/n₁ + 1/n₂)) with p over both. Where all answers are right, or all
    wrong, nothing varies and nothing differs: z is 0 and p is 1. For the same questions
    :func:`dialectree.evals.paired.mcnemar` is the sharper test.
    """
    _require(right, n)
    _require(other_right, other_n)
    if n == 0 or other_n == 0:
        return Comparison(None, None, None, None, None, None)
    share, other = right / n, other_right / other_n
    low, high = confint_proportions_2indep(
        right, n, other_right, other_n, method="newcomb", compare="diff", alpha=1 - level
    )
    if 0 < right + other_right < n + other_n:
        z, p = proportions_ztest([right, other_right], [n, other_n])
    else:
        z, p = 0.0, 1.0
    return Comparison(
        share - other, float(low), float(high), float(z), float(p), cohens_h(share, other)
    )


def cohens_h(share: float, other: float) -> float:
    """2 asin √p₁ − 2 asin √p₂, from −π to π (Cohen 1988, section 6.2)."""
    return 2 * math.asin(math.sqrt(share)) - 2 * math.asin(math.sqrt(other))


def corrected(ps: Sequence[float | None], way: Literal["bonferroni", "holm"]) -> list[float | None]:
    """The p of several comparisons, adjusted so that each can be read against one threshold.

    Bonferroni: m p. Holm (1979): in rising order the k-th times (m − k + 1), never falling; at
    least as powerful. m counts the comparisons that were made; None stays None.
    """
    made = [p for p in ps if p is not None]
    if not made:
        return list(ps)
    outcome: Any = multipletests(made, method=way)
    adjusted = iter(outcome[1].tolist())
    return [None if p is None else float(next(adjusted)) for p in ps]


def by_category(
    outcomes: Iterable[tuple[str | None, bool]], level: float = LEVEL
) -> list[Category]:
    """A share for each category, in alphabetical order; questions of none stand under ""."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for category, right in outcomes:
        found[category or ""].append(right)
    return [Category(name, wilson(sum(r), len(r), level)) for name, r in sorted(found.items())]
