"""Whether two raters say the same, beyond chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from dialectree.evals.agreement import agreement
from tests.evals.steady import steady

marks = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60)


def table(pairs: list[tuple[int, int]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    counted = np.zeros((5, 5))
    for a, b in pairs:
        counted[a, b] += 1
    return counted


@steady
@given(marks, st.booleans())
def test_kappa_and_its_interval_are_those_of_statsmodels(
    pairs: list[tuple[int, int]], weighted: bool
) -> None:
    first, second = zip(*pairs, strict=True)
    scale = range(5) if weighted else None
    found = agreement(first, second, scale)
    if 1 in (len({*first}), len({*second})):
        assert found.kappa is found.low is found.high is None
        return
    with np.errstate(all="ignore"):  # theirs divides 0 by 0 where nothing varies
        theirs: Any = cohens_kappa(table(pairs), wt="quadratic" if weighted else None)
    assert found.kappa == pytest.approx(float(theirs.kappa), abs=1e-9)
    if found.low is None:
        assert found.high is None
        assert not theirs.std_kappa > 1e-5  # nothing but rounding is left, or no number at all
    elif np.isfinite(theirs.kappa_low):
        assert found.low == pytest.approx(max(-1.0, float(theirs.kappa_low)), abs=1e-6)
        assert found.high == pytest.approx(min(1.0, float(theirs.kappa_upp)), abs=1e-6)


@steady
@given(marks)
def test_it_does_not_matter_who_is_first(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    one, other = agreement(first, second), agreement(second, first)
    assert one.raw == other.raw
    assert one.kappa == pytest.approx(other.kappa, abs=1e-12)
    assert one.kappa is None or -1 - 1e-9 <= one.kappa <= 1 + 1e-9


def test_full_agreement_is_one_and_one_mark_throughout_is_nothing() -> None:
    assert agreement([1, 0, 1], [1, 0, 1]).kappa == pytest.approx(1.0)
    same = agreement([1, 1, 1], [1, 1, 1])
    assert (same.kappa, same.raw.share) == (None, 1.0)
    assert agreement([], []).kappa is None
    assert agreement([1], [0])[2:] == (None, None, None)


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ([1] * 8, [1, 0] * 4, None),
        ([1, 0] * 4, [1] * 8, None),
        ([1] * 8, [0] * 8, None),
        ([1, 0, 1, 0], [1, 0, 1, 0], 1.0),
        ([1, 0, 1, 1, 0, 1, 1], [1, 0, 1, 1, 0, 1, 1], 1.0),
        ([1, 0, 1, 0], [0, 1, 0, 1], -1.0),
    ],
)
def test_an_interval_without_width_is_none(
    first: list[int], second: list[int], kappa: float | None
) -> None:
    for scale in (None, (0, 1)):
        found = agreement(first, second, scale)
        assert found.kappa == (kappa if kappa is None else pytest.approx(kappa))
        assert found.low is found.high is None


def test_a_near_miss_weighs_less_on_a_scale() -> None:
    near = agreement([0, 1, 2, 3, 4], [1, 1, 2, 3, 4], range(5)).kappa or 0.0
    far = agreement([0, 1, 2, 3, 4], [4, 1, 2, 3, 4], range(5)).kappa or 0.0
    assert near > 0.9 > far


def test_marks_have_to_be_on_the_scale_and_of_one_number() -> None:
    with pytest.raises(ValueError, match="not on the scale"):
        agreement([5], [1], range(5))
    with pytest.raises(ValueError):
        agreement([1, 2], [1])
