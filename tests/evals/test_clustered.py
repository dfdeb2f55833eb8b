"""Intervals of answers in clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.evals.bootstrap import Figure
from dialectree.evals.calibration import brier, ece
from dialectree.evals.clustered import design
from dialectree.evals.proportions import Proportion, share_of, wilson
from dialectree.evals.ranking import auc
from tests.evals.steady import steady


@steady
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=60))
def test_a_design_lies_between_one_and_the_answers_and_a_share_stays(
    answers: list[tuple[int, bool]],
) -> None:
    clusters, right = [c for c, _ in answers], [r for _, r in answers]
    assert 1 <= design(right, clusters) <= len(right)
    found, plain = share_of(right, clusters), share_of(right)
    assert found[:3] == plain[:3]
    assert found.low <= plain.low + 1e-12 and found.high >= plain.high - 1e-12  # type: ignore[operator]
    assert design(right, range(len(right))) == design(right, None) == 1


def test_copies_of_an_answer_count_once() -> None:
    right = [True] * 30 + [False] * 10
    copied = share_of(right * 5, [*range(40)] * 5)
    once = wilson(30, 40)
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=0.01)
    assert share_of([True] * 40, [n // 4 for n in range(40)])[3:] == wilson(10, 10)[3:]


def test_an_interval_over_clusters_holds_the_true_share_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        chances = rng.beta(1.5, 1, 30)
        right = [bool(one) for one in (rng.random((30, 6)) < chances[:, None]).ravel()]
        share = share_of(right, [n // 6 for n in range(180)])
        held += share.low <= 0.6 <= share.high  # type: ignore[operator]
    assert 0.92 <= held / 400 <= 0.98


@pytest.mark.parametrize("measure", [brier, ece, auc])
def test_a_bootstrap_over_clusters_is_wider(measure: object) -> None:
    sure = [0.5 + n / 100 for n in range(40)]
    right = [n % 3 > 0 for n in range(40)]
    many = sure * 6, right * 6
    plain: Figure = measure(*many, resamples=300)  # type: ignore[operator]
    whole: Figure = measure(*many, resamples=300, clusters=[*range(40)] * 6)  # type: ignore[operator]
    assert whole.value == plain.value and whole.n == plain.n == 240
    assert whole.high - whole.low > 1.5 * (plain.high - plain.low)  # type: ignore[operator]


def test_a_share_without_answers_has_no_interval_in_clusters_either() -> None:
    assert share_of([], []) == Proportion(0, 0, None, None, None)
