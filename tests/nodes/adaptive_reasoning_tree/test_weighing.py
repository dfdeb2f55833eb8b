"""What weights come to: the verdict, its words, and where there is none."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dialectree.maths.argument_tree import Weight
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    Argument,
    Compared,
    Order,
    Scored,
    Stance,
    Winner,
)
from dialectree.nodes.adaptive_reasoning_tree.weighing import (
    Reckoning,
    Tree,
    disagreements,
    lost,
    mean,
    outcome,
    strongest,
    weigh,
)
from dialectree.records import Event
from tests.folding import fold

HOW = Reckoning(0.5, "win_rate", "dfquad", "ignore", None)


def argument(name: str, stance: Stance, text: str = "so") -> Argument:
    return {"id": name, "parent": name.rpartition(".")[0], "stance": stance, "text": text}


def compared(
    supporter: str, attacker: str, winner: Winner, order: Order = "support_first"
) -> Compared:
    return {
        "parent": supporter.rpartition(".")[0],
        "supporter": supporter,
        "attacker": attacker,
        "winner": winner,
        "order": order,
    }


def scores(**taus: float) -> list[Scored]:
    """By id, with an underscore in place of each dot and in front."""
    return [{"id": name[1:].replace("_", "."), "tau": tau} for name, tau in taus.items()]


PAIR = [argument("0.0", "support", "for it"), argument("0.1", "attack", "against it")]
KNOWN = scores(_0=0.5, _0_0=0.8, _0_1=0.4)
WON = [compared("0.0", "0.1", "SUPPORT")]


def test_the_order_of_what_is_known_changes_no_bit() -> None:
    chance = random.Random(1)
    arguments = [argument(f"0.{n}", "support" if n < 4 else "attack") for n in range(8)]
    known: list[Scored] = [{"id": a["id"], "tau": chance.random()} for a in arguments]
    known.append({"id": "0", "tau": 0.3})
    winners: tuple[Winner, ...] = ("SUPPORT", "ATTACK", "TIE")
    made = [
        compared(f"0.{s}", f"0.{a}", chance.choice(winners))
        for s in range(4) for a in range(4, 8)
    ]  # fmt: skip
    first = weigh("0", arguments, known, made, HOW).weights
    for _ in range(20):
        for things in (arguments, known, made):
            chance.shuffle(things)
        assert weigh("0", arguments, known, made, HOW).weights == first


def test_a_tree_is_weighed_from_what_belongs_to_it_alone() -> None:
    others = [argument("0.10.0", "support"), argument("0.10.1", "attack")]
    own = [argument("0.1.0", "support"), argument("0.1.1", "attack")]
    known = scores(_0_1=0.5, _0_10=0.5, _0_1_0=0.8, _0_1_1=0.4, _0_10_0=0.1, _0_10_1=0.9)
    made = [compared("0.1.0", "0.1.1", "SUPPORT"), compared("0.10.0", "0.10.1", "ATTACK")]
    tree = weigh("0.1", [*others, *own], known, made, HOW)
    assert [*tree.weights] == ["0.1", "0.1.0", "0.1.1"]
    assert tree == weigh("0.1", own, known, made[:1], HOW)


def test_a_disagreement_is_one_pair_with_two_winners_in_its_two_orders() -> None:
    made = [
        compared("0.0", "0.2", "SUPPORT"),
        compared("0.0", "0.2", "TIE", "attack_first"),
        compared("0.1", "0.2", "ATTACK"),
        compared("0.1", "0.2", "ATTACK", "attack_first"),
        compared("0.0.0", "0.0.1", "TIE"),
    ]
    assert disagreements(made) == {
        "0": "position bias: 1 of the pairs ended otherwise in the other order"
    }
    assert disagreements([]) == {}


@pytest.mark.parametrize(
    ("strengths", "expected"),
    [([0.25], 0.25), ([0.25, 0.75, 0.5], 0.5), ([0.5, None], 0.5), ([None], None), ([], None)],
)
def test_the_mean_of_an_ensemble_is_that_of_the_trees_that_stand(
    strengths: list[float | None], expected: float | None
) -> None:
    assert mean(strengths) == expected


def test_a_side_is_lost_where_none_of_its_arguments_has_a_strength() -> None:
    four = [*PAIR, argument("0.2", "attack"), argument("0.3", "support")]
    for known, expected in (
        (scores(_0=0.5, _0_0=0.8, _0_1=0.4, _0_2=0.4, _0_3=0.4), False),
        (scores(_0=0.5, _0_0=0.8, _0_2=0.4), False),
        (scores(_0=0.5, _0_0=0.8, _0_3=0.4), True),
        (scores(_0=0.5), True),
    ):
        assert lost("0", four, weigh("0", four, known, [], HOW)) == expected
    assert not lost("0", [], weigh("0", [], scores(_0=0.5), [], HOW))


def folded(told: list[Any]) -> Any:
    """The nodes as a record has them."""
    opened = [(name, "opened", {"text": "t", "depth": 0}) for name in ("0", "0.0", "0.1")]
    events = [
        Event.model_validate({"t": "", "run_id": "", "node": node, "kind": kind, "data": data})
        for node, kind, data in [*opened, *told]
    ]
    return fold(events)[0].nodes


def test_the_weights_are_told_and_then_the_claim_is_settled() -> None:
    came = outcome("0", [weigh("0", PAIR, KNOWN, WON, HOW)], PAIR, [])
    assert [(node, kind) for node, kind, _ in came.told] == [
        ("0", "scored"), ("0.0", "scored"), ("0.0", "settled"),
        ("0.1", "scored"), ("0.1", "settled"), ("0", "settled"),
    ]  # fmt: skip
    nodes = folded(came.told)
    assert (
        nodes["0"].score("strength") == nodes["0"].verdict.confidence == came.verdict["confidence"]
    )
    assert came.verdict["label"] == "True"


@pytest.mark.parametrize(
    ("known", "unheard"), [(KNOWN, ["0"]), (scores(_0=0.5, _0_0=0.8), []), (scores(_0_0=0.8), [])]
)
def test_a_claim_that_was_not_heard_or_weighed_has_no_probability_anywhere(
    known: list[Scored], unheard: list[str]
) -> None:
    came = outcome("0", [weigh("0", PAIR, known, [], HOW)], PAIR, unheard)
    assert (came.verdict["label"], came.verdict["confidence"]) == (None, None)
    nodes = folded(came.told)
    assert (nodes["0"].status, nodes["0"].score("strength"), nodes["0"].verdict) == (
        "missing",
        None,
        None,
    )


def test_a_claim_without_a_strength_of_its_own_says_so_and_its_arguments_keep_theirs() -> None:
    came = outcome("0", [weigh("0", PAIR, KNOWN[1:], WON, HOW)], PAIR, [])
    assert came.verdict["notes"] == ["the claim's own strength is not known; there is no verdict"]
    assert "No argument" not in str(came.verdict["rationale"])
    nodes = folded(came.told)
    assert (nodes["0"].status, nodes["0"].score("strength")) == ("missing", None)
    assert [nodes[name].score("strength") for name in ("0.0", "0.1")] == [0.9, 0.2]


def test_equal_sides_are_undecided_in_whatever_order_their_strengths_stand() -> None:
    taus = [0.1, 0.3, 0.1, 0.1, 0.1, 0.3]
    arguments = [argument(f"0.{n}", "support" if n < 3 else "attack") for n in range(6)]
    known: list[Scored] = [{"id": f"0.{n}", "tau": tau} for n, tau in enumerate(taus)]
    tree = weigh("0", arguments, [*known, {"id": "0", "tau": 0.5}], [], HOW)
    assert tree.weights["0"].strength != 0.5
    came = outcome("0", [tree], arguments, [])
    assert (came.verdict["confidence"], came.verdict["label"]) == (0.5, "False")
    assert came.verdict["notes"] == ["undecided: P(claim) is exactly 0.5"]
    assert folded(came.told)["0"].score("strength") == 0.5


def test_an_ensemble_whose_trees_balance_each_other_is_undecided() -> None:
    trees = [Tree({name: Weight(None, p, p, True)}, {}) for name, p in (("0.0", 0.1), ("0.1", 0.9))]
    assert outcome("0", trees, [], []).verdict["notes"] == ["undecided: P(claim) is exactly 0.5"]
    near = [Tree({"0": Weight(None, 0.5, 0.5 + 1e-9, True)}, {})]
    assert outcome("0", near, [], []).verdict["label"] == "True"


def test_a_part_of_the_tree_that_was_not_heard_takes_nothing_from_the_claim() -> None:
    heard = outcome("0", [weigh("0", PAIR, KNOWN, WON, HOW)], PAIR, [])
    assert outcome("0", [weigh("0", PAIR, KNOWN, WON, HOW)], PAIR, ["0.1"]) == heard


def test_the_explanation_names_the_strongest_on_each_side_of_the_claim_itself() -> None:
    arguments = [
        argument("0.0", "support", "weak"), argument("0.1", "support", "strong"),
        argument("0.1.0", "support", "strong, but below"),
        argument("0.2", "attack", "left out"),
    ]  # fmt: skip
    weights = {
        "0": Weight(None, 0.5, 0.5, True),
        "0.0": Weight(None, 0.2, 0.2, True),
        "0.1": Weight(None, 0.7, 0.7, True),
        "0.1.0": Weight(None, 0.9, 0.9, True),
        "0.2": Weight(None, 0.1, 0.1, False),
    }
    assert strongest(arguments, [Tree(weights, {})]) == (
        "The strongest argument for the claim (0.70): strong\nNo argument against the claim counts."
    )
    assert strongest([], [Tree({"0": Weight(None, 0.5, 0.5, True)}, {})]) is None


def test_of_equals_the_explanation_names_the_first() -> None:
    twins = [argument("0.0", "support", "first"), argument("0.1", "support", "second")]
    tree = weigh("0", twins, scores(_0=0.5, _0_0=0.6, _0_1=0.6), [], HOW)
    assert "first" in str(strongest(twins, [tree]))
