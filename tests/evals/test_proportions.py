"""Shares and their correction: the paper's printed numbers, an independent formula, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from dialectree.evals.proportions import corrected, wilson
from tests.evals.steady import steady


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 1000))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        *[(566, 790, 68.4, 74.7), (463, 790, 55.1, 62.0), (479, 790, 57.2, 64.0)],
        *[(373, 790, 43.8, 50.7), (555, 790, 67.0, 73.3), (384, 790, 45.1, 52.1)],
        *[(382, 790, 44.9, 51.8), (366, 790, 42.9, 49.8), (4, 5, 37.6, 96.4)],
        *[(6, 6, 61.0, 100.0), (1, 8, 2.2, 47.1), (22, 24, 74.2, 97.7), (82, 100, 73.3, 88.3)],
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


def test_without_a_question_nothing_is_said_and_senseless_counts_are_an_error() -> None:
    assert wilson(0, 0) == (0, 0, None, None, None)
    for right, n in ((-1, 5), (6, 5), (1, 0)):
        with pytest.raises(ValueError):
            wilson(right, n)


@pytest.mark.parametrize("way", ["holm", "bonferroni"])
def test_corrections_are_those_of_statsmodels(way: str) -> None:
    for ps in ([0.01, 0.04, 0.03], [0.5, 0.01, 0.01, 0.9], [0.2]):
        known = multipletests(ps, method=way)[1]
        assert corrected(ps, way) == pytest.approx(known.tolist())  # type: ignore[arg-type]
    assert corrected([], way) == []  # type: ignore[arg-type]
