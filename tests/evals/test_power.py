"""What a number of questions can show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dialectree.evals.paired import mcnemar_counts
from dialectree.evals.power import smallest_clustered, smallest_one_way, smallest_paired
from tests.evals.steady import steady

SURE, FOUND = float(norm.isf(0.025)), float(norm.ppf(0.8))


def test_too_few_questions_find_nothing() -> None:
    assert smallest_paired(0, 0.5) is smallest_paired(50, 0.0) is smallest_paired(5, 0.3) is None
    assert smallest_one_way(5) is smallest_clustered(0.02, 5) is smallest_clustered(0.4, 50) is None


@steady
@given(st.integers(40, 2000), st.floats(0.3, 1), st.integers(1, 6))
def test_the_same_questions_find_no_more_than_differ_and_more_comparisons_find_less(
    n: int, differing: float, made: int
) -> None:
    alone, among = smallest_paired(n, differing), smallest_paired(n, differing, 0.05 / made)
    assert alone is not None and 0 < alone <= differing
    assert among is None or alone <= among <= differing


@steady
@given(st.integers(200, 2000), st.floats(0.3, 0.9))
def test_the_paired_difference_is_about_connors(n: int, differing: float) -> None:
    found = smallest_paired(n, differing)
    assert found is not None
    spread = math.sqrt(differing - found**2)
    needed = ((SURE * math.sqrt(differing) + FOUND * spread) / found) ** 2
    assert needed == pytest.approx(n, rel=0.15)


@pytest.mark.parametrize(("n", "made"), [(40, 1), (400, 6)])
def test_the_paired_effect_is_found_by_the_exact_test_about_four_times_in_five(
    n: int, made: int
) -> None:
    differing = 0.4
    apart = smallest_paired(n, differing, 0.05 / made) or 0.0
    shares = [(differing + apart) / 2, (differing - apart) / 2, 1 - differing]
    drawn = np.random.default_rng(1).multinomial(n, shares, 1500).tolist()
    found = [mcnemar_counts(0, b, c, rest).p < 0.05 / made for b, c, rest in drawn]
    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.03)


def test_clusters_find_about_what_the_normal_formula_says() -> None:
    assert smallest_clustered(0.02, 400) == pytest.approx(0.02 * (SURE + FOUND), rel=0.01)


def test_rows_that_never_differ_need_six_questions_that_go_one_way() -> None:
    found = smallest_one_way(300)
    assert found is not None
    differing = np.random.default_rng(1).binomial(300, found, 20_000)
    assert mcnemar_counts(0, 5, 0, 295).p > 0.05 > mcnemar_counts(0, 6, 0, 294).p
    assert float((differing >= 6).mean()) == pytest.approx(0.8, abs=0.03)
