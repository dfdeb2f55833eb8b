"""Laws and examples of whole trees of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.nodes.adaptive_reasoning_tree.argument_tree import Argument, StrengthRule, Weighed, Weight
from dialectree.nodes.adaptive_reasoning_tree.bradley_terry import Comparison, Ties
from dialectree.nodes.adaptive_reasoning_tree.semantics import Semantics
from tests.graphs.adaptive_reasoning_tree.trees import ROUNDING, claim, weigh

steady = settings(derandomize=True, database=None, deadline=None, max_examples=40)
unit = st.floats(0, 1)
rules = pytest.mark.parametrize("strength_rule", get_args(StrengthRule))
each = pytest.mark.parametrize("semantics", get_args(Semantics))

Made = dict[str, list[Comparison]]
winners = [True, False, None]
stances: list[Literal["support", "attack"]] = ["support", "attack"]


def pro(id: str, tau: float | None, parent: str = "0") -> Argument:
    return Argument(id, parent, "support", tau)


def con(id: str, tau: float | None, parent: str = "0") -> Argument:
    return Argument(id, parent, "attack", tau)


ROOT = Argument("0", None, None, 0.5)
WON = Comparison("s", "a", True)
TIED = Comparison("s", "a", None)


@st.composite
def trees(draw: st.DrawFn, most: int = 12) -> list[Argument]:
    """A tree with all taus known; every parent stands before its children."""
    stance = st.sampled_from(stances)
    arguments = [Argument("0", None, None, draw(unit))]
    for number in range(1, draw(st.integers(1, most))):
        parent = str(draw(st.integers(0, number - 1)))
        arguments.append(Argument(str(number), parent, draw(stance), draw(unit)))
    return arguments


def cross_pairs(arguments: Sequence[Argument]) -> list[tuple[str, str, str]]:
    """Parent, supporter, attacker."""
    return [
        (one.parent, one.id, other.id)
        for one in arguments
        for other in arguments
        if one.parent == other.parent and one.parent is not None
        if (one.stance, other.stance) == ("support", "attack")
    ]


@st.composite
def judged(draw: st.DrawFn) -> tuple[list[Argument], Made]:
    """A tree with comparisons of its cross pairs, some twice, some never."""
    arguments, made = draw(trees()), Made()
    for parent, supporter, attacker in cross_pairs(arguments):
        for winner in draw(st.lists(st.sampled_from(winners), max_size=2)):
            made.setdefault(parent, []).append(Comparison(supporter, attacker, winner))
    return arguments, made


def test_a_claim_of_two_levels_by_hand() -> None:
    arguments = [ROOT, pro("s", 0.6), con("a", 0.6), con("b", 0.5, "s"), pro("t", 0.5, "a")]
    weighed = weigh(arguments, {"0": [WON]})
    known = {id: weight[:2] for id, weight in weighed.weights.items()}
    assert known == {"0": (None, 0.5), "s": (1.0, 0.8), "a": (0.0, 0.3), "b": (None, 0.5), "t": (None, 0.5)}
    reached = {id: weight.strength for id, weight in weighed.weights.items()}
    assert reached == pytest.approx({"0": 0.375, "s": 0.4, "a": 0.65, "b": 0.5, "t": 0.5})
    assert all(weight.counted for weight in weighed.weights.values())
    assert list(weighed.weights) == ["0", "s", "a", "b", "t"]
    assert weighed.notes == {}


@each
@steady
@given(judged(), unit, st.sampled_from(["ignore", "half"]), st.none() | unit)
def test_all_numbers_stay_in_0_to_1(
    semantics: Semantics,
    drawn: tuple[list[Argument], Made],
    blend: float,
    ties: Ties,
    prune_below: float | None,
) -> None:
    arguments, made = drawn
    weighed = weigh(
        arguments,
        made,
        blend=blend,
        strength_rule="bradley_terry",
        semantics=semantics,
        ties=ties,
        prune_below=prune_below,
    )
    assert list(weighed.weights) == [argument.id for argument in arguments]
    for weight in weighed.weights.values():
        assert weight.theta is None or 0 <= weight.theta <= 1
        assert weight.blended is not None and 0 <= weight.blended <= 1
        assert weight.strength is not None and 0 <= weight.strength <= 1
        assert weight.counted or prune_below is not None


@rules
@steady
@given(judged(), st.randoms(use_true_random=False))
def test_the_same_judgements_give_the_same_bits_in_any_order(
    strength_rule: StrengthRule, drawn: tuple[list[Argument], Made], random: Any
) -> None:
    arguments, made = drawn
    once = weigh(arguments, made, strength_rule=strength_rule, prune_below=0.3)
    assert weigh(arguments, made, strength_rule=strength_rule, prune_below=0.3) == once
    others = random.sample(arguments, len(arguments))
    parents = random.sample(sorted(made), len(made))
    shuffled = {parent: random.sample(made[parent], len(made[parent])) for parent in parents}
    again = weigh(others, shuffled, strength_rule=strength_rule, prune_below=0.3)
    assert again == once
    assert list(again.weights) == [argument.id for argument in others]


def attacks_above(id: str, arguments: Mapping[str, Argument]) -> int:
    """Attacks on the way from an argument to the claim."""
    above = arguments[id].parent
    return 0 if above is None else (arguments[id].stance == "attack") + attacks_above(above, arguments)


@each
@steady
@given(st.data(), judged())
def test_an_even_number_of_attacks_helps_the_claim_and_an_odd_one_hurts(
    semantics: Semantics, data: st.DataObject, drawn: tuple[list[Argument], Made]
) -> None:
    arguments, made = drawn
    place = data.draw(st.integers(0, len(arguments) - 1))
    argument = arguments[place]
    assert argument.tau is not None
    raised = [*arguments]
    raised[place] = argument._replace(tau=data.draw(st.floats(argument.tau, 1)))
    before = claim(weigh(arguments, made, semantics=semantics))
    after = claim(weigh(raised, made, semantics=semantics))
    for_it = attacks_above(argument.id, {each.id: each for each in arguments}) % 2 == 0
    assert after >= before - ROUNDING if for_it else after <= before + ROUNDING


def what_counts(arguments: Sequence[Argument], weighed: Weighed) -> list[Argument]:
    """The tree of those that count, with their blended weights."""
    return [
        argument._replace(tau=weighed.weights[argument.id].blended)
        for argument in arguments
        if weighed.weights[argument.id].counted
    ]


@each
@steady
@given(judged(), unit)
def test_what_is_pruned_moves_the_claim_no_more_than_if_it_were_not_there(
    semantics: Semantics, drawn: tuple[list[Argument], Made], prune_below: float
) -> None:
    arguments, made = drawn
    weighed = weigh(arguments, made, semantics=semantics, prune_below=prune_below)
    bare = what_counts(arguments, weighed)
    assert claim(weigh(bare, blend=0, semantics=semantics)) == claim(weighed)


@pytest.mark.parametrize(
    ("blend", "supporter", "attacker", "comparisons", "out"),
    [
        (0.5, 0.7, None, [WON], {"a"}),
        (0.5, None, None, [WON], {"s", "a"}),
        (1.0, None, None, [WON], set()),
        (1.0, 0.7, None, [TIED], {"a"}),
        (1.0, None, None, [], {"s", "a"}),
    ],
)
def test_an_argument_without_a_strength_it_needs_is_left_out(
    blend: float,
    supporter: float | None,
    attacker: float | None,
    comparisons: list[Comparison],
    out: set[str],
) -> None:
    arguments = [ROOT, pro("s", supporter), con("a", attacker)]
    weighed = weigh(arguments, {"0": comparisons}, blend=blend, strength_rule="bradley_terry")
    for id in ("s", "a"):
        assert (weighed.weights[id].blended is None) == (id in out)
        assert (weighed.weights[id].strength is None) == (id in out)
        assert weighed.weights[id].counted == (id not in out)
    said = [note for note in weighed.notes.get("0", []) if "left out" in note]
    assert said == [f"{id} is left out: it has no strength" for id in sorted(out)]
    assert claim(weighed) == claim(weigh(what_counts(arguments, weighed), blend=0))


def test_a_claim_without_a_strength_has_no_result() -> None:
    weighed = weigh([ROOT._replace(tau=None), pro("s", 0.7)])
    assert weighed.weights["0"] == Weight(None, None, None, True)
    assert weighed.weights["s"] == Weight(None, 0.7, 0.7, True)
    assert weighed.notes == {"0": ["its own strength is not known"]}


@pytest.mark.parametrize(
    ("ties", "made", "theta", "notes"),
    [
        ("ignore", [TIED], None, ["1 tie counts for nobody"]),
        ("ignore", [TIED, WON], 1.0, ["1 tie counts for nobody"]),
        ("half", [TIED, TIED], 0.5, ["2 ties count half for each"]),
        ("half", [TIED, WON], 0.75, ["1 tie counts half for each"]),
    ],
)
def test_ties_count_for_nobody_or_half_for_each(
    ties: Ties, made: list[Comparison], theta: float | None, notes: list[str]
) -> None:
    weighed = weigh(
        [ROOT, pro("s", 0.7), con("a", 0.4)], {"0": made}, ties=ties, strength_rule="bradley_terry"
    )
    assert weighed.weights["s"].theta == pytest.approx(theta)
    assert weighed.weights["s"].blended == pytest.approx(0.7 if theta is None else 0.35 + theta / 2)
    assert weighed.notes == ({"0": notes} if notes else {})


def test_groups_that_never_met_are_noted() -> None:
    arguments = [ROOT, pro("s", 0.7), pro("t", 0.7), con("a", 0.4), con("b", 0.4)]
    made = {"0": [WON, Comparison("t", "b", False)]}
    weighed = weigh(arguments, made, strength_rule="bradley_terry")
    assert [weighed.weights[id].theta for id in "stab"] == [0.5, 0.0, 0.0, 0.5]
    assert weighed.notes == {"0": ["some groups never met: between them theta rests on an equal start"]}
