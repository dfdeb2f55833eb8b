"""Shares and their comparison: the paper's printed numbers, independent formulas, and laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from dialectree.evals.proportions import by_category, cohens_h, compare, corrected, wilson
from tests.evals.steady import steady

N = 790


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 1000))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("right", "low", "high"),
    [
        (566, 68.4, 74.7),
        (463, 55.1, 62.0),
        (479, 57.2, 64.0),
        (373, 43.8, 50.7),
        (555, 67.0, 73.3),
        (384, 45.1, 52.1),
        (382, 44.9, 51.8),
        (366, 42.9, 49.8),
    ],
)
def test_the_intervals_of_tsd_come_out_of_its_counts(right: int, low: float, high: float) -> None:
    found = wilson(right, N)
    assert (_percent(found.low), _percent(found.high)) == (low, high)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        *[(4, 5, 37.6, 96.4), (5, 6, 43.6, 97.0), (6, 6, 61.0, 100.0), (1, 8, 2.2, 47.1)],
        *[(3, 8, 13.7, 69.4), (9, 9, 70.1, 100.0), (8, 9, 56.5, 98.0), (5, 10, 23.7, 76.3)],
        *[(10, 11, 62.3, 98.4), (11, 13, 57.8, 95.7), (6, 14, 21.4, 67.4), (8, 15, 30.1, 75.2)],
        *[(9, 16, 33.2, 76.9), (14, 17, 59.0, 93.8), (13, 18, 49.1, 87.5), (13, 19, 46.0, 84.6)],
        *[(21, 21, 84.5, 100.0), (19, 22, 66.7, 95.3), (4, 23, 7.0, 37.1), (22, 24, 74.2, 97.7)],
        *[(17, 26, 46.2, 80.6), (25, 30, 66.4, 92.7), (20, 31, 46.9, 78.9), (34, 55, 48.6, 73.5)],
        *[(36, 64, 44.1, 67.7), (82, 100, 73.3, 88.3)],
    ],
)
def test_so_do_those_of_its_categories(right: int, n: int, low: float, high: float) -> None:
    found = wilson(right, n)
    assert (_percent(found.low), _percent(found.high)) == (low, high)


def test_one_interval_of_its_categories_is_rounded_the_wrong_way() -> None:
    found = wilson(3, 3)  # printed as 43.8; it is 43.85029...
    assert found.low == pytest.approx(0.43850297)


@pytest.mark.parametrize(
    ("right", "other", "z", "p", "h"),
    [
        (566, 463, 5.44, "5.4e-08", 0.27),
        (566, 479, 4.63, "3.7e-06", 0.23),
        (566, 373, 9.89, "4.7e-23", 0.50),
        (555, 384, 8.76, "1.9e-18", 0.44),
        (555, 382, 8.86, "8.1e-19", 0.45),
        (555, 366, 9.64, "5.3e-22", 0.49),
    ],
)
def test_the_comparisons_of_tsd_come_out_of_its_counts(
    right: int, other: int, z: float, p: str, h: float
) -> None:
    found = compare(right, N, other, N)
    assert found.z is not None and found.h is not None and found.p is not None
    assert found.z == pytest.approx(z, abs=0.0051)  # 4.625 is printed as 4.63
    assert f"{found.p:.1e}" == p
    assert round(found.h, 2) == h


def test_one_effect_size_of_tsd_is_printed_from_a_rounded_share() -> None:
    found = compare(555, N, 384, N)  # printed as 0.45; it is 0.4449, and 0.45 from 70.3 and 48.6 %
    assert found.h == pytest.approx(0.4449, abs=5e-5)


def test_all_three_comparisons_stay_significant_after_either_correction() -> None:
    ps = [compare(566, N, other, N).p for other in (463, 479, 373)]
    for found in (corrected(ps, "bonferroni"), corrected(ps, "holm")):
        assert all(p is not None and p < 0.05 for p in found)
    assert all(p is not None and p < 0.05 / 3 for p in ps)


@steady
@given(counts(), st.floats(0.5, 0.999))
def test_wilson_holds_its_share_and_lies_in_0_to_1(found: tuple[int, int], level: float) -> None:
    share = wilson(*found, level)
    assert share.share is not None and share.low is not None and share.high is not None
    assert 0 <= share.low <= share.share <= share.high <= 1
    assert share.low < share.high


@steady
@given(counts())
def test_wilson_turns_round_with_right_and_wrong(found: tuple[int, int]) -> None:
    right, n = found
    share, turned = wilson(right, n), wilson(n - right, n)
    assert share.low is not None and share.high is not None
    assert turned.low == pytest.approx(1 - share.high, abs=1e-12)
    assert turned.high == pytest.approx(1 - share.low, abs=1e-12)


@steady
@given(counts())
def test_wilson_agrees_with_statsmodels_and_with_its_formula(found: tuple[int, int]) -> None:
    right, n = found
    share = wilson(right, n)
    assert (share.low, share.high) == pytest.approx(
        proportion_confint(right, n, method="wilson"), abs=1e-12
    )
    z, p = float(norm.isf(0.025)), right / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    middle = p + z * z / (2 * n)
    assert share.low == pytest.approx((middle - half) / (1 + z * z / n), abs=1e-12)
    assert share.high == pytest.approx((middle + half) / (1 + z * z / n), abs=1e-12)


@steady
@given(counts(), counts())
def test_a_comparison_agrees_with_its_formulas_and_turns_round(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    found, turned = compare(*one, *other), compare(*other, *one)
    assert None not in (*found, *turned) and not any(map(math.isnan, map(float, found)))  # type: ignore[arg-type]
    assert found.difference == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert found.low <= found.difference <= found.high  # type: ignore[operator]
    for name, sign in (("difference", -1), ("z", -1), ("h", -1), ("p", 1)):
        assert getattr(turned, name) == pytest.approx(sign * getattr(found, name), abs=1e-9)
    pooled = (one[0] + other[0]) / (one[1] + other[1])
    if 0 < pooled < 1:
        spread = math.sqrt(pooled * (1 - pooled) * (1 / one[1] + 1 / other[1]))
        assert found.z == pytest.approx(found.difference / spread)  # type: ignore[operator]
        assert found.p == pytest.approx(math.erfc(abs(found.z) / math.sqrt(2)))  # type: ignore[arg-type]


@steady
@given(counts(), counts())
def test_the_interval_of_a_difference_is_newcombes(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    found, a, b = compare(*one, *other), wilson(*one), wilson(*other)
    assert None not in (*a, *b) and found.difference is not None
    down = math.hypot(a.share - a.low, b.high - b.share)  # type: ignore[operator]
    up = math.hypot(a.high - a.share, b.share - b.low)  # type: ignore[operator]
    assert found.low == pytest.approx(found.difference - down, abs=1e-9)
    assert found.high == pytest.approx(found.difference + up, abs=1e-9)


def test_without_a_question_nothing_is_said() -> None:
    assert wilson(0, 0) == (0, 0, None, None, None)
    assert compare(0, 0, 3, 5) == compare(3, 5, 0, 0) == (None,) * 6


@pytest.mark.parametrize("right", [0, 7])
def test_where_nothing_varies_nothing_differs(right: int) -> None:
    found = compare(right, 7, right, 7)
    assert (found.difference, found.z, found.p, found.h) == (0, 0, 1, 0)
    assert found.low is not None and found.high is not None
    assert found.low < 0 < found.high


def test_all_right_against_all_wrong_is_the_largest_effect() -> None:
    assert cohens_h(1, 0) == pytest.approx(math.pi)
    assert compare(0, 5, 5, 5).h == pytest.approx(-math.pi)


@pytest.mark.parametrize(("right", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_counts_that_make_no_sense_are_an_error(right: int, n: int) -> None:
    with pytest.raises(ValueError):
        wilson(right, n)
    with pytest.raises(ValueError):
        compare(1, 2, right, n)


@settings(steady, max_examples=15)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_never_stricter_than_bonferroni_and_both_never_milder_than_none(
    ps: list[float],
) -> None:
    holm, bonferroni = corrected(ps, "holm"), corrected(ps, "bonferroni")
    for p, mild, strict in zip(ps, holm, bonferroni, strict=True):
        assert mild is not None and strict is not None
        assert p <= mild + 1e-12 and mild <= strict + 1e-12 and strict <= 1
        assert strict == pytest.approx(min(1.0, p * len(ps)))


def test_holm_by_hand() -> None:
    assert corrected([0.01, 0.04, 0.03], "holm") == pytest.approx([0.03, 0.06, 0.06])


def test_a_comparison_that_was_not_made_counts_for_nothing() -> None:
    assert corrected([0.01, None, 0.02], "bonferroni") == [0.02, None, 0.04]
    assert corrected([None], "holm") == [None]
    assert corrected([], "holm") == []


def test_a_category_of_one_question_has_its_line_and_a_wide_interval() -> None:
    table = by_category([("Law", True), (None, False), ("Art", True), ("Law", False)])
    assert [line.name for line in table] == ["", "Art", "Law"]
    assert [line.proportion[:2] for line in table] == [(0, 1), (1, 1), (1, 2)]
    assert table[1].proportion.low == pytest.approx(0.2065, abs=1e-4)
    assert by_category([]) == []


def _percent(share: float | None) -> float:
    assert share is not None
    return round(100 * share, 1)
