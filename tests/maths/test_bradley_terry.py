"""Laws and examples of Bradley-Terry across two sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dialectree.maths.bradley_terry import (
    Comparison,
    Fit,
    Ties,
    fit,
    mm_step,
    tallies,
)

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]
Solver = Callable[[int, list[tuple[int, int]]], Floats]

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


@st.composite
def thetas(draw: st.DrawFn, shape: tuple[int, ...]) -> Pair:
    """A start inside the simplex."""
    weight = st.floats(0.01, 1)
    drawn = np.array([draw(weight) for _ in range(sum(shape))])
    return drawn[: shape[0]] / drawn.sum(), drawn[shape[0] :] / drawn.sum()


def everyone(fitted: Fit) -> list[float]:
    """The thetas of all who have one, supporters first."""
    both = np.concatenate((fitted.theta_supporters, fitted.theta_attackers))
    return [float(theta) for theta in both if not np.isnan(theta)]


def log_likelihood(wins: Floats, losses: Floats, supporters: Floats, attackers: Floats) -> float:
    """ART Eq. 7, for thetas above 0."""
    pair = supporters[:, None] + attackers
    chances = wins * np.log(supporters[:, None] / pair) + losses * np.log(attackers / pair)
    return float(chances.sum())


def test_one_decisive_pair_alone_gives_1_and_0() -> None:
    fitted = fit(np.array([[1.0]]), np.array([[0.0]]))
    assert everyone(fitted) == [1.0, 0.0]
    assert fitted.converged and fitted.connected
    assert everyone(fit(np.array([[0.0]]), np.array([[1.0]]))) == [0.0, 1.0]


def test_two_wins_in_three_are_two_thirds() -> None:
    assert everyone(fit(np.array([[2.0]]), np.array([[1.0]]))) == pytest.approx([2 / 3, 1 / 3])


def test_one_step_by_hand_moves_all_thetas_at_once() -> None:
    third = np.full(1, 1 / 3), np.full(2, 1 / 3)
    step = mm_step(np.array([[2.0, 0.0]]), np.array([[1.0, 1.0]]), *third)
    assert np.concatenate(step) == pytest.approx([3 / 11, 2 / 11, 6 / 11])


@steady
@given(counts())
def test_thetas_stay_in_0_to_1_and_add_up_to_1(tournament: Pair) -> None:
    wins, losses = tournament
    fitted = fit(wins, losses)
    assert all(0 <= theta <= 1 for theta in everyone(fitted))
    assert sum(everyone(fitted)) == pytest.approx(1 if everyone(fitted) else 0)
    assert fitted.iterations <= 100


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


@steady
@given(st.data(), strongly_connected())
def test_the_log_likelihood_never_falls_over_a_step(data: st.DataObject, tournament: Pair) -> None:
    wins, losses = tournament
    theta = data.draw(thetas(wins.shape))
    before = log_likelihood(wins, losses, *theta)
    for _ in range(5):
        theta = mm_step(wins, losses, *theta, epsilon=0)
        after = log_likelihood(wins, losses, *theta)
        assert after >= before - 1e-9
        before = after


@pytest.mark.parametrize(
    "solver", [partial(choix.ilsr_pairwise, alpha=0), partial(choix.opt_pairwise, alpha=0)]
)
@settings(steady, max_examples=30)
@given(tournament=strongly_connected())
def test_it_agrees_with_an_independent_solver(solver: Solver, tournament: Pair) -> None:
    wins, losses = tournament
    supporters, attackers = wins.shape
    data = [
        pair
        for i in range(supporters)
        for j in range(attackers)
        for pair in (
            [(i, supporters + j)] * int(wins[i, j]) + [(supporters + j, i)] * int(losses[i, j])
        )
    ]
    theirs = np.exp(solver(supporters + attackers, data))
    ours = fit(wins, losses, iterations=100_000, tolerance=1e-13)
    assert ours.converged and ours.connected
    assert everyone(ours) == pytest.approx(list(theirs / theirs.sum()), abs=1e-5)


@steady
@given(counts())
def test_the_sides_can_change_places(tournament: Pair) -> None:
    wins, losses = tournament
    fitted, turned = fit(wins, losses), fit(losses.T, wins.T)
    assert turned.theta_supporters == pytest.approx(fitted.theta_attackers, nan_ok=True)
    assert turned.theta_attackers == pytest.approx(fitted.theta_supporters, nan_ok=True)
    assert turned.connected == fitted.connected


@pytest.mark.parametrize(
    ("met", "connected"),
    [
        ([[0, 0], [0, 0]], True),
        ([[0, 0], [0, 1]], True),
        ([[1, 0], [0, 1]], False),
        ([[1, 1], [0, 1]], True),
        ([[1, 0, 0], [1, 1, 0], [0, 1, 1]], True),
        ([[1, 1, 0], [1, 0, 0], [0, 0, 1]], False),
        ([[0, 0, 0], [0, 1, 0], [0, 1, 0]], True),
    ],
)
def test_only_those_who_met_somebody_must_hang_together(
    met: list[list[int]], connected: bool
) -> None:
    wins = np.array(met, dtype=float)
    assert fit(wins, np.zeros_like(wins)).connected is connected


def test_nobody_won_anything() -> None:
    for shape in ((2, 3), (0, 0), (0, 2), (2, 0)):
        fitted = fit(np.zeros(shape), np.zeros(shape))
        assert everyone(fitted) == []
        assert (fitted.iterations, fitted.converged, fitted.connected) == (0, True, True)


def test_two_thetas_of_0_that_met_stay_at_0() -> None:
    wins, losses = np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    start = np.array([0.5, 0.0]), np.array([0.0, 0.5])
    supporters, attackers = mm_step(wins, losses, *start)
    assert supporters[1] == 0
    assert supporters.sum() + attackers.sum() == pytest.approx(1)


def test_a_fit_that_creeps_toward_0_gives_up_after_its_iterations() -> None:
    wins, losses = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
    fitted = fit(wins, losses)
    assert (fitted.iterations, fitted.converged) == (100, False)
    assert fit(wins, losses, iterations=7).iterations == 7
    assert fit(wins, losses, tolerance=1e-2).converged


@pytest.mark.parametrize(
    ("ties", "wins", "losses"),
    [
        ("ignore", [[1, 0], [0, 0]], [[1, 0], [0, 0]]),
        ("half", [[1.5, 0], [0, 1]], [[1.5, 0], [0, 1]]),
    ],
)
def test_comparisons_are_counted_by_who_met_whom(
    ties: Ties, wins: list[list[float]], losses: list[list[float]]
) -> None:
    made = [
        Comparison("s1", "a1", "SUPPORT"),
        Comparison("s2", "a2", "TIE"),
        Comparison("s1", "a1", "ATTACK"),
        Comparison("s1", "a1", "TIE"),
        Comparison("s2", "a2", "TIE"),
    ]
    counted = tallies(made, ties)
    assert (counted.supporters, counted.attackers, counted.ties) == (["s1", "s2"], ["a1", "a2"], 3)
    assert counted.wins.tolist() == wins
    assert counted.losses.tolist() == losses
