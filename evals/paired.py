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
    """The right answers of two methods, and how probable so uneven a split is by chance.

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

    @property
    def differing(self) -> int:
        """Questions that just one of the two gets right."""
        return self.first_only + self.second_only


def mcnemar(
    first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable] | None = None
) -> McNemar:
    """Compare two methods' right answers by the exact test of McNemar (1947).

    Questions that both or neither get right say nothing; of the others each is as likely either
    way if the methods are equally good, so p is that of a fair coin. With ``clusters`` a whole
    cluster goes either way, see :func:`exact_flips`. ValueError for other lengths.
    """
    pairs = list(zip(first, second, strict=True))
    ways = [(True, True), (True, False), (False, True), (False, False)]
    ledger = mcnemar_counts(*(pairs.count(way) for way in ways))
    if clusters is None or not shared(clusters):
        return ledger
    differences = sums([float(a) - float(b) for a, b in pairs], clusters)
    return ledger._replace(p=exact_flips([round(one) for one in differences]))


def mcnemar_counts(both: int, first_only: int, second_only: int, neither: int) -> McNemar:
    """Return McNemar's exact test of the four counts."""
    differing = first_only + second_only
    p = float(binomtest(first_only, differing).pvalue) if differing else 1.0
    return McNemar(both, first_only, second_only, neither, min(1.0, p))


class Pairs(NamedTuple):
    """Two methods' right answers to the same questions, and what follows from them."""

    ledger: McNemar
    """``first_only``: just the first is right."""
    difference: Figure
    """The first share less the second."""
    differences: list[float]
    """1 where just the first is right, -1 where just the second is, else 0."""
    clusters: Sequence[Hashable]
    """The cluster of each question."""

    def noticed(self, alpha: float) -> float | None:
        """Return the smallest difference that a test at ``alpha`` would probably show, 0 to 1.

        It depends on how often the two differ; where they never do, as if all differences went one
        way. Below 0 where the second is right so often that only a fall is possible.
        """
        ledger, count = self.ledger, len(set(self.clusters))
        if shared(self.clusters) and (spread := error(self.differences, self.clusters)) > 0:
            return smallest_clustered(spread, count, alpha)
        if ledger.differing and not shared(self.clusters):
            return smallest_paired(ledger.n, ledger.differing / ledger.n, alpha)
        least = smallest_one_way(count, alpha)
        full = least is not None and ledger.both / ledger.n + least > 1
        return -least if least is not None and full else least


def compared(first: Sequence[bool], second: Sequence[bool], clusters: Sequence[Hashable]) -> Pairs:
    """Compare two methods on the same questions, with the clusters that these come in."""
    ledger = mcnemar(first, second, clusters)
    differences = [float(a) - float(b) for a, b in zip(first, second, strict=True)]
    interval = tango(ledger, design=design(differences, clusters))
    return Pairs(ledger, interval, differences, clusters)


def exact_flips(differences: Sequence[int]) -> float:
    """Return how probable so large a sum is if each number is as likely to have the other sign.

    Fisher's permutation test (1935) of the clusters' differences, two-sided, over all signs: the
    distribution of the sum grows by one number at a time. Of numbers of 1 it is McNemar's exact
    test.
    """
    chances = np.ones(1)
    for size in (abs(one) for one in differences if one):
        grown = np.zeros(len(chances) + 2 * size)
        grown[: len(chances)] += chances / 2
        grown[2 * size :] += chances / 2
        chances = grown
    most = len(chances) // 2
    extreme = np.abs(np.arange(-most, most + 1)) >= abs(sum(differences))
    return min(1.0, float(chances[extreme].sum()))


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

    def holds(difference: float) -> bool:
        spread = difference * (1 - difference)
        minus = b + c - (2 * n - b + c) * difference
        q = (minus + math.sqrt(max(0.0, minus**2 + 8 * n * c * spread))) / (4 * n)
        return (b - c - n * difference) ** 2 <= z**2 * n * (2 * q + spread)

    value = (b - c) / n
    return Figure(value, _last(holds, value, -1.0), _last(holds, value, 1.0), paired.n)


def _last(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return where ``holds`` ends between two numbers, by halving."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return the mean of the first less that of the second, by paired bootstrap over the questions.

    For scores of any scale; for right and wrong :func:`tango` is better. Below ``FEWEST`` pairs,
    or clusters, there is no interval. ValueError for other lengths.
    """
    differences = _differences(first, second)
    n = len(differences)
    if (n if clusters is None else len(set(clusters))) < FEWEST:
        return Figure(float(np.mean(differences)) if n else None, None, None, n)
    return resampled(np.mean, [differences], seed=seed, resamples=resamples, clusters=clusters)


def sign_flips(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
) -> float | None:
    """Return how probable so large a mean difference is if neither is better; None without a pair.

    Fisher's permutation test of pairs (1935): each difference, or the sum of each cluster's, is
    then as likely to have the other sign. Two-sided; of all signs up to 13, of ``FLIPS`` draws from
    a fixed seed beyond.
    """
    differences = _differences(first, second)
    if clusters is not None and shared(clusters):
        differences = sums(differences.tolist(), clusters)
    if len(differences) < 2:
        return 1.0 if len(differences) else None
    drawn = permutation_test(
        [differences],
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        batch=max(1, 1_000_000 // len(differences)),
        rng=np.random.default_rng(chance.seed(0, "signs", len(differences))),
    )
    return min(1.0, float(drawn.pvalue))


def _differences(first: Sequence[float], second: Sequence[float]) -> Floats:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores against {len(second)}: not the same questions")
    return floats(first) - floats(second)
