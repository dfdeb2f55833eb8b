"""Shares, design effects and kappa: printed numbers, other libraries, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from dialectree.evals.calibration import auc
from dialectree.evals.intervals import design, kappa, share_of, wilson
from tests.evals.steady import steady


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 1000))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        *[(566, 790, 68.4, 74.7), (463, 790, 55.1, 62.0), (479, 790, 57.2, 64.0)],
        *[(4, 5, 37.6, 96.4), (6, 6, 61.0, 100.0), (1, 8, 2.2, 47.1)],
    ],
)
def test_the_intervals_of_tsd_come_out_of_its_counts(
    right: int, n: int, low: float, high: float
) -> None:
    found = wilson(right, n)
    assert found.low is not None and found.high is not None
    assert (round(100 * found.low, 1), round(100 * found.high, 1)) == (low, high)


@steady
@given(counts(), st.floats(0.5, 0.999))
def test_wilson_holds_its_share_turns_round_and_agrees_with_statsmodels(
    found: tuple[int, int], level: float
) -> None:
    right, n = found
    share, turned = wilson(right, n, level), wilson(n - right, n, level)
    assert 0 <= share.low <= share.share <= share.high <= 1  # type: ignore[operator]
    assert share.low < share.high  # type: ignore[operator]
    assert turned.low == pytest.approx(1 - share.high, abs=1e-12)  # type: ignore[operator]
    known = proportion_confint(right, n, 1 - level, method="wilson")
    assert (share.low, share.high) == pytest.approx(known, abs=1e-12)


def test_without_a_question_there_is_no_share() -> None:
    assert wilson(0, 0) == (0, 0, None, None, None)


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


def test_a_bootstrap_over_clusters_is_wider() -> None:
    sure = [0.5 + n / 100 for n in range(40)]
    right = [n % 3 > 0 for n in range(40)]
    many = sure * 6, right * 6
    plain = auc(*many, resamples=300)
    whole = auc(*many, resamples=300, clusters=[*range(40)] * 6)
    assert whole.value == plain.value and whole.n == plain.n == 240
    assert whole.high - whole.low > 1.5 * (plain.high - plain.low)  # type: ignore[operator]


marks = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60)


@steady
@given(marks, st.booleans())
def test_kappa_is_that_of_another_library_whoever_is_first(
    pairs: list[tuple[int, int]], weighted: bool
) -> None:
    first, second = zip(*pairs, strict=True)
    scale = range(5) if weighted else None
    found, turned = kappa(first, second, scale), kappa(second, first, scale)
    if 1 in (len({*first}), len({*second})):
        assert found == (None, None, None, len(pairs))
        return
    known = cohen_kappa_score(first, second, weights="quadratic" if weighted else None)
    assert found.value == pytest.approx(known) == pytest.approx(turned.value)
    if found.low is not None and found.high is not None:
        assert -1 <= found.low <= known <= found.high <= 1
        assert (found.low, found.high) == pytest.approx((turned.low, turned.high))
