"""Whether a confidence means what it says: of answers given 0.8, are four in five right?

``confidences`` are probabilities in 0 to 1, ``right`` says of each whether it came true: the
confidence of a verdict and whether it is right, or P(claim) and whether the claim is true. Answers
without a confidence are left out by the caller, who says how many. Nothing here depends on the
order of the answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dialectree.evals.bootstrap import LEVEL, RESAMPLES, Figure, Floats, floats, resampled
from dialectree.evals.proportions import Proportion, wilson

BINS = 10


class Bin(NamedTuple):
    """One point of a reliability curve."""

    low: float
    """Confidences above this up to and with ``high``; the first bin has 0, too. Of an adaptive bin:
    its lowest and its highest confidence."""
    high: float
    confidence: float
    """The mean of them."""
    right: Proportion


def columns(confidences: Sequence[float], right: Sequence[bool]) -> tuple[Floats, Floats]:
    """Both as arrays; ValueError for other lengths or a confidence outside 0 to 1."""
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
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """The mean of (confidence − outcome)², 0 to 1, less is better (Brier 1950).

    Always saying 0.5 gives 0.25.
    """
    sure, true = columns(confidences, right)
    return resampled(
        np.mean,
        [(sure - true) ** 2],
        seed=seed,
        level=level,
        resamples=resamples,
        clusters=clusters,
    )


def ece(
    confidences: Sequence[float],
    right: Sequence[bool],
    *,
    adaptive: bool = False,
    bins: int = BINS,
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """The expected calibration error, 0 to 1: mean |confidence − share right| over bins, by size.

    Bins of equal width (Guo and others 2017), or ``adaptive`` ones of about equal size (Nixon and
    others 2019), in which equal confidences stay together. A finite number of answers alone raises
    it above 0, and more bins raise it further.
    """
    measure = partial(_error, adaptive=adaptive, bins=bins)
    pair = columns(confidences, right)
    return resampled(measure, pair, seed=seed, level=level, resamples=resamples, clusters=clusters)


def reliability(
    confidences: Sequence[float],
    right: Sequence[bool],
    *,
    adaptive: bool = False,
    bins: int = BINS,
    level: float = LEVEL,
) -> list[Bin]:
    """The reliability curve: the bins that hold answers, each with Wilson's interval."""
    sure, true = columns(confidences, right)
    if not len(sure):
        return []
    order = np.argsort(sure, kind="stable")
    sure, true = sure[order], true[order]
    found: list[Bin] = []
    cuts = _cuts(sure, adaptive, bins)[1:]
    for these, came_true in zip(np.split(sure, cuts), np.split(true, cuts), strict=True):
        low, high = (these[0], these[-1]) if adaptive else _edges(these[0], bins)
        share = wilson(int(came_true.sum()), len(these), level)
        found.append(Bin(float(low), float(high), float(these.mean()), share))
    return found


def _error(sure: Floats, true: Floats, *, adaptive: bool, bins: int) -> float:
    order = np.argsort(sure, kind="stable")
    cuts = _cuts(sure[order], adaptive, bins)
    gaps = np.add.reduceat((sure - true)[order], cuts)
    return min(1.0, float(np.abs(gaps).sum()) / len(sure))


def _cuts(rising: Floats, adaptive: bool, bins: int) -> list[int]:
    """Where the bins begin among rising confidences; bins that hold nothing are left out."""
    if adaptive:
        aims = rising[[len(rising) * place // bins for place in range(bins)]]
        begins = np.searchsorted(rising, aims, side="left")
    else:
        begins = np.searchsorted(rising, np.arange(1, bins) / bins, side="right")
    return [place for place in np.unique([0, *begins]).tolist() if place < len(rising)]


def _edges(confidence: float, bins: int) -> tuple[float, float]:
    """The bounds of the equal-width bin that a confidence falls in."""
    place = int(np.searchsorted(np.arange(1, bins) / bins, confidence, side="left"))
    return place / bins, (place + 1) / bins
