"""Measure the agreement of judges, and the number of independent votes they are worth.

Krippendorff, *Computing Krippendorff's Alpha-Reliability* (2011), and *Content Analysis* (4th ed.,
2019), chapter 12. Kish, *Survey Sampling* (1965), section 8.2; applied to juries of models in
arXiv 2605.29800, where nine judges of seven families were worth two independent votes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from statistics import StatisticsError, correlation, fmean


def krippendorff_alpha(units: Sequence[Sequence[Hashable | None]]) -> float | None:
    """Return Krippendorff's alpha for nominal rulings: 1 is perfect agreement, 0 agreement by chance.

    ``alpha = 1 - D_o / D_e``: the observed disagreement divided by the expected one, from pairs of
    rulings on the same question. Alpha is below 0 if judges disagree more often than by chance.

    Args:
        units: the rulings on each question, one for each judge; None where a judge gave none.
            Questions with fewer than two rulings are ignored.

    Returns:
        Alpha; None if all rulings are equal, or if no question has two rulings.
    """
    rulings = [[value for value in unit if value is not None] for unit in units]
    paired = [Counter(unit) for unit in rulings if len(unit) > 1]
    totals = sum(paired, Counter[Hashable]())
    observed = sum(_unlike_pairs(unit) / (unit.total() - 1) for unit in paired)
    expected = _unlike_pairs(totals)
    return 1 - (totals.total() - 1) * observed / expected if expected else None


def _unlike_pairs(values: Counter[Hashable]) -> int:
    """Return the number of ordered pairs of two different values."""
    return values.total() ** 2 - sum(count**2 for count in values.values())


def mean_correlation(units: Sequence[Sequence[float | None]]) -> float | None:
    """Return the mean of Pearson's correlation (phi for figures 0 and 1) over all pairs of judges.

    Args:
        units: for each question one figure per judge, such as 1 for an error and 0 for none; None
            for a judge without a ruling. Two judges are compared on questions that both ruled on.

    Returns:
        The mean over the pairs, -1 to 1. A pair has no correlation and is left out if the figure of
        one judge never changes. None if no pair is left.
    """
    correlations: list[float] = []
    for figures, other_figures in combinations(zip(*units, strict=True), 2):
        both = [
            (x, y) for x, y in zip(figures, other_figures, strict=True) if x is not None and y is not None
        ]
        try:
            correlations.append(correlation([x for x, _ in both], [y for _, y in both]))
        except StatisticsError:  # fewer than two questions, or a figure that never changes
            continue
    return fmean(correlations) if correlations else None


def effective_votes(units: Sequence[Sequence[float | None]]) -> float | None:
    """Return how many independent votes a jury is worth, by Kish's design effect.

    ``N_eff = N / (1 + (N - 1) r)``, where r is :func:`mean_correlation` of the judges' errors.
    N_eff is above N if errors compensate each other.

    Args:
        units: for each question one figure per judge: 1 for a wrong ruling, 0 for a right one, and
            None without a ruling.

    Returns:
        N_eff; None if r is unknown, or if its divisor, the design effect, is 0 or less.
    """
    mean, judges = mean_correlation(units), max(map(len, units), default=0)
    effect = None if mean is None else 1 + (judges - 1) * mean
    return judges / effect if effect is not None and effect > 0 else None
