"""Win rates of supporters and attackers, from comparisons across the two sides.

Arrays have a row for each supporter, a column for each attacker.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def win_rates(wins: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Return the mean win rates of supporters, and of attackers, over their opponents.

    ``wins`` and ``losses`` have the shape (supporters, attackers); a tie is half of each. A pair
    counts once, even if it was judged twice. Rates are 0 to 1; nan for an argument without opponents.
    """
    met = wins + losses > 0
    rates = np.divide(wins, wins + losses, out=np.zeros_like(wins), where=met)
    supporters = _mean(rates, met, axis=1)
    attackers = _mean(np.where(met, 1 - rates, 0.0), met, axis=0)
    return supporters, attackers


def _mean(rates: Floats, met: NDArray[np.bool_], axis: int) -> Floats:
    number = met.sum(axis=axis)
    nobody = np.full(number.shape, np.nan)
    mean: Floats = np.divide(rates.sum(axis=axis), number, out=nobody, where=number > 0)
    return mean
