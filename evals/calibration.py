"""Whether a confidence means what it says: of answers given 0.8, are four in five right?

``confidences`` are probabilities in 0 to 1, ``right`` says of each whether it came true: the
confidence of a verdict and whether it is right, or P(claim) and whether the claim is true. The
caller leaves out answers without a confidence. Nothing here depends on the order of the answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dialectree.evals.bootstrap import RESAMPLES, Figure, Floats, floats, resampled
from dialectree.evals.proportions import Proportion, wilson

BINS = 10


class Bin(NamedTuple):
    """One point of a reliability curve."""

    confidence: float
    """The mean of the bin's confidences."""
    right: Proportion


def columns(confidences: Sequence[float], right: Sequence[bool]) -> tuple[Floats, Floats]:
    """Return both as arrays; ValueError for other lengths or a confidence outside 0 to 1."""
    sure, true = floats(confidences), floats(right)
    if sure.shape != true.shape or sure.ndim != 1:
        raise ValueError(f"{len(sure)} confidences for {len(true)} answers")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise ValueError("a confidence lies outside 0 to 1")
    return sure, true


def brier(
    confidences: Sequence[float],
    right: Sequence[bool],
    *,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return the mean of (confidence − outcome)², 0 to 1, less is better (Brier 1950).

    Always saying 0.5 gives 0.25.
    """
    sure, true = columns(confidences, right)
    return resampled(np.mean, [(sure - true) ** 2], resamples=resamples, clusters=clusters)


def ece(
    confidences: Sequence[float],
    right: Sequence[bool],
    *,
    adaptive: bool = False,
    bins: int = BINS,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Return the expected calibration error: mean |confidence − share right| over bins, by size.

    Bins of equal width (Guo and others 2017), or ``adaptive`` ones of about equal size (Nixon and
    others 2019), in which equal confidences stay together. 0 to 1. A finite number of answers alone
    raises it above 0, and more bins raise it further.
    """
    measure = partial(_error, adaptive=adaptive, bins=bins)
    return resampled(measure, columns(confidences, right), resamples=resamples, clusters=clusters)


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Return the reliability curve: the equal-width bins that have answers."""
    sure, true = columns(confidences, right)
    order = np.argsort(sure, kind="stable")
    sure, true = sure[order], true[order]
    cuts = _cuts(sure, False, BINS)[1:] if len(sure) else []
    return [
        Bin(float(these.mean()), wilson(int(came_true.sum()), len(these)))
        for these, came_true in zip(np.split(sure, cuts), np.split(true, cuts), strict=True)
        if len(these)
    ]


def _error(sure: Floats, true: Floats, *, adaptive: bool, bins: int) -> float:
    order = np.argsort(sure, kind="stable")
    gaps = np.add.reduceat((sure - true)[order], _cuts(sure[order], adaptive, bins))
    return min(1.0, float(np.abs(gaps).sum()) / len(sure))


def _cuts(rising: Floats, adaptive: bool, bins: int) -> list[int]:
    """Return where the bins begin among rising confidences, without the empty ones."""
    if adaptive:
        edges = rising[[len(rising) * place // bins for place in range(bins)]]
        begins = np.searchsorted(rising, edges, side="left")
    else:
        begins = np.searchsorted(rising, np.arange(1, bins) / bins, side="right")
    return [place for place in np.unique([0, *begins]).tolist() if place < len(rising)]
