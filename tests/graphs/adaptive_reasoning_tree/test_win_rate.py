"""Laws and examples of win rates: no flip for the claim lowers it, whatever else was judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, get_args

import pytest

from dialectree.nodes.adaptive_reasoning_tree.argument_tree import Argument, StrengthRule, Weighed
from dialectree.nodes.adaptive_reasoning_tree.bradley_terry import Comparison
from dialectree.nodes.adaptive_reasoning_tree.semantics import Semantics
from tests.graphs.adaptive_reasoning_tree import trees
from tests.graphs.adaptive_reasoning_tree.trees import ROUNDING

winners = (True, False, None)
BETTER: Mapping[bool | None, tuple[bool | None, ...]] = {False: (None, True), None: (True,), True: ()}
"""The winners that are better for the supporter."""
Made = Sequence[Comparison]


def tree(*taus: float, parent: str = "0", root: float = 0.5) -> list[Argument]:
    """As many supporters as attackers below ``parent``: the claim, or the attacker x of it."""
    half = len(taus) // 2
    ids = [f"s{n}" for n in range(half)] + [f"a{n}" for n in range(half)]
    below = [
        Argument(id, parent, "support" if id[0] == "s" else "attack", tau)
        for id, tau in zip(ids, taus, strict=True)
    ]
    above = [Argument("x", "0", "attack", 0.6)] if parent == "x" else []
    return [Argument("0", None, None, root), *above, *below]


def weigh(arguments: Sequence[Argument], made: Made, **how: Any) -> Weighed:
    parent = arguments[-1].parent
    assert parent is not None
    return trees.weigh(arguments, {parent: made}, **how)


def claim(arguments: Sequence[Argument], made: Made, **how: Any) -> float:
    return trees.claim(weigh(arguments, made, **how))


def favourable(made: Made) -> Iterator[list[Comparison]]:
    """Every tournament in which one comparison ended better for its supporter."""
    for place, comparison in enumerate(made):
        for winner in BETTER[comparison.won]:
            yield [*made[:place], comparison._replace(won=winner), *made[place + 1 :]]


EVEN = tree(0.5, 0.5, 0.5, 0.5)


def all_of_two_by_two() -> Iterator[list[Comparison]]:
    pairs = [*product(("s0", "s1"), ("a0", "a1"))]
    for ended in product(winners, repeat=4):
        yield [Comparison(*pair, winner) for pair, winner in zip(pairs, ended, strict=True)]


def lowering(rule: StrengthRule, **how: Any) -> int:
    """How many favourable moves among all tournaments of two by two lower the claim."""
    strength = {tuple(made): claim(EVEN, made, strength_rule=rule, **how) for made in all_of_two_by_two()}
    return sum(
        strength[tuple(after)] < strength[made] - ROUNDING for made in strength for after in favourable(made)
    )


@pytest.mark.parametrize("semantics", get_args(Semantics))
def test_no_flip_for_the_claim_lowers_it_in_any_tournament_of_two_by_two(semantics: Semantics) -> None:
    assert lowering("win_rate", semantics=semantics) == 0


DRAWS = 150
"""Random tournaments of three by three; some pairs are judged twice, and some never."""


def drawn(seed: int) -> tuple[list[Argument], list[Comparison], dict[str, Any], float]:
    """A tree with its comparisons and settings, and +1, or -1 where it stands below an attack."""
    random = Random(seed)
    parent, sign = random.choice([("0", 1), ("x", -1)])
    arguments = tree(*(random.random() for _ in range(6)), parent=parent, root=random.random())
    supporters, attackers = ("s0", "s1", "s2"), ("a0", "a1", "a2")
    made = [
        Comparison(*pair, random.choice(winners))
        for pair in product(supporters, attackers)
        for _ in range(random.choice([0, 1, 1, 1, 2]))
    ]
    how = {
        "blend": random.random(),
        "semantics": random.choice(get_args(Semantics)),
        "prune_below": random.choice([None, None, random.random() / 2]),
        "dropped": random.sample([*supporters, *attackers], random.choice([0, 0, 1, 2])),
    }
    return arguments, made, how, sign


def moves(arguments: Sequence[Argument], made: Made, **how: Any) -> Iterator[tuple[float, str]]:
    """How far a raised strength, and a drop, moves the claim toward the side of its argument."""
    before = claim(arguments, made, **how)
    dropped: list[str] = how.pop("dropped", [])
    for place, argument in enumerate(arguments):
        if argument.id in ("0", "x") or argument.id in dropped or argument.tau is None:
            continue
        toward = 1 if argument.stance == "support" else -1
        raised = [*arguments]
        raised[place] = argument._replace(tau=(1 + argument.tau) / 2)
        moved = claim(raised, made, dropped=dropped, **how) - before
        yield toward * moved, f"raise {argument.id}"
        moved = claim(arguments, made, dropped=[*dropped, argument.id], **how) - before
        yield -toward * moved, f"drop {argument.id}"


def test_raising_a_supporter_or_dropping_an_attacker_never_lowers_the_claim() -> None:
    """In all tournaments of two by two, and in the random ones of three by three."""
    for made in all_of_two_by_two():
        for moved, what in moves(tree(0.7, 0.2, 0.4, 0.9), made):
            assert moved >= -ROUNDING, (made, what)
    for seed in range(DRAWS):
        arguments, made, how, sign = drawn(seed)
        for moved, what in moves(arguments, made, **how):
            assert sign * moved >= -ROUNDING, (seed, what)


@pytest.mark.parametrize(
    ("made", "theta"),
    [
        ("", {}),
        ("s0>a0", {"s0": 1, "a0": 0}),
        ("s0=a0", {"s0": 0.5, "a0": 0.5}),
        ("s0>a0 s0>a1 s1>a0 s1<a1", {"s0": 1, "s1": 0.5, "a0": 0, "a1": 0.5}),
        ("s0>a0 s0=a1", {"s0": 0.75, "a0": 0, "a1": 0.5}),
        ("s0>a0 s0>a0 s0<a1", {"s0": 0.5, "a0": 0, "a1": 1}),
    ],
)
@pytest.mark.parametrize("ties", ["ignore", "half"])
def test_theta_is_the_mean_over_the_opponents_that_were_met_and_a_tie_is_half(
    made: str, theta: dict[str, float], ties: str
) -> None:
    signs: dict[str, bool | None] = {">": True, "<": False, "=": None}
    comparisons = [Comparison(one[:2], one[3:], signs[one[2]]) for one in made.split()]
    weights = weigh(EVEN, comparisons, ties=ties).weights
    found = {id: weight.theta for id, weight in weights.items() if weight.theta is not None}
    assert found == theta
    for id in {"s0", "s1", "a0", "a1"} - {*theta}:
        assert weights[id].blended == 0.5
