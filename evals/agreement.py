"""How far several judges agree, and how many independent votes they are worth.

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
    """Return Krippendorff's alpha for nominal rulings: 1 is perfect agreement, 0 that of chance.

    ``alpha = 1 - D_o / D_e``: observed over expected disagreement, by the values that can be paired
    within a unit. It is below 0 where judges disagree more often than by chance.

    Args:
        units: the rulings on each question, one for each judge; None where a judge gave none. A
            question with fewer than two rulings counts for nothing.

    Returns:
        Alpha; None where all rulings are the same, or none can be paired.
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
    """Return the mean correlation (Pearson's, phi for 0 and 1) of every two judges.

    Args:
        units: a figure for each judge by question, such as 1 for an error and 0 for none; None
            where a judge gave no ruling. Two judges are compared where both ruled.

    Returns:
        The mean over the pairs, -1 to 1. A pair of which one figure never changes has no
        correlation and is left out; None where no pair is left.
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

    ``N_eff = N / (1 + (N - 1) r)``, where r is :func:`mean_correlation` of the judges' errors. It
    is above N where errors make up for each other.

    Args:
        units: for each question 1 where a judge was wrong, 0 where it was right, and None where it
            gave no ruling; one figure for each judge.

    Returns:
        The votes; None where r is not known, or where the design effect is not above 0.
    """
    mean, judges = mean_correlation(units), max(map(len, units), default=0)
    effect = None if mean is None else 1 + (judges - 1) * mean
    return judges / effect if effect is not None and effect > 0 else None
