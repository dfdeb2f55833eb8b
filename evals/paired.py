"""Two methods on the same questions: every question is its own control."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, norm, permutation_test

from dialectree import chance
from dialectree.evals.bootstrap import LEVEL, RESAMPLES, Figure, Floats, floats, resampled
from dialectree.evals.clustered import design, error, shared, sums
from dialectree.evals.power import smallest_clustered, smallest_one_way, smallest_paired

FEWEST = 6
"""Pairs below which differences of one sign are no rare chance (2 / 2⁵ > 5%), and an interval by
resampling would leave out 0 all the same."""
FLIPS = 9999
"""Draws of signs where there are too many to take them all: from 14 pairs on."""


class McNemar(NamedTuple):
    """Who is right where, and how probable so uneven a split is if neither is better.

    For answers in clusters p is that of :func:`exact_flips`.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    p: float
    """Two-sided and exact; 1 where no question divides the two."""

    @property
    def n(self) -> int:
        """Questions in all."""
        return self.both + self.first_only + self.second_only + self.neither


def mcnemar(
    first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable] | None = None
) -> McNemar:
    """Compare two methods' right answers by the exact test of McNemar (1947).

    Questions that both or neither get right say nothing; of the others each is as likely either
    way if the methods are equally good, so p is that of a fair coin. With ``clusters`` a whole
    cluster goes either way, see :func:`exact_flips`. ValueError for other lengths.
    """
    pairs = list(zip(first, second, strict=True))
    found = mcnemar_counts(
        sum(a and b for a, b in pairs),
        sum(a and not b for a, b in pairs),
        sum(b and not a for a, b in pairs),
        sum(not a and not b for a, b in pairs),
    )
    if clusters is None or not shared(clusters):
        return found
    apart = sums([float(a) - float(b) for a, b in pairs], clusters)
    return found._replace(p=exact_flips([round(one) for one in apart]))


class Pairs(NamedTuple):
    """Two methods' right answers to the same questions, and all that is said of them."""

    ledger: McNemar
    """``first_only``: just the first is right."""
    difference: Figure
    """The first share less the second."""
    apart: list[float]
    """1 where just the first is right, -1 where just the second is, else 0."""
    clusters: Sequence[Hashable]
    """The cluster of each question."""

    def noticed(self, alpha: float) -> float | None:
        """Return the smallest difference that a test at ``alpha`` would probably show, 0 to 1.

        Given how often the two differ; where they never do, as if all differences went one way.
        Below 0 where the second is right so often that only a fall is possible.
        """
        ledger, count = self.ledger, len(set(self.clusters))
        differing = ledger.first_only + ledger.second_only
        if shared(self.clusters) and (spread := error(self.apart, self.clusters)) > 0:
            return smallest_clustered(spread, count, alpha)
        if differing and not shared(self.clusters):
            return smallest_paired(ledger.n, differing / ledger.n, alpha)
        least = smallest_one_way(count, alpha)
        full = least is not None and ledger.both / ledger.n + least > 1
        return -least if least is not None and full else least


def compared(first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable]) -> Pairs:
    """Compare two methods on the same questions, with the clusters that these come in."""
    ledger = mcnemar(first, second, clusters)
    apart = [float(a) - float(b) for a, b in zip(first, second, strict=True)]
    return Pairs(ledger, tango(ledger, design=design(apart, clusters)), apart, clusters)


def exact_flips(apart: Sequence[int]) -> float:
    """Return how probable so large a sum is if each number is as likely to have the other sign.

    Fisher's permutation test (1935) of the clusters' differences, two-sided, over all signs: the
    distribution of the sum grows by one number at a time. Of numbers of 1 it is McNemar's exact
    test.
    """
    total = abs(sum(apart))
    chances = np.ones(1)
    for size in (abs(one) for one in apart if one):
        grown = np.zeros(len(chances) + 2 * size)
        grown[: len(chances)] += chances / 2
        grown[2 * size :] += chances / 2
        chances = grown
    most = len(chances) // 2
    return min(1.0, float(chances[np.abs(np.arange(-most, most + 1)) >= total].sum()))


def mcnemar_counts(both: int, first_only: int, second_only: int, neither: int) -> McNemar:
    """The same from the four counts; ValueError for one below 0."""
    if min(both, first_only, second_only, neither) < 0:
        raise ValueError("a count is below 0")
    differing = first_only + second_only
    p = float(binomtest(first_only, differing).pvalue) if differing else 1.0
    return McNemar(both, first_only, second_only, neither, min(1.0, p))


def tango(paired: McNemar, level: float = LEVEL, design: float = 1.0) -> Figure:
    """Return the first share less the second, with the score interval of Tango (1998).

    With b and c right answers of only the first and only the second, it holds every difference Δ
    with (b − c − nΔ)² ≤ z² n (2q + Δ(1 − Δ)), where q is the likeliest share of c given Δ: those
    that McNemar's test, without its correction, would not reject. So it stays in −1 to 1 and has
    some width even if no question divides the two, or every one. (Statistics in Medicine 17,
    891-908.) For answers in clusters the counts are divided by ``design``, see
    :func:`dialectree.evals.clustered.design`.
    """
    if paired.n == 0:
        return Figure(None, None, None, 0)
    b, c, n = (count / design for count in (paired.first_only, paired.second_only, paired.n))
    z = float(norm.isf((1 - level) / 2))

    def holds(apart: float) -> bool:
        spread = apart * (1 - apart)
        minus = b + c - (2 * n - b + c) * apart
        q = (minus + math.sqrt(max(0.0, minus**2 + 8 * n * c * spread))) / (4 * n)
        return (b - c - n * apart) ** 2 <= z**2 * n * (2 * q + spread)

    value = (b - c) / n
    return Figure(value, _last(holds, value, -1.0), _last(holds, value, 1.0), paired.n)


def _last(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Where ``holds`` ends between two numbers, by halving."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return the mean of the first less that of the second, by paired bootstrap over the questions.

    For scores of any scale; for right and wrong :func:`tango` is better. Below ``FEWEST`` pairs,
    or clusters, there is no interval. ValueError for other lengths.
    """
    apart = _apart(first, second)
    if len(apart if clusters is None else set(clusters)) < FEWEST:
        return Figure(float(np.mean(apart)) if len(apart) else None, None, None, len(apart))
    return resampled(
        np.mean, [apart], seed=seed, level=level, resamples=resamples, clusters=clusters
    )


def sign_flips(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
) -> float | None:
    """Return how probable so large a mean difference is if neither is better; None without a pair.

    Fisher's permutation test of pairs (1935): each difference, or the sum of each cluster's, is
    then as likely to have the other sign. Two-sided; of all signs up to 13, of ``FLIPS`` draws from
    the seed beyond.
    """
    apart = _apart(first, second)
    if clusters is not None and shared(clusters):
        apart = sums(apart.tolist(), clusters)
    if len(apart) < 2:
        return 1.0 if len(apart) else None
    drawn = permutation_test(
        [apart],
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        batch=max(1, 1_000_000 // len(apart)),
        rng=np.random.default_rng(chance.seed(seed, "signs", len(apart))),
    )
    return min(1.0, float(drawn.pvalue))


def _apart(first: Sequence[float], second: Sequence[float]) -> Floats:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores against {len(second)}: not the same questions")
    return floats(first) - floats(second)
