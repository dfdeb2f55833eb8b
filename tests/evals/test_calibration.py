"""Calibration and ranking: against the definitions written out, and laws."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.evals.calibration import auc, brier, ece, f1, reliability, risk_coverage
from dialectree.evals.intervals import Figure
from tests.evals.steady import answers, steady

Answers = list[tuple[float, bool]]


def apart(both: Answers) -> tuple[list[float], list[bool]]:
    return [sure for sure, _ in both], [right for _, right in both]


def by_definition(both: Answers, bins: int) -> float:
    """Every answer is in the bin whose upper bound is the first that is not below it."""
    total = 0.0
    for place in range(bins):
        low, high = place / bins, (place + 1) / bins
        inside = [(s, r) for s, r in both if (low < s or (place == 0 == s)) and s <= high]
        total += abs(sum(s - r for s, r in inside)) / len(both)
    return total


@steady
@given(answers, st.sampled_from([1, 5, 10, 20]))
def test_ece_is_as_defined(both: Answers, bins: int) -> None:
    assert ece(*apart(both), bins=bins, resamples=2).value == pytest.approx(
        by_definition(both, bins)
    )


@steady
@given(answers, st.booleans())
def test_figures_lie_in_0_to_1_and_in_their_intervals(both: Answers, adaptive: bool) -> None:
    figures = [
        brier(*apart(both), resamples=30),
        ece(*apart(both), adaptive=adaptive, resamples=30),
        auc(*apart(both), resamples=30),
    ]
    for found in figures:
        if found.low is not None and found.high is not None and found.value is not None:
            assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.n == len(both)
        assert found.value is None or 0 <= found.value <= 1


@steady
@given(answers.filter(lambda both: len({right for _, right in both}) == 2))
def test_auc_is_the_share_of_pairs_in_the_right_order_and_turns_round(both: Answers) -> None:
    sure, right = apart(both)
    found = auc(sure, right, resamples=2).value
    pairs = [(t, f) for t, is_true in both if is_true for f, is_too in both if not is_too]
    won = sum((t > f) + (t == f) / 2 for t, f in pairs)
    assert found == pytest.approx(won / len(pairs))
    turned = auc([1 - s for s in sure], right, resamples=2).value
    assert found is not None and turned == pytest.approx(1 - found)


def test_auc_needs_true_ones_and_false_ones() -> None:
    assert auc([0.2, 0.9], [True, True]) == (None, None, None, 2)
    assert auc([0.2, 0.9], [False, True]) == (1.0, None, None, 2)
    assert auc([0.5] * 6, [True, False] * 3) == (0.5, None, None, 6)


def test_the_area_under_risk_takes_the_mean_over_the_orders_of_ties() -> None:
    sure, right = [0.9, 0.5, 0.5, 0.5, 0.2], [True, False, True, True, False]
    areas = []
    for order in permutations(range(5)):
        if all(sure[a] >= sure[b] for a, b in pairwise(order)):
            wrong = [not right[place] for place in order]
            areas.append(sum(sum(wrong[:k]) / k for k in range(1, 6)) / 5)
    assert risk_coverage(sure, right).area == pytest.approx(sum(areas) / len(areas))


@steady
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(both: list[tuple[bool, bool]]) -> None:
    said, true = [a for a, _ in both], [b for _, b in both]
    hits, found = sum(a and b for a, b in both), f1(said, true)
    if not any(said) and not any(true):
        assert found is None
    elif not hits:
        assert found == 0
    else:
        assert found == pytest.approx(2 / (sum(said) / hits + sum(true) / hits))


def test_nothing_is_said_of_no_answers() -> None:
    nothing = Figure(None, None, None, 0)
    assert brier([], []) == ece([], []) == auc([], []) == nothing
    assert reliability([], []) == []
    assert risk_coverage([], []) == ([], None)
