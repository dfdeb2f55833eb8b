"""Laws and examples of the tree's arithmetic."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.nodes.tree_structured_debate.tree import (
    aggregate_confidence,
    children_that_fit,
    hardest,
    shares,
    synthesis_tokens,
    turn_tokens,
)

unit = st.floats(0, 1)
units = st.lists(unit, min_size=1, max_size=5)


@given(unit, units)
def test_a_confidence_is_the_judges_own_times_the_lowest_below(local: float, children: list[float]) -> None:
    confidence = aggregate_confidence(local, children)
    assert confidence is not None
    assert confidence == local * min(children)


@given(unit, units, st.integers(0, 5))
def test_a_confidence_that_nobody_gave_stays_unknown_upward(
    local: float, children: list[float], place: int
) -> None:
    unknown: list[float | None] = [*children]
    unknown.insert(place, None)
    assert aggregate_confidence(local, unknown) is None
    assert aggregate_confidence(None, children) is None


@given(st.integers(1, 10_000), st.integers(2, 12))
def test_the_shares_of_a_budget_add_up_and_the_first_gets_the_remainder(budget: int, wanted: int) -> None:
    count = children_that_fit(budget, wanted)
    if count == 0:
        assert budget < 3
        return
    given_out = shares(budget, count)
    assert len(given_out) == count
    assert sum(given_out) == budget - 1
    assert min(given_out) >= 1
    assert set(given_out[1:]) == {(budget - 1) // count}
    assert 0 <= given_out[0] - given_out[-1] < count


@pytest.mark.parametrize(
    ("budget", "wanted", "fit"),
    [(1, 4, 0), (2, 4, 0), (3, 4, 2), (4, 4, 3), (5, 4, 4), (40, 4, 4), (40, 2, 2), (40, 1, 0)],
)
def test_a_split_keeps_as_many_children_as_fit_but_at_least_two(budget: int, wanted: int, fit: int) -> None:
    assert children_that_fit(budget, wanted) == fit


@pytest.mark.parametrize(
    ("difficulties", "most", "kept"),
    [
        ([0.1, 0.9, 0.5, 0.7], 2, [1, 3]),
        ([0.9, 0.1, 0.8], 2, [0, 2]),
        ([0.5, 0.5, 0.5], 2, [0, 1]),
        ([0.0] * 6, 4, [0, 1, 2, 3]),
        ([0.3, 0.2], 4, [0, 1]),
    ],
)
def test_the_hardest_children_are_kept_in_their_own_order(
    difficulties: Sequence[float], most: int, kept: list[int]
) -> None:
    assert hardest(difficulties, most) == kept


def test_a_turn_may_be_longer_at_a_deep_leaf() -> None:
    assert [turn_tokens(depth) for depth in range(5)] == [128, 128, 192, 192, 192]


def test_a_synthesis_may_be_longer_the_more_leaves_lie_below() -> None:
    assert [synthesis_tokens(n) for n in (0, 1, 2, 3, 4, 5, 6, 64)] == [
        400, 400, 500, 600, 700, 800, 800, 800,
    ]  # fmt: skip
