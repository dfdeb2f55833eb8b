"""Compare two methods on the same questions, where every question is its own control.

The module has the tests, the smallest difference that they detect, and one correction for all comparisons
of a report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom, binomtest, norm, permutation_test, t

from dialectree.evals.intervals import (
    LEVEL,
    RESAMPLES,
    Clusters,
    Figure,
    Proportion,
    bootstrap_interval,
    design,
    error,
    floats,
    share_of,
    shared,
    sums,
)
from dialectree.system import chance

ALPHA = 0.05
POWER = 0.8
SAME_BUDGET = (0.8, 1.25)
"""Lowest and highest ratio of a row's tokens to the debate's tokens at which their budgets are the same."""
FEWEST = 6
"""The fewest pairs for an interval. With fewer, even differences that all have one sign may be chance
(2 / 2⁵ > 5%), but an interval by resampling would exclude 0."""
FLIPS = 9999
"""Random draws of signs; 14 or more pairs have too many combinations of signs to try them all."""


# Right and wrong answers


class McNemar(NamedTuple):
    """The right answers of two methods, and the probability of so uneven a split by chance."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p: float
    """The two-sided, exact probability; 1 if the two methods differ on no question."""

    @property
    def n(self) -> int:
        """The number of questions."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def differing(self) -> int:
        """Questions that exactly one of the two methods gets right."""
        return self.first_only + self.second_only


def mcnemar(first: Sequence[float], second: Sequence[float], clusters: Clusters | None = None) -> McNemar:
    """Compare two methods' right answers by the exact test of McNemar (1947).

    With ``clusters`` the test flips whole clusters, see :func:`exact_flips`.
    """
    pairs = list(zip(first, second, strict=True))
    outcomes = [(True, True), (True, False), (False, True), (False, False)]
    ledger = mcnemar_counts(*(pairs.count(outcome) for outcome in outcomes))
    if clusters is None or not shared(clusters):
        return ledger
    differences = sums([float(a) - float(b) for a, b in pairs], clusters)
    return ledger._replace(p=exact_flips([round(cluster_difference) for cluster_difference in differences]))


def mcnemar_counts(both: int, first_only: int, second_only: int, neither: int) -> McNemar:
    """Return McNemar's exact test of the four counts."""
    p = _binomial(first_only, first_only + second_only)
    return McNemar(both, first_only, second_only, neither, p)


@lru_cache(maxsize=4096)
def _binomial(one_way: int, differing: int) -> float:
    return min(1.0, float(binomtest(one_way, differing).pvalue)) if differing else 1.0


def exact_flips(differences: Sequence[int]) -> float:
    """Return the probability of so large a sum if each number has either sign with equal chance.

    This is Fisher's permutation test (1935) of the clusters' differences, two-sided, over all
    combinations of signs. The distribution of the sum is built up by one number at a time. If all
    numbers are 1 or -1, the result is that of McNemar's exact test.
    """
    chances = np.ones(1)
    for size in (abs(number) for number in differences if number):
        grown = np.zeros(len(chances) + 2 * size)
        grown[: len(chances)] += chances / 2
        grown[2 * size :] += chances / 2
        chances = grown
    largest_sum = len(chances) // 2
    extreme = np.abs(np.arange(-largest_sum, largest_sum + 1)) >= abs(sum(differences))
    return min(1.0, float(chances[extreme].sum()))


def tango(paired: McNemar, level: float = LEVEL, design: float = 1.0) -> Figure:
    """Return the first share minus the second, with the score interval of Tango (1998).

    Let only the first be right on b questions, and only the second on c. The interval has every
    difference Δ with (b − c − nΔ)² ≤ z² n (2q + Δ(1 − Δ)). Here q is the likeliest share of questions
    that only the second gets right, given Δ. McNemar's test without its correction would not reject
    these differences. So the interval stays in −1 to 1, and has some width even if the two differ on
    no question, or on every one. (Statistics in Medicine 17, 891-908.) For answers in clusters the
    counts are divided by ``design``.
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
    """Return the last number from ``inside`` to ``outside`` at which ``holds`` is true, by halving."""
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def cohens_h(first: float, second: float) -> float:
    """Return the effect size of a difference of two shares: 2 asin √p₁ − 2 asin √p₂ (Cohen 1988).

    0.2 is called small, 0.5 medium and 0.8 large. Its sign is that of ``first`` minus ``second``.
    """
    return 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))


# Scores of any scale


def difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    clusters: Clusters | None = None,
) -> Figure:
    """Return the mean of ``first`` minus ``second``, its interval by paired bootstrap over questions.

    For right and wrong answers :func:`tango` is better. Below ``FEWEST`` pairs or clusters the
    figure has no interval.
    """
    differences = floats(first) - floats(second)
    n = len(differences)
    if (n if clusters is None else len(set(clusters))) < FEWEST:
        return Figure(float(np.mean(differences)) if n else None, None, None, n)
    return bootstrap_interval(np.mean, [differences], seed=seed, resamples=resamples, clusters=clusters)


def sign_flips(
    first: Sequence[float], second: Sequence[float], *, clusters: Clusters | None = None
) -> float | None:
    """Return the probability of so large a mean difference by chance; None without a pair.

    Fisher's permutation test of pairs (1935), two-sided: each difference, or each cluster's sum of
    differences, has either sign with equal chance. Up to 13 differences all combinations of signs
    are tried, above that ``FLIPS`` draws from a fixed seed.
    """
    differences = floats(first) - floats(second)
    if clusters is not None and shared(clusters):
        differences = sums(differences.tolist(), clusters)
    if len(differences) < 2:
        return 1.0 if len(differences) else None
    test_result = permutation_test(
        [differences],
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        batch=max(1, 1_000_000 // len(differences)),
        rng=np.random.default_rng(chance.seed(0, "signs", len(differences))),
    )
    return min(1.0, float(test_result.pvalue))


# The smallest difference that a number of questions would probably show


def smallest_one_way(n: int, alpha: float = ALPHA) -> float | None:
    """Return the smallest detectable difference on ``n`` questions if all differences go one way.

    This is for two rows that never differed so far. The exact test needs k differing questions with
    2 / 2ᵏ ≤ α. At the returned d, at least k of n questions differ with the probability ``POWER``
    (Clopper and Pearson 1934). None for n below k.
    """
    needed = math.ceil(math.log2(2 / alpha))
    return float(beta.ppf(POWER, needed, n - needed + 1)) if n >= needed else None


def smallest_paired(n: int, differing: float, alpha: float = ALPHA) -> float | None:
    """Return the smallest detectable difference of two shares on the same ``n`` questions.

    ``differing``, ψ, is the share of questions, 0 to 1, that exactly one of the two gets right (both
    discordant cells together). At the returned d, the p of McNemar's exact test is below ``alpha``
    with the probability ``POWER``: of n questions K ~ Binomial(n, ψ) differ, and of those
    b ~ Binomial(K, (1 + d/ψ)/2) go one way (Connor 1987, by the exact distribution). None if even the
    largest difference, ψ itself, is too small.
    """
    if n < 1 or differing <= 0:
        return None
    low, high = binom.interval(1 - 1e-9, n, differing)
    differ = np.arange(int(low), int(high) + 1)
    weight = binom.pmf(differ, n, differing)
    # The fewest b of K with 2 P(Binomial(K, 1/2) >= b) <= alpha; more than K if no b is enough.
    needed = binom.isf(alpha / 2, differ, 0.5) + 1

    def power(d: float) -> float:
        return float((weight * binom.sf(needed - 1, differ, (1 + d / differing) / 2)).sum())

    if power(differing) < POWER:
        return None
    solved: Any = brentq(lambda d: power(d) - POWER, 0.0, differing)
    return float(solved)


def smallest_clustered(error: float, clusters: int, alpha: float = ALPHA) -> float | None:
    """Return approximately the smallest difference that a test over clusters detects.

    d = (t₁₋α⁄₂ + t_power) times the clustered standard ``error`` of the difference. None if there
    are too few clusters for a p below ``alpha``, or if d would be above 1.
    """
    if 2 / 2**clusters > alpha:
        return None
    smallest = float(error * (t.isf(alpha / 2, clusters - 1) + t.ppf(POWER, clusters - 1)))
    return smallest if smallest <= 1 else None


# All comparisons of a report

Verdict = Literal[
    "better",
    "worse",
    "fewer",  # fewer right answers, as the row withheld some; no difference at equal coverage
    "alike",  # no difference can be shown
    "none",  # the tests disagree
]
_VERDICTS: Mapping[tuple[int, int], Verdict] = {
    (1, 1): "better",
    (-1, -1): "worse",
    (-1, 0): "fewer",
    (0, 0): "alike",
}
"""The verdict by two directions: that on all questions, and that at equal coverage."""


@dataclass(kw_only=True)
class RowComparison:
    """A comparison of a row with another row or a vote, by answers to the same questions."""

    kind: Literal["row", "vote", "marks", "as many"]
    """``vote``: with the vote before the row's debates. ``marks``: by marks of summaries, 0 to 100.
    ``as many``: at equal coverage."""
    row: str
    rival: str
    first: Sequence[float]
    """The row's answers, right (1) or not (0), or its marks."""
    second: Sequence[float]
    """The answers or marks of ``rival``."""
    clusters: Clusters
    main: bool = True
    """True if this is the main comparison of the row."""
    against_baseline: bool = True
    """True if a debate is compared with a baseline, False with another debate."""
    same_options: bool = True
    """True if both chose among the same options; only then is there a test."""
    withheld: int = 0
    """Questions whose answer the row withheld; they count as not right."""
    failed: int = 0
    """Questions left out because the row or ``rival`` failed for good."""
    bounds: tuple[float, float] | None = None
    """The difference if all failed questions went against the row, and if all went for it."""
    ratio: float | None = None
    """Tokens of ``rival`` divided by those of the debate, if ``rival`` is samples of the debate's model."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Counts that only this kind of comparison has, by column heading."""
    as_many: RowComparison | None = None
    """The comparison at equal coverage: ``rival`` keeps only as many answers as the row gave. None
    if ``rival`` gave no more answers than the row."""
    bonferroni: float | None = None
    """The p, corrected for all comparisons of the report."""
    holm: float | None = None
    detectable: float | None = None
    """The smallest difference that these questions would probably show."""

    @property
    def key(self) -> Hashable:
        """Comparisons with equal keys are one test, such as a pair of rows in either order."""
        pair = frozenset({self.row, self.rival}) if self.kind == "row" else self.rival
        return pair if self.kind == "row" else (self.kind, self.row, pair)

    @cached_property
    def p(self) -> float | None:
        """The probability of so large a difference by chance; None without a test."""
        if not self.first or not self.same_options:
            return None
        if self.kind == "marks":
            return sign_flips(self.first, self.second, clusters=self.clusters)
        return self.ledger.p

    @cached_property
    def ledger(self) -> McNemar:
        """The numbers of questions that both, one or neither of ``first`` and ``second`` got right."""
        return mcnemar(self.first, self.second, self.clusters)

    @cached_property
    def difference(self) -> Figure:
        """``first`` minus ``second``, as a difference of shares or of mean marks."""
        if self.kind == "marks":
            return difference(self.first, self.second, clusters=self.clusters)
        if not self.same_options:
            return Figure(None, None, None, len(self.first))
        effect = design(self._differences(), self.clusters)
        if self.kind != "vote":
            return tango(self.ledger, design=effect)
        both, gained, losses, neither, p = self.ledger  # the vote came first
        value, low, high, n = tango(McNemar(both, losses, gained, neither, p), design=effect)
        if value is None or low is None or high is None:
            return Figure(None, None, None, n)
        return Figure(-value, -high, -low, n)

    @property
    def shares(self) -> tuple[Proportion, Proportion]:
        """The shares of right answers of ``first`` and ``second``."""
        return tuple(  # type: ignore[return-value]
            share_of([right == 1 for right in scores], self.clusters) for scores in (self.first, self.second)
        )

    @property
    def effect_size(self) -> float | None:
        """Cohen's h of the two shares of right answers; None for marks, or without a question."""
        if self.kind == "marks" or not self.first:
            return None
        first, second = (sum(scores) / len(scores) for scores in (self.first, self.second))
        return cohens_h(first, second)

    @property
    def fair(self) -> bool:
        """True if samples spend about as many tokens as the debate."""
        low, high = SAME_BUDGET
        return self.ratio is not None and low <= self.ratio <= high

    @property
    def test(self) -> str:
        """The name of the test."""
        if self.kind == "marks":
            return "sign-flip"
        return "clustered sign-flip" if shared(self.clusters) else "exact McNemar"

    @property
    def direction(self) -> int:
        """1 or -1 for a gain or a loss that the test shows after correction, else 0."""
        value = self.difference.value or 0.0
        is_significant = self.holm is not None and self.holm < ALPHA
        return ((value > 0) - (value < 0)) if is_significant else 0

    @property
    def verdict(self) -> Verdict:
        """The verdict from two tests together: on all questions, and at equal coverage."""
        as_many = self.as_many or self
        return _VERDICTS.get((self.direction, as_many.direction), "none")

    def find_detectable_difference(self, alpha: float) -> float | None:
        """Return the smallest difference that a test at ``alpha`` would probably show, 0 to 1.

        This difference depends on how often ``first`` and ``second`` differ. If they never do, all
        differences are assumed to go one way. The result is negative if both are right so often that
        ``first`` can only get worse.
        """
        ledger, count = self.ledger, len(set(self.clusters))
        if shared(self.clusters) and (spread := error(self._differences(), self.clusters)) > 0:
            return smallest_clustered(spread, count, alpha)
        if ledger.differing and not shared(self.clusters):
            return smallest_paired(ledger.n, ledger.differing / ledger.n, alpha)
        smallest_difference = smallest_one_way(count, alpha)
        full = smallest_difference is not None and ledger.both / ledger.n + smallest_difference > 1
        return -smallest_difference if smallest_difference is not None and full else smallest_difference

    def _differences(self) -> list[float]:
        return [float(a) - float(b) for a, b in zip(self.first, self.second, strict=True)]


def adjust_p_values(ps: Sequence[float], method: Literal["bonferroni", "holm"]) -> list[float]:
    """Adjust the p values of several comparisons, so that one threshold applies to all.

    Bonferroni: each p times m, their number. Holm (1979): in rising order, the k-th p times
    (m − k + 1), never falling; it is at least as powerful. (The function of statsmodels collects
    garbage in each call, which takes longer than a report.)
    """
    adjusted = np.array(ps)
    m, order = len(adjusted), np.argsort(adjusted, kind="stable")
    if method == "holm":
        adjusted[order] = np.maximum.accumulate(adjusted[order] * np.arange(m, 0, -1))
    else:
        adjusted = adjusted * m
    return [float(p) for p in np.minimum(adjusted, 1.0)]


def correct(comparisons: Iterable[RowComparison]) -> int:
    """Correct all comparisons together, by Holm (1979), and return how many tests there are.

    One correction covers all tables of a report, and both tests of a debate that withheld answers.
    """
    all_comparisons = [
        comparison
        for row_comparison in comparisons
        for comparison in (row_comparison, row_comparison.as_many)
        if comparison is not None
    ]
    ps = {comparison.key: comparison.p for comparison in all_comparisons if comparison.p is not None}
    holm = dict(zip(ps, adjust_p_values([*ps.values()], "holm"), strict=True))
    bonferroni = dict(zip(ps, adjust_p_values([*ps.values()], "bonferroni"), strict=True))
    for comparison in all_comparisons:
        if comparison.p is not None:
            comparison.holm, comparison.bonferroni = (holm[comparison.key], bonferroni[comparison.key])
        if comparison.first and comparison.kind in ("row", "vote"):
            comparison.detectable = comparison.find_detectable_difference(ALPHA / max(len(ps), 1))
    return len(ps)
