"""Whether two raters say the same, beyond what chance would make them say alike."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from dialectree.evals.bootstrap import LEVEL
from dialectree.evals.proportions import Proportion, wilson


class Agreement(NamedTuple):
    """Two raters of the same answers."""

    n: int
    raw: Proportion
    """The share of answers of which both say the same."""
    kappa: float | None
    """1 full agreement, 0 no more than by chance; None where one rater gave one mark throughout."""
    low: float | None
    """None, as ``high``, where the estimated error is 0, which says nothing of the next answers."""
    high: float | None


def agreement(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    scale: Sequence[float] | None = None,
    level: float = LEVEL,
) -> Agreement:
    """Cohen's kappa of two raters with its interval, and how often they agree outright.

    κ = (p_o − p_e) / (1 − p_e) (Cohen 1960). With a ``scale`` of numbers, in their order, a
    disagreement weighs by the square of its distance (Cohen 1968). The interval is the normal one
    with the standard error of Fleiss, Cohen and Everitt (1969), cut to −1 to 1; there is none where
    that error is 0, as in full agreement. ValueError for other lengths or a mark that is not on the
    scale.
    """
    pairs = list(zip(first, second, strict=True))
    raw = wilson(sum(a == b for a, b in pairs), len(pairs))
    marks: list[Hashable] = list(scale) if scale is not None else _marks(pairs)
    place = {mark: number for number, mark in enumerate(marks)}
    if strange := [mark for pair in pairs for mark in pair if mark not in place]:
        raise ValueError(f"the mark {strange[0]!r} is not on the scale")
    table = np.zeros((len(marks), len(marks)))
    for a, b in pairs:
        table[place[a], place[b]] += 1
    if scale is None:
        weights = np.eye(len(marks))
    else:
        steps = np.asarray(scale, dtype=np.float64)
        apart = (steps[:, None] - steps[None, :]) ** 2
        weights = 1 - apart / max(float(apart.max()), 1e-300)
    return Agreement(len(pairs), raw, *_kappa(table, weights, level))


def _marks(pairs: Sequence[tuple[Hashable, Hashable]]) -> list[Hashable]:
    return sorted({mark for pair in pairs for mark in pair}, key=repr)


def _kappa(
    table: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    weights: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    level: float,
) -> tuple[float | None, float | None, float | None]:
    if min(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) < 2:
        return None, None, None
    n = float(table.sum())
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed = float((weights * shares).sum())
    expected = float((weights * np.outer(rows, columns)).sum())
    kappa = (observed - expected) / (1 - expected)
    by_row, by_column = weights @ columns, weights.T @ rows
    spread = by_row[:, None] + by_column[None, :]
    inner = float((shares * (weights - spread * (1 - kappa)) ** 2).sum())
    variance = inner - (kappa - expected * (1 - kappa)) ** 2
    if variance < 1e-12:
        return kappa, None, None
    error = variance**0.5 / ((1 - expected) * n**0.5)
    reach = float(norm.isf((1 - level) / 2)) * error
    return kappa, max(-1.0, kappa - reach), min(1.0, kappa + reach)
