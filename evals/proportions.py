"""Shares of right answers: how sure a share is, and whether two shares differ.

Every function is total over counts that make sense: where a figure is not defined (no question at
all) it is None and never NaN. Counts that make no sense are a ValueError.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportion_confint,
    proportions_ztest,
)

from dialectree.evals.bootstrap import LEVEL
from dialectree.evals.clustered import design


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


def wilson(right: int, n: int, level: float = LEVEL, design: float = 1.0) -> Proportion:
    """Return a share with Wilson's score interval (Wilson 1927), without continuity correction.

    The bounds are (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n): never outside 0 to 1, and of
    some width even for none or all right. For answers in clusters n is divided by ``design``, see
    :func:`dialectree.evals.clustered.design`.
    """
    _require(right, n)
    if n == 0:
        return Proportion(0, 0, None, None, None)
    bounds = proportion_confint(right / design, n / design, 1 - level, method="wilson")
    low = 0.0 if right == 0 else max(0.0, float(bounds[0]))
    high = 1.0 if right == n else min(1.0, float(bounds[1]))
    return Proportion(right, n, right / n, low, high)


def share_of(
    right: Sequence[bool], clusters: Sequence[Hashable] | None = None, level: float = LEVEL
) -> Proportion:
    """Return the share of right answers; with ``clusters``, an interval that heeds them."""
    return wilson(sum(right), len(right), level, design(right, clusters, level))


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
    """Adjust the p of several comparisons so that each can be read against one threshold.

    Bonferroni: m p. Holm (1979): in rising order the k-th times (m − k + 1), never falling; at
    least as powerful. m counts the comparisons that were made; None stays None.
    """
    made = np.array([p for p in ps if p is not None])
    m, order = len(made), np.argsort(made, kind="stable")
    if way == "holm":
        made[order] = np.maximum.accumulate(made[order] * np.arange(m, 0, -1))
    else:
        made = made * m
    adjusted = iter(np.minimum(made, 1.0).tolist())
    return [None if p is None else next(adjusted) for p in ps]


def by_category(
    outcomes: Iterable[tuple[str | None, bool]],
    level: float = LEVEL,
    clusters: Sequence[Hashable] | None = None,
) -> list[Category]:
    """Return a share for each category, in alphabetical order; questions of none stand under ""."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    answers = list(outcomes)
    for place, (category, _) in enumerate(answers):
        found[category or ""].append(place)
    return [
        Category(
            name,
            share_of(
                [answers[place][1] for place in places],
                clusters and [clusters[place] for place in places],
                level,
            ),
        )
        for name, places in sorted(found.items())
    ]
