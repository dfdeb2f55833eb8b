"""Laws and examples of whole trees of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dialectree.maths import argument_tree
from dialectree.maths.argument_tree import Argument, StrengthRule, Weighed, Weight, strengths
from dialectree.maths.bradley_terry import Comparison, Ties, Winner
from dialectree.maths.semantics import SEMANTICS, Semantics

steady = settings(derandomize=True, database=None, deadline=None, max_examples=40)
unit = st.floats(0, 1)
rounding = 1e-12
rules = pytest.mark.parametrize("strength_rule", get_args(StrengthRule))
each = pytest.mark.parametrize("semantics", get_args(Semantics))

Made = dict[str, list[Comparison]]
winners: list[Winner] = ["SUPPORT", "ATTACK", "TIE"]
stances: list[Literal["support", "attack"]] = ["support", "attack"]


def weigh(
    arguments: Sequence[Argument],
    comparisons: Mapping[str, Sequence[Comparison]] | None = None,
    *,
    blend: float = 0.5,
    strength_rule: StrengthRule = "bradley_terry",
    semantics: Semantics = "dfquad",
    ties: Ties = "ignore",
    prune_below: float | None = None,
) -> Weighed:
    return argument_tree.weigh(
        arguments,
        comparisons or {},
        blend=blend,
        strength_rule=strength_rule,
        semantics=semantics,
        ties=ties,
        prune_below=prune_below,
    )


def claim(weighed: Weighed) -> float:
    """The strength of the root, which all drawn trees call "0"."""
    strength = weighed.weights["0"].strength
    assert strength is not None
    return strength


def pro(id: str, tau: float | None, parent: str = "0") -> Argument:
    return Argument(id, parent, "support", tau)


def con(id: str, tau: float | None, parent: str = "0") -> Argument:
    return Argument(id, parent, "attack", tau)


ROOT = Argument("0", None, None, 0.5)
WON = Comparison("s", "a", "SUPPORT")
TIED = Comparison("s", "a", "TIE")


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


def test_a_claim_by_hand() -> None:
    assert claim(weigh([ROOT, pro("s", 0.7), con("a", 0.4)])) == pytest.approx(0.65)


def test_a_claim_of_two_levels_by_hand() -> None:
    arguments = [ROOT, pro("s", 0.6), con("a", 0.6), con("b", 0.5, "s"), pro("t", 0.5, "a")]
    weighed = weigh(arguments, {"0": [WON]})
    known = {id: weight[:2] for id, weight in weighed.weights.items()}
    assert known == {
        "0": (None, 0.5),
        "s": (1.0, 0.8),
        "a": (0.0, 0.3),
        "b": (None, 0.5),
        "t": (None, 0.5),
    }
    reached = {id: weight.strength for id, weight in weighed.weights.items()}
    assert reached == pytest.approx({"0": 0.375, "s": 0.4, "a": 0.65, "b": 0.5, "t": 0.5})
    assert all(weight.counted for weight in weighed.weights.values())
    assert list(weighed.weights) == ["0", "s", "a", "b", "t"]
    assert weighed.notes == {}


def test_equal_taus_and_one_decisive_pair_force_a_gap_of_one_half() -> None:
    weights = weigh([ROOT, pro("s", 0.4), con("a", 0.4)], {"0": [WON]}).weights
    assert (weights["s"].blended, weights["a"].blended) == (0.7, 0.2)


def test_the_root_is_never_blended() -> None:
    assert weigh([ROOT]).weights == {"0": Weight(None, 0.5, 0.5, True)}
    for blend in (0.0, 0.5, 1.0):
        weighed = weigh([ROOT, pro("s", 0.2), con("a", 0.9)], {"0": [WON]}, blend=blend)
        assert weighed.weights["0"][:2] == (None, 0.5)


@rules
@steady
@given(judged())
def test_without_a_share_of_the_tournament_there_is_no_theta(
    strength_rule: StrengthRule, drawn: tuple[list[Argument], Made]
) -> None:
    arguments, made = drawn
    weighed = weigh(arguments, made, blend=0, strength_rule=strength_rule)
    assert weighed == weigh(arguments)
    assert weighed.notes == {}
    for argument in arguments:
        assert weighed.weights[argument.id][:2] == (None, argument.tau)


@rules
@each
@steady
@given(judged(), unit, st.sampled_from(["ignore", "half"]), st.none() | unit)
def test_all_numbers_stay_in_0_to_1(
    semantics: Semantics,
    strength_rule: StrengthRule,
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
        strength_rule=strength_rule,
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


@steady
@given(st.data(), judged())
def test_a_change_that_is_taken_back_gives_the_first_bits_again(
    data: st.DataObject, drawn: tuple[list[Argument], Made]
) -> None:
    arguments, made = drawn
    before = weigh(arguments, made)
    place = data.draw(st.integers(0, len(arguments) - 1))
    changed = [*arguments]
    changed[place] = arguments[place]._replace(tau=data.draw(unit))
    weigh(changed, made)
    changed[place] = changed[place]._replace(tau=arguments[place].tau)
    assert weigh(changed, made) == before


def attacks_above(id: str, arguments: Mapping[str, Argument]) -> int:
    """Attacks on the way from an argument to the claim."""
    above = arguments[id].parent
    return (
        0 if above is None else (arguments[id].stance == "attack") + attacks_above(above, arguments)
    )


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
    assert after >= before - rounding if for_it else after <= before + rounding


@steady
@given(trees(), unit)
def test_one_more_argument_pulls_to_its_own_side(arguments: list[Argument], tau: float) -> None:
    before = claim(weigh(arguments))
    assert claim(weigh([*arguments, pro("new", tau)])) >= before - rounding
    assert claim(weigh([*arguments, con("new", tau)])) <= before + rounding


@steady
@given(trees())
def test_changed_stances_below_the_claim_give_the_opposite(arguments: list[Argument]) -> None:
    root, *others = arguments
    assert root.tau is not None
    turned = [
        other._replace(stance="attack" if other.stance == "support" else "support")
        if other.parent == "0"
        else other
        for other in others
    ]
    opposite = claim(weigh([root._replace(tau=1 - root.tau), *turned]))
    assert opposite == pytest.approx(1 - claim(weigh(arguments)), abs=rounding)


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


BRANCH = [ROOT, pro("s", 0.9), con("a", 0.6), pro("t", 0.8, "a"), con("b", 0.2, "a")]
Shown = dict[str, tuple[float | None, float | None, bool]]


@pytest.mark.parametrize(
    ("prune_below", "shown", "notes"),
    [
        (None, {"0": (0.5, 0.5 - 0.5 * (0.1 - 0.16), True), "a": (0.6, 0.84, True),
                "t": (0.8, 0.8, True), "b": (0.2, 0.2, True)}, {}),
        (0.2, {"0": (0.5, 0.53, True), "b": (0.2, 0.2, True)}, {}),
        (0.5, {"0": (0.5, 0.5 - 0.5 * (0.1 - 0.08), True), "a": (0.6, 0.92, True),
               "t": (0.8, 0.8, True), "b": (0.2, 0.2, False)},
         {"a": ["b is pruned: its weight is below 0.5"]}),
        (0.7, {"0": (0.5, 0.95, True), "s": (0.9, 0.9, True), "a": (0.6, 0.92, False),
               "t": (0.8, 0.8, False), "b": (0.2, 0.2, False)},
         {"0": ["a is pruned: its weight is below 0.7"],
          "a": ["b is pruned: its weight is below 0.7"]}),
        (1.0, {"0": (0.5, 0.5, True), "s": (0.9, 0.9, False), "a": (0.6, 0.6, False)},
         {"0": ["a is pruned: its weight is below 1", "s is pruned: its weight is below 1"],
          "a": ["b is pruned: its weight is below 1", "t is pruned: its weight is below 1"]}),
    ],
)  # fmt: skip
def test_weak_arguments_are_pruned_with_all_below_them_but_shown(
    prune_below: float | None, shown: Shown, notes: dict[str, list[str]]
) -> None:
    weighed = weigh(BRANCH, prune_below=prune_below)
    for id, (blended, strength, counted) in shown.items():
        weight = weighed.weights[id]
        assert (weight.theta, weight.blended, weight.counted) == (None, blended, counted)
        assert weight.strength == pytest.approx(strength)
    assert weighed.notes == notes


def test_what_the_tournament_makes_of_an_argument_decides_whether_it_is_pruned() -> None:
    weighed = weigh([ROOT, pro("s", 0.6), con("a", 0.6)], {"0": [WON]}, prune_below=0.5)
    assert weighed.weights["a"] == (0.0, 0.3, 0.3, False)
    assert weighed.weights["s"].counted


@pytest.mark.parametrize(
    ("blend", "supporter", "attacker", "comparisons", "out"),
    [
        (0.0, 0.7, None, [WON], {"a"}),
        (0.5, 0.7, None, [WON], {"a"}),
        (0.5, None, None, [WON], {"s", "a"}),
        (1.0, 0.7, None, [WON], set()),
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
    weighed = weigh(arguments, {"0": comparisons}, blend=blend)
    for id in ("s", "a"):
        assert (weighed.weights[id].blended is None) == (id in out)
        assert (weighed.weights[id].strength is None) == (id in out)
        assert weighed.weights[id].counted == (id not in out)
    said = [note for note in weighed.notes.get("0", []) if "left out" in note]
    assert said == [f"{id} is left out: it has no strength" for id in sorted(out)]
    assert claim(weighed) == claim(weigh(what_counts(arguments, weighed), blend=0))


def test_what_lies_below_an_argument_that_is_left_out_does_not_count_but_is_shown() -> None:
    below = [pro("t", 0.8, "a"), con("b", None, "a"), pro("u", 0.5, "t")]
    made = {"a": [Comparison("t", "b", "SUPPORT")]}
    weighed = weigh([ROOT, pro("s", 0.7), con("a", None), *below], made)
    assert weighed.weights["a"] == Weight(None, None, None, False)
    assert weighed.weights["t"] == pytest.approx((1.0, 0.9, 0.95, False))
    assert weighed.weights["b"] == Weight(0.0, None, None, False)
    assert weighed.weights["u"] == Weight(None, 0.5, 0.5, False)
    assert claim(weighed) == claim(weigh([ROOT, pro("s", 0.7)]))
    assert weighed.notes == {
        "0": ["a is left out: it has no strength"],
        "a": ["b is left out: it has no strength"],
    }


def test_a_claim_without_a_strength_has_no_result() -> None:
    weighed = weigh([ROOT._replace(tau=None), pro("s", 0.7)])
    assert weighed.weights["0"] == Weight(None, None, None, True)
    assert weighed.weights["s"] == Weight(None, 0.7, 0.7, True)
    assert weighed.notes == {"0": ["its own strength is not known"]}


@pytest.mark.parametrize(
    ("ties", "made", "theta", "notes"),
    [
        ("ignore", [TIED], None, ["1 tie counts for nobody"]),
        ("ignore", [TIED, TIED], None, ["2 ties count for nobody"]),
        ("ignore", [TIED, WON], 1.0, ["1 tie counts for nobody"]),
        ("half", [TIED], 0.5, ["1 tie counts half for each"]),
        ("half", [TIED, TIED], 0.5, ["2 ties count half for each"]),
        ("half", [TIED, WON], 0.75, ["1 tie counts half for each"]),
        ("half", [WON], 1.0, []),
    ],
)
def test_ties_count_for_nobody_or_half_for_each(
    ties: Ties, made: list[Comparison], theta: float | None, notes: list[str]
) -> None:
    weighed = weigh([ROOT, pro("s", 0.7), con("a", 0.4)], {"0": made}, ties=ties)
    assert weighed.weights["s"].theta == pytest.approx(theta)
    assert weighed.weights["s"].blended == pytest.approx(0.7 if theta is None else 0.35 + theta / 2)
    assert weighed.notes == ({"0": notes} if notes else {})


def test_groups_that_never_met_are_noted() -> None:
    arguments = [ROOT, pro("s", 0.7), pro("t", 0.7), con("a", 0.4), con("b", 0.4)]
    made = {"0": [WON, Comparison("t", "b", "ATTACK")]}
    weighed = weigh(arguments, made)
    assert [weighed.weights[id].theta for id in "stab"] == [0.5, 0.0, 0.0, 0.5]
    assert weighed.notes == {
        "0": ["some groups never met: between them theta rests on an equal start"]
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one root, not 0"),
        ([ROOT, ROOT._replace(id="1")], "one root, not 2"),
        ([ROOT, pro("s", 0.5), con("s", 0.5)], "same id"),
        ([ROOT, pro("s", 0.5, "nobody")], "no parent nobody"),
        ([ROOT, pro("s", 0.5, "t"), pro("t", 0.5, "s")], "do not hang on the root"),
        ([ROOT, pro("s", 0.5, "s")], "do not hang on the root"),
        ([ROOT, Argument("s", "0", None, 0.5)], "go together"),
        ([ROOT._replace(stance="support")], "go together"),
        ([ROOT, pro("s", 1.1)], "0 to 1"),
        ([ROOT, pro("s", float("nan"))], "0 to 1"),
    ],
)
def test_what_is_no_tree_is_an_error(arguments: list[Argument], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        weigh(arguments)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"0": [Comparison("a", "s", "SUPPORT")]}, "a is no child with the stance support"),
        ({"0": [Comparison("s", "s", "SUPPORT")]}, "s is no child with the stance attack"),
        ({"0": [Comparison("s", "nobody", "TIE")]}, "nobody is no child"),
        ({"0": [Comparison("t", "a", "TIE")]}, "t is no child"),
        ({"nobody": []}, "no argument"),
    ],
)
@pytest.mark.parametrize("blend", [0.0, 0.5])
def test_a_comparison_of_others_than_a_supporter_and_an_attacker_is_an_error(
    made: Made, words: str, blend: float
) -> None:
    arguments = [ROOT, pro("s", 0.5), con("a", 0.5), pro("t", 0.5, "a")]
    with pytest.raises(ValueError, match=words):
        weigh(arguments, made, blend=blend)


@pytest.mark.parametrize("blend", [-0.1, 1.1, float("nan")])
def test_a_blend_out_of_range_is_an_error(blend: float) -> None:
    with pytest.raises(ValueError, match="blend"):
        weigh([ROOT], blend=blend)


Arrays = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]], NDArray[np.float64]]


@st.composite
def arrays(draw: st.DrawFn, most: int = 60) -> Arrays:
    """A random tree in breadth-first order."""
    nodes = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    reach = draw(st.sampled_from([1, 3, most]))
    parents = [-1]
    for node in range(1, nodes):
        parents.append(
            int(rng.integers(max(0, parents[-1]), min(node, max(0, parents[-1]) + reach)))
        )
    sign = rng.choice(np.array([-1, 1], dtype=np.int8), nodes)
    sign[0] = 0
    base = rng.random(nodes)
    certain = rng.random(nodes) < 0.2
    base[certain] = base[certain].round()
    return np.array(parents), sign, base


def recursion(tree: Arrays, semantics: Semantics, node: int) -> float:
    """The strength of a node, as the definition has it."""
    parents, sign, base = tree

    def side(stance: Literal[1, -1]) -> list[float]:
        children = np.flatnonzero((parents == node) & (sign == stance))
        return [recursion(tree, semantics, int(child)) for child in children]

    return SEMANTICS[semantics](float(base[node]), side(1), side(-1))


@each
@pytest.mark.parametrize("block", [1, 5, argument_tree.BLOCK])
@steady
@given(tree=arrays())
def test_arrays_give_what_the_recursion_gives(
    semantics: Semantics, block: int, tree: Arrays
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argument_tree, "BLOCK", block)
        found = strengths(*tree, semantics)
    for node in range(min(8, len(found))):
        assert found[node] == pytest.approx(recursion(tree, semantics, node), abs=rounding)


def as_arguments(tree: Arrays) -> list[Argument]:
    """The same tree, one by one."""
    stance: dict[int, Literal["support", "attack"] | None] = {1: "support", -1: "attack", 0: None}
    return [
        Argument(str(node), None if parent < 0 else str(parent), stance[sign], base)
        for node, (parent, sign, base) in enumerate(zip(*(a.tolist() for a in tree), strict=True))
    ]


@each
@steady
@given(tree=arrays())
def test_arrays_give_what_arguments_give(semantics: Semantics, tree: Arrays) -> None:
    weighed = weigh(as_arguments(tree), semantics=semantics)
    one_by_one = [weight.strength for weight in weighed.weights.values()]
    assert one_by_one == pytest.approx(strengths(*tree, semantics).tolist(), abs=rounding)


@each
def test_a_large_tree_is_evaluated_and_its_input_left_alone(semantics: Semantics) -> None:
    rng = np.random.default_rng(5)
    places = np.arange(50_000) - 1
    tree = places // 3, np.where(places % 3 == 0, 1, -1), rng.random(len(places))
    tree[1][0] = 0
    before = [array.copy() for array in tree]
    found = strengths(*tree, semantics)
    assert found.min() >= 0 and found.max() <= 1
    assert all((now == then).all() for now, then in zip(tree, before, strict=True))
    assert (found == strengths(*tree, semantics)).all()
    leaves = np.setdiff1d(np.arange(len(found)), tree[0])
    assert (found[leaves] == tree[2][leaves]).all()


@each
def test_a_chain_and_a_star_are_trees_too(semantics: Semantics) -> None:
    places = np.arange(500)
    sign = np.where(places % 2 == 0, 1, -1)
    sign[0] = 0
    for parents in (places - 1, np.minimum(places - 1, 0)):
        tree = parents, sign, np.linspace(0.1, 0.9, len(places))
        top = claim(weigh(as_arguments(tree), semantics=semantics))
        assert strengths(*tree, semantics)[0] == pytest.approx(top, abs=1e-11)


@pytest.mark.parametrize(
    ("parents", "stances", "base", "words"),
    [
        ([], [], [], "length"),
        ([-1, 0], [0, 1], [0.5], "length"),
        ([-1, 0], [0], [0.5, 0.5], "length"),
        ([0], [0], [0.5], "root"),
        ([-1, -1], [0, 1], [0.5, 0.5], "root"),
        ([0, -1], [1, 0], [0.5, 0.5], "root's 0"),
        ([-1, 1], [0, 1], [0.5, 0.5], "breadth-first"),
        ([-1, 2, 0], [0, 1, 1], [0.5] * 3, "breadth-first"),
        ([-1, 0, 2], [0, 1, 1], [0.5] * 3, "breadth-first"),
        ([-1, 0, 3, 3], [0, 1, 1, 1], [0.5] * 4, "breadth-first"),
        ([-1, 0, 1, 0], [0, 1, 1, 1], [0.5] * 4, "breadth-first"),
        ([-1, 0, -1], [0, 1, 1], [0.5] * 3, "breadth-first"),
        ([-1, -3, 0], [0, 1, 1], [0.5] * 3, "breadth-first"),
        ([-1, 0, 9], [0, 1, 1], [0.5] * 3, "breadth-first"),
        ([-1, 0], [0, 0], [0.5, 0.5], "stance"),
        ([-1, 0], [0, 2], [0.5, 0.5], "stance"),
        ([-1], [1], [0.5], "stance"),
        ([-1, 0], [0, 1], [0.5, 1.5], "base"),
        ([-1, 0], [0, 1], [-0.1, 0.5], "base"),
        ([-1, 0], [0, 1], [0.5, float("nan")], "base"),
    ],
)
def test_arrays_that_are_no_tree_are_an_error(
    parents: list[int], stances: list[int], base: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        strengths(np.array(parents, dtype=int), np.array(stances, dtype=int), np.array(base))
