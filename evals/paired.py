"""Two methods on the same questions: every question is its own control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from dialectree.evals.bootstrap import LEVEL, RESAMPLES, Figure, floats, resampled


class McNemar(NamedTuple):
    """Who is right where, and how probable so uneven a split is if neither is better."""

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


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """The exact test of McNemar (1947) on two methods' right answers, question by question.

    Questions that both or neither get right say nothing; of the others each is as likely either
    way if the methods are equally good, so p is that of a fair coin. ValueError for other lengths.
    """
    pairs = list(zip(first, second, strict=True))
    return mcnemar_counts(
        sum(a and b for a, b in pairs),
        sum(a and not b for a, b in pairs),
        sum(b and not a for a, b in pairs),
        sum(not a and not b for a, b in pairs),
    )


def mcnemar_counts(both: int, first_only: int, second_only: int, neither: int) -> McNemar:
    """The same from the four counts; ValueError for one below 0."""
    if min(both, first_only, second_only, neither) < 0:
        raise ValueError("a count is below 0")
    differing = first_only + second_only
    p = float(binomtest(first_only, differing).pvalue) if differing else 1.0
    return McNemar(both, first_only, second_only, neither, min(1.0, p))


def difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Figure:
    """The mean of the first less that of the second, by paired bootstrap over the questions.

    For scores of any scale; right and wrong are 1 and 0. ValueError for other lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores against {len(second)}: not the same questions")
    apart = floats(first) - floats(second)
    return resampled(np.mean, [apart], seed=seed, level=level, resamples=resamples)
