"""Laws and examples of Bradley-Terry across two sides."""

from __future__ import annotations

import math

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dialectree.nodes.adaptive_reasoning_tree.bradley_terry import Fit, fit

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]

steady = settings(derandomize=True, database=None, deadline=None, max_examples=50)


@st.composite
def counts(draw: st.DrawFn, most: int = 4) -> Pair:
    """Wins and losses of one tournament: whole numbers, many of them 0."""
    shape = draw(st.integers(1, most)), draw(st.integers(1, most))
    cells = st.lists(st.integers(0, 3), min_size=math.prod(shape), max_size=math.prod(shape))
    wins, losses = (np.array(draw(cells), dtype=float).reshape(shape) for _ in range(2))
    return wins, losses


@st.composite
def strongly_connected(draw: st.DrawFn) -> Pair:
    """A tournament with one best fit: the first of each side has won and lost against all."""
    wins, losses = draw(counts())
    for won in (wins, losses):
        won[0, :] += 1
        won[1:, 0] += 1
    return wins, losses


def everyone(fitted: Fit) -> list[float]:
    """The thetas of all who have one, supporters first."""
    both = np.concatenate((fitted.theta_supporters, fitted.theta_attackers))
    return [float(theta) for theta in both if not np.isnan(theta)]


@steady
@given(counts())
def test_only_who_met_somebody_has_a_theta_and_who_never_won_has_0(tournament: Pair) -> None:
    wins, losses = tournament
    fitted = fit(wins, losses)
    sides = (
        (fitted.theta_supporters, wins.sum(axis=1), losses.sum(axis=1)),
        (fitted.theta_attackers, losses.sum(axis=0), wins.sum(axis=0)),
    )
    for side in sides:
        for theta, won, lost in zip(*side, strict=True):
            assert np.isnan(theta) == (won + lost == 0)
            assert won > 0 or lost == 0 or theta == 0
    assert all(0 <= theta <= 1 for theta in everyone(fitted))
    assert sum(everyone(fitted)) == pytest.approx(1 if everyone(fitted) else 0)


@settings(steady, max_examples=30)
@given(tournament=strongly_connected())
def test_it_agrees_with_an_independent_solver(tournament: Pair) -> None:
    wins, losses = tournament
    supporters, attackers = wins.shape
    data = [
        pair
        for i in range(supporters)
        for j in range(attackers)
        for pair in ([(i, supporters + j)] * int(wins[i, j]) + [(supporters + j, i)] * int(losses[i, j]))
    ]
    theirs = np.exp(choix.ilsr_pairwise(supporters + attackers, data, alpha=0))
    ours = fit(wins, losses, iterations=100_000, tolerance=1e-13)
    assert ours.converged and ours.connected
    assert everyone(ours) == pytest.approx(list(theirs / theirs.sum()), abs=1e-5)


@pytest.mark.parametrize(("met", "connected"), [([[1, 0], [0, 1]], False), ([[1, 1], [0, 1]], True)])
def test_only_those_who_met_somebody_must_hang_together(met: list[list[int]], connected: bool) -> None:
    wins = np.array(met, dtype=float)
    assert fit(wins, np.zeros_like(wins)).connected is connected


def test_nobody_won_anything() -> None:
    for shape in ((2, 3), (0, 0), (0, 2), (2, 0)):
        fitted = fit(np.zeros(shape), np.zeros(shape))
        assert everyone(fitted) == []
        assert (fitted.iterations, fitted.converged, fitted.connected) == (0, True, True)
