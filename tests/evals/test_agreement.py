"""Whether two raters say the same, beyond chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from dialectree.evals.agreement import kappa
from tests.evals.steady import steady

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


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ([1] * 8, [1, 0] * 4, None),
        ([1] * 8, [0] * 8, None),
        ([1, 0, 1, 0], [1, 0, 1, 0], 1.0),
        ([1, 0, 1, 0], [0, 1, 0, 1], -1.0),
    ],
)
def test_an_interval_without_width_is_none(
    first: list[int], second: list[int], value: float | None
) -> None:
    for scale in (None, (0, 1)):
        found = kappa(first, second, scale)
        assert found.value == (value if value is None else pytest.approx(value))
        assert found.low is found.high is None


def test_marks_have_to_be_on_the_scale_and_of_one_number() -> None:
    for first, second in (([5], [1]), ([1, 2], [1])):
        with pytest.raises(ValueError):
            kappa(first, second, range(5))
