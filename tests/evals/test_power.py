"""What a number of questions can show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dialectree.evals.paired import mcnemar_counts
from dialectree.evals.power import (
    smallest_change,
    smallest_clustered,
    smallest_h,
    smallest_one_way,
    smallest_paired,
    smallest_rise,
)
from dialectree.evals.proportions import cohens_h
from tests.evals.steady import steady

SURE, FOUND = float(norm.isf(0.025)), float(norm.ppf(0.8))


@steady
@given(st.integers(5, 5000), st.integers(5, 5000))
def test_the_smallest_effect_is_that_of_the_normal_formula(n: int, other: int) -> None:
    assert smallest_h(n, other) == pytest.approx(
        (SURE + FOUND) * math.sqrt(1 / n + 1 / other), rel=1e-3
    )


def test_790_questions_find_a_rise_of_seven_points() -> None:
    rise = smallest_rise(0.586, 790, 790)
    assert rise == pytest.approx(0.0683, abs=1e-4)
    assert cohens_h(0.586 + (rise or 0), 0.586) == pytest.approx(smallest_h(790, 790))


@steady
@given(st.floats(0, 1), st.integers(1, 400))
def test_more_questions_find_smaller_rises(share: float, n: int) -> None:
    few, many = smallest_rise(share, n, n), smallest_rise(share, 2 * n, 2 * n)
    assert few is None or (many is not None and 0 < many <= few <= 1 - share)


def test_too_few_questions_find_nothing() -> None:
    assert smallest_h(0, 10) is smallest_h(1, 1) is None
    assert smallest_rise(0.95, 10, 10) is None
    assert smallest_paired(0, 0.5) is smallest_paired(50, 0.0) is smallest_paired(5, 0.3) is None


@steady
@given(st.integers(40, 2000), st.floats(0.3, 1), st.integers(1, 6))
def test_the_same_questions_find_no_more_than_differ_and_more_comparisons_find_less(
    n: int, differing: float, made: int
) -> None:
    alone, among = smallest_paired(n, differing), smallest_paired(n, differing, 0.05 / made)
    assert alone is not None and 0 < alone <= differing
    assert among is None or alone <= among <= differing


@pytest.mark.parametrize(("n", "made"), [(40, 1), (400, 1), (400, 6)])
def test_the_paired_effect_is_found_by_the_exact_test_about_four_times_in_five(
    n: int, made: int
) -> None:
    differing = 0.4
    apart = smallest_paired(n, differing, 0.05 / made) or 0.0
    shares = [(differing + apart) / 2, (differing - apart) / 2, 1 - differing]
    drawn = np.random.default_rng(1).multinomial(n, shares, 1500).tolist()
    found = [mcnemar_counts(0, b, c, rest).p < 0.05 / made for b, c, rest in drawn]
    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.03)


def test_where_no_rise_is_possible_the_smallest_fall_is_found() -> None:
    assert smallest_change(0.5, 100, 100) == smallest_rise(0.5, 100, 100)
    fall = smallest_change(1.0, 300, 300)
    assert fall is not None and fall < 0
    assert cohens_h(1.0, 1.0 + fall) == pytest.approx(smallest_h(300, 300))
    assert smallest_change(0.5, 4, 4) is None


def test_clusters_find_about_what_the_normal_formula_says_or_nothing_where_they_are_few() -> None:
    assert smallest_clustered(0.02, 400) == pytest.approx(0.02 * (SURE + FOUND), rel=0.01)
    assert smallest_clustered(0.02, 5) is smallest_clustered(0.4, 50) is None


def test_rows_that_never_differ_need_six_questions_that_go_one_way() -> None:
    assert smallest_one_way(5) is None
    found = smallest_one_way(300)
    assert found is not None
    differing = np.random.default_rng(1).binomial(300, found, 20_000)
    assert mcnemar_counts(0, 5, 0, 295).p > 0.05 > mcnemar_counts(0, 6, 0, 294).p
    assert float((differing >= 6).mean()) == pytest.approx(0.8, abs=0.03)
