"""Bradley-Terry strengths of supporters and attackers, from comparisons across the two sides.

ART, section 3.3 and appendix B. Arrays have a row for each supporter, a column for each attacker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ties = Literal["ignore", "half"]

EPSILON = 1e-12
"""A constant that keeps Eq. 2 from a division by zero."""
TOLERANCE = 1e-8
"""The iteration stops when every theta moves by less than this."""
ITERATIONS = 100


class Comparison(NamedTuple):
    """One judgement of one supporter against one attacker of the same parent."""

    supporter: str
    attacker: str
    won: bool | None
    """True where the supporter won, False where the attacker did, None for a tie."""


class Tallies(NamedTuple):
    """The counts of comparisons."""

    supporters: list[str]
    """Ids of the rows, sorted."""
    attackers: list[str]
    """Ids of the columns, sorted."""
    wins: Floats
    """The number of wins of the supporter over the attacker."""
    losses: Floats
    """The number of wins of the attacker over the supporter."""
    ties: int


class Fit(NamedTuple):
    """The result of a Bradley-Terry fit."""

    theta_supporters: Floats
    """0 to 1, and all thetas sum to 1; nan for an argument without a comparison that counts."""
    theta_attackers: Floats
    iterations: int
    converged: bool
    connected: bool
    """False if some groups of arguments were never compared: then theta relates them by the equal start."""


def tallies(comparisons: Sequence[Comparison], ties: Ties) -> Tallies:
    """Count the comparisons: a tie is half a win for each (``half``), or left out (``ignore``).

    The order of the comparisons does not matter.
    """
    tie = 0.5 if ties == "half" else 0.0
    points = {True: (1.0, 0.0), False: (0.0, 1.0), None: (tie, tie)}
    supporters = sorted({comparison.supporter for comparison in comparisons})
    attackers = sorted({comparison.attacker for comparison in comparisons})
    row = {supporter: place for place, supporter in enumerate(supporters)}
    column = {attacker: place for place, attacker in enumerate(attackers)}
    wins = np.zeros((len(supporters), len(attackers)))
    losses = np.zeros_like(wins)
    for supporter, attacker, outcome in comparisons:
        won, loss = points[outcome]
        wins[row[supporter], column[attacker]] += won
        losses[row[supporter], column[attacker]] += loss
    tied = sum(comparison.won is None for comparison in comparisons)
    return Tallies(supporters, attackers, wins, losses, tied)


def fit(
    wins: Floats,
    losses: Floats,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    epsilon: float = EPSILON,
) -> Fit:
    """Fit theta by MM steps from the uniform start to convergence (ART Eq. 2, Proposition 2).

    ``wins`` and ``losses`` have the shape (supporters, attackers); counts may be fractions. Only
    arguments with a decisive comparison enter.
    """
    met = wins + losses > 0
    supporters, attackers = met.any(axis=1), met.any(axis=0)
    entered = int(supporters.sum() + attackers.sum())
    uniform = 1 / max(1, entered)
    theta = (np.where(supporters, uniform, 0.0), np.where(attackers, uniform, 0.0))
    steps, moved = 0, np.inf if entered else 0.0
    while moved >= tolerance and steps < iterations:
        old, theta = theta, mm_step(wins, losses, *theta, epsilon=epsilon)
        moved = max(float(np.abs(new - was).max()) for new, was in zip(theta, old, strict=True))
        steps += 1
    return Fit(
        np.where(supporters, theta[0], np.nan),
        np.where(attackers, theta[1], np.nan),
        steps,
        moved < tolerance,
        _is_connected(met),
    )


def mm_step(
    wins: Floats,
    losses: Floats,
    theta_supporters: Floats,
    theta_attackers: Floats,
    *,
    epsilon: float = EPSILON,
) -> tuple[Floats, Floats]:
    """Take one step of Eq. 2 for all: wins_u / (sum_v n_uv / (theta_u + theta_v) + epsilon).

    Return the thetas of supporters and attackers, which sum to 1. An argument without a win gets 0.
    If two compared arguments both have a theta of 0, both stay at 0, which is the limit.
    """
    met = wins + losses
    pair = theta_supporters[:, None] + theta_attackers
    with np.errstate(divide="ignore", over="ignore"):
        share = np.divide(met, pair, out=np.zeros_like(met), where=met > 0)
    supporters = _quotient(wins.sum(axis=1), share.sum(axis=1) + epsilon)
    attackers = _quotient(losses.sum(axis=0), share.sum(axis=0) + epsilon)
    total = supporters.sum() + attackers.sum()
    if total > 0:
        supporters, attackers = supporters / total, attackers / total
    return supporters, attackers


def _quotient(won: Floats, weight: Floats) -> Floats:
    return np.divide(won, weight, out=np.zeros_like(won), where=won > 0)


def _is_connected(met: NDArray[np.bool_]) -> bool:
    """Return whether comparisons connect all compared arguments; True without comparisons."""
    entered = np.flatnonzero(met.any(axis=1))
    group = entered[:1]
    while True:
        attackers = met[group].any(axis=0)
        wider = np.flatnonzero(met[:, attackers].any(axis=1))
        if len(wider) == len(group):
            return len(group) == len(entered)
        group = wider
