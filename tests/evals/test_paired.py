"""Two methods on the same questions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as theirs

from dialectree.evals.paired import difference, mcnemar, mcnemar_counts
from tests.evals.steady import steady

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


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


def test_mcnemar_by_hand() -> None:
    assert mcnemar_counts(40, 6, 0, 4).p == pytest.approx(2 / 2**6)
    assert mcnemar_counts(0, 1, 5, 0).p == pytest.approx(2 * 7 / 2**6)


def test_methods_that_never_differ_are_no_different() -> None:
    assert mcnemar([True, False], [True, False]).p == 1
    assert mcnemar([], []) == (0, 0, 0, 0, 1.0)


def test_other_questions_are_an_error() -> None:
    with pytest.raises(ValueError):
        mcnemar([True], [])
    with pytest.raises(ValueError, match="not the same questions"):
        difference([1.0], [])
    with pytest.raises(ValueError):
        mcnemar_counts(1, -1, 0, 0)
    with pytest.raises(ValueError, match="finite"):
        difference([float("nan")], [0.0])


@steady
@given(pairs.filter(lambda both: len(both) > 1), st.integers(0, 5))
def test_a_bootstrap_holds_its_figure_and_its_seed_fixes_it(
    both: list[tuple[bool, bool]], seed: int
) -> None:
    first, second = [float(a) for a, _ in both], [float(b) for _, b in both]
    found = difference(first, second, seed=seed, resamples=50)
    assert found == difference(first, second, seed=seed, resamples=50)
    assert found.value == pytest.approx(sum(first) / len(both) - sum(second) / len(both))
    assert found.low is not None and found.high is not None and found.value is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_another_seed_draws_otherwise() -> None:
    first, second = [0.1 * n for n in range(30)], [2.0] * 30
    assert difference(first, second, seed=1) != difference(first, second, seed=2)


def test_a_bootstrap_interval_is_about_that_of_the_normal_formula() -> None:
    first, second = [1.0] * 60 + [0.0] * 40, [0.0] * 20 + [1.0] * 30 + [0.0] * 50
    apart = [a - b for a, b in zip(first, second, strict=True)]
    mean = sum(apart) / 100
    error = (sum((d - mean) ** 2 for d in apart) / 99 / 100) ** 0.5
    found = difference(first, second)
    assert found.low == pytest.approx(mean - 1.96 * error, abs=0.02)
    assert found.high == pytest.approx(mean + 1.96 * error, abs=0.02)


def test_no_question_no_figure_and_one_question_no_interval() -> None:
    assert difference([], []) == (None, None, None, 0)
    assert difference([80.0], [55.0]) == (25.0, None, None, 1)
    assert difference([1.0, 1.0], [1.0, 1.0]) == (0.0, 0.0, 0.0, 2)
