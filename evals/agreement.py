"""Whether two raters say the same, beyond what chance would make them say alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from statsmodels.stats.inter_rater import cohens_kappa

from dialectree.evals.bootstrap import Figure


def kappa(
    first: Sequence[float], second: Sequence[float], scale: Sequence[float] | None = None
) -> Figure:
    """Return Cohen's kappa of two raters with its interval.

    κ = (p_o − p_e) / (1 − p_e) (Cohen 1960): 1 is full agreement, 0 no more than by chance. With
    a ``scale`` of equal steps a disagreement weighs by the square of its distance (Cohen 1968). The
    interval is the normal one with the standard error of Fleiss, Cohen and Everitt (1969), cut to
    −1 to 1. There is no kappa where one rater gave one mark throughout, and no interval where the
    error is 0, as in full agreement: it says nothing of the next answers. ValueError for sequences
    of other lengths or a mark that is not on the scale.
    """
    n = len(first)
    pairs = list(zip(first, second, strict=True))
    marks = sorted({mark for pair in pairs for mark in pair}) if scale is None else [*scale]
    table = np.zeros((len(marks), len(marks)))
    for one, other in pairs:
        table[marks.index(one), marks.index(other)] += 1
    if min(len(set(first)), len(set(second))) < 2:
        return Figure(None, None, None, n)
    with np.errstate(all="ignore"):  # the test of kappa = 0 divides 0 by 0 where nothing varies
        result: Any = cohens_kappa(table, wt=None if scale is None else "quadratic")
    if not result.std_kappa > 1e-6:
        return Figure(float(result.kappa), None, None, n)
    low, high = max(-1.0, result.kappa_low), min(1.0, result.kappa_upp)
    return Figure(float(result.kappa), float(low), float(high), n)
