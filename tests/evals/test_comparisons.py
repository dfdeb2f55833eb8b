"""Two methods on the same questions: other programs, laws, and what n questions can show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar as theirs
from statsmodels.stats.multitest import multipletests

from dialectree.evals.comparisons import (
    FEWEST,
    corrected,
    difference,
    exact_flips,
    mcnemar,
    mcnemar_counts,
    sign_flips,
    smallest_clustered,
    smallest_one_way,
    smallest_paired,
    tango,
)
from tests.evals.steady import steady

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)
tables = st.tuples(*[st.integers(0, 40)] * 4).filter(any)
Z = float(norm.isf(0.025))


@steady
@given(pairs)
def test_mcnemar_agrees_with_statsmodels_and_does_not_care_who_is_first(
    both: list[tuple[bool, bool]],
) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    found, turned = mcnemar(first, second), mcnemar(second, first)
    assert found.p == turned.p and 0 < found.p <= 1
    assert (found.first_only, found.second_only) == (turned.second_only, turned.first_only)
    assert found.n == len(both)
    if found.first_only + found.second_only:
        table = [[found.both, found.first_only], [found.second_only, found.neither]]
        known: Any = theirs(table, exact=True)
        assert found.p == pytest.approx(known.pvalue)


@steady
@given(
    pairs.filter(lambda both: len(both) >= FEWEST and len({a - b for a, b in both}) > 1),
    st.integers(0, 5),
)
def test_a_bootstrap_holds_its_figure_and_its_seed_fixes_it(
    both: list[tuple[bool, bool]], seed: int
) -> None:
    first, second = [float(a) for a, _ in both], [float(b) for _, b in both]
    found = difference(first, second, seed=seed, resamples=50)
    assert found == difference(first, second, seed=seed, resamples=50)
    assert found.value == pytest.approx(sum(first) / len(both) - sum(second) / len(both))
    assert found.low is not None and found.high is not None and found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(
    ("apart", "p"),
    [
        ([], None),
        ([10.0], 1),
        ([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], 2 / 64),
        ([3.0, -1.0, 1.0], 0.75),
    ],
)
def test_the_signs_of_few_differences_are_all_tried(apart: list[float], p: float | None) -> None:
    assert sign_flips(apart, [0.0] * len(apart)) == (None if p is None else pytest.approx(p))


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "low", "high"),
    [
        # The programs of Fagerland, Lydersen and Laake, Statistical Analysis of Contingency
        # Tables (2017), chapter 8, on the data of Cavo et al. (2012)
        (6, 16, 161, 0.95, -0.1240, -0.0054),
        # scoreci.mp of the R package PropCIs, which takes the second less the first
        (28, 25, 618, 0.90, -0.0148, 0.0247),
    ],
)
def test_the_interval_of_tango_is_that_of_other_programs(
    b: int, c: int, n: int, level: float, low: float, high: float
) -> None:
    found = tango(mcnemar_counts(n - b - c, b, c, 0), level)
    assert found.value == pytest.approx((b - c) / n) and found.n == n
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@steady
@given(tables)
def test_the_interval_of_tango_holds_its_figure_has_a_width_and_turns_round(
    counts: tuple[int, int, int, int],
) -> None:
    both, b, c, neither = counts
    found, turned = tango(mcnemar_counts(*counts)), tango(mcnemar_counts(both, c, b, neither))
    assert found.low is not None and found.high is not None and found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.01
    assert turned.low == pytest.approx(-found.high, abs=1e-9)
    assert turned.high == pytest.approx(-found.low, abs=1e-9)
    if abs((b - c) ** 2 - Z**2 * (b + c)) > 1e-6:  # McNemar's test without its correction
        assert (found.low <= 0 <= found.high) == ((b - c) ** 2 <= Z**2 * (b + c))


@steady
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=12))
def test_the_exact_test_of_flips_tries_all_signs(apart: list[int]) -> None:
    assert exact_flips(apart) == pytest.approx(sign_flips(apart, [0] * len(apart)))


def test_a_question_that_is_copied_tells_no_more() -> None:
    first, second = [True] * 6 + [False] * 2, [False] * 8
    copied = mcnemar(first * 5, second * 5, [*range(8)] * 5)
    assert copied.p == pytest.approx(mcnemar(first, second).p) and copied.first_only == 30
    marks = [50.0 + k for k in range(12)]
    many = difference(marks * 5, [40.0] * 60, clusters=[*range(12)] * 5)
    once = difference(marks, [40.0] * 12)
    assert many.n == 60 and many[:3] == pytest.approx(once[:3], abs=0.3)
    assert sign_flips(marks * 5, [52.0] * 60, clusters=[*range(12)] * 5) == sign_flips(
        marks, [52.0] * 12
    )


SURE, FOUND = float(norm.isf(0.025)), float(norm.ppf(0.8))


def test_too_few_questions_find_nothing() -> None:
    assert smallest_paired(0, 0.5) is smallest_paired(50, 0.0) is smallest_paired(5, 0.3) is None
    assert smallest_one_way(5) is smallest_clustered(0.02, 5) is smallest_clustered(0.4, 50) is None


@steady
@given(st.integers(200, 2000), st.floats(0.3, 0.9))
def test_the_paired_difference_is_about_connors(n: int, differing: float) -> None:
    found = smallest_paired(n, differing)
    assert found is not None
    spread = math.sqrt(differing - found**2)
    needed = ((SURE * math.sqrt(differing) + FOUND * spread) / found) ** 2
    assert needed == pytest.approx(n, rel=0.15)


def test_the_paired_effect_is_found_by_the_exact_test_about_four_times_in_five() -> None:
    n, made, differing = 400, 6, 0.4
    apart = smallest_paired(n, differing, 0.05 / made) or 0.0
    shares = [(differing + apart) / 2, (differing - apart) / 2, 1 - differing]
    drawn = np.random.default_rng(1).multinomial(n, shares, 1500).tolist()
    found = [mcnemar_counts(0, b, c, rest).p < 0.05 / made for b, c, rest in drawn]
    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("way", ["holm", "bonferroni"])
def test_corrections_are_those_of_statsmodels(way: str) -> None:
    for ps in ([0.01, 0.04, 0.03], [0.5, 0.01, 0.01, 0.9], [0.2]):
        known = multipletests(ps, method=way)[1]
        assert corrected(ps, way) == pytest.approx(known.tolist())  # type: ignore[arg-type]
    assert corrected([], way) == []  # type: ignore[arg-type]
