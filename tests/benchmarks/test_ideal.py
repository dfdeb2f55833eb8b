"""What a debate must cost, against the counts that the protocol states."""

from __future__ import annotations

import pytest

from benchmarks.figures import Figure
from benchmarks.ideal import (
    Cost,
    Tree,
    adaptive_debate,
    argument_tree,
    full_tree,
    role_switching_debate,
    size,
)
from benchmarks.shapes import FOUR_LEAVES, GROWING, LEAF, SHAPES


def test_four_leaves_are_37_calls_of_which_14_follow_one_another() -> None:
    assert FOUR_LEAVES.cost == Cost(37, 14)
    assert LEAF.cost == Cost(11, 11)


@pytest.mark.parametrize("children,depth,cost", [(2, 2, Cost(53, 20)), (3, 2, Cost(96, 20))])
def test_deeper_trees_cost_more_calls_than_time(children: int, depth: int, cost: Cost) -> None:
    assert adaptive_debate(full_tree(children, depth)) == cost


def test_a_role_switching_debate_is_nine_calls_in_a_path_of_six() -> None:
    assert (role_switching_debate(), role_switching_debate(in_turn=False)) == ((9, 6), (9, 5))


@pytest.mark.parametrize("breadth,depth,cost", [(1, 1, (5, 2)), (1, 2, (15, 3)), (2, 2, (50, 3))])
def test_an_argument_tree_takes_a_call_more_than_it_is_deep(
    breadth: int, depth: int, cost: tuple[int, int]
) -> None:
    assert argument_tree(breadth, depth) == cost


def test_the_longest_branch_sets_the_path() -> None:
    lopsided: Tree = [[], [[], []]]
    assert size(lopsided) == 5
    assert adaptive_debate(lopsided).path == adaptive_debate(full_tree(2, 2)).path
    assert adaptive_debate(lopsided).calls == 2 * 3 + 3 * 7 + 2 * 5 + 1


def test_the_ideal_is_the_longer_of_path_and_slots() -> None:
    cost = Cost(calls=37, path=14)
    assert cost.seconds(0.2) == pytest.approx(2.8)
    assert cost.seconds(0.2, slots=64, runs=20) == pytest.approx(2.8)
    assert cost.seconds(0.2, slots=2) == pytest.approx(3.7)


def test_shapes_have_names_and_sizes_of_their_own() -> None:
    shapes = {*SHAPES, *GROWING}
    assert len({shape.name for shape in shapes}) == len(shapes)
    assert [shape.nodes for shape in GROWING] == [5, 21, 85]


def test_a_figure_holds_up_to_its_limit() -> None:
    assert Figure("part", "name", 1.15, limit=1.15).held
    assert not Figure("part", "name", 1.16, limit=1.15).held
    assert Figure("part", "name", 9.0, target=1.0).held
