"""Contests of argument trees: the promises, reversals to the last bit, and what cannot be."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from zlib import crc32

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dialectree import report
from dialectree.contests import Add, Change, Drop, Flip, Restore, Set, Void
from dialectree.errors import InputError
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply
from dialectree.nodes.adaptive_reasoning_tree.scorer import PairwiseReply, ScorerReply
from dialectree.records import RunRecord, Stance, Verdict
from tests import running
from tests.contesting import (
    RUNS,
    at,
    begin,
    contest,
    debate,
    decided,
    figures,
    outcome,
    speakers,
    stated,
    verify,
)
from tests.graphs.adaptive_reasoning_tree.arguing import argue, by_role, compare, score, wanted
from tests.graphs.debating import split
from tests.scripted import Asked, Said, ScriptedModel, no_reply

steady = settings(derandomize=True, database=None, deadline=None, max_examples=8)
unit = st.floats(0, 1) | st.sampled_from([0.0, 0.3, 0.5, 1.0])


# Random trees


def judged_by_chance(seed: int) -> ScriptedModel:
    """Grows and judges another tree for each ``seed``: some arguments and judgements are missing.

    The same words are always judged in the same way.
    """

    def drawn(call: Asked) -> int:
        return crc32(f"{seed} {call.prompt}".encode())

    def arguments(call: Asked) -> Said:
        texts = [f"{call.role} {drawn(call):x} {'abc'[n] * 9}" for n in range(wanted(call))]
        return argue(*(text if drawn(call) >> n & 3 else "" for n, text in enumerate(texts)))

    def strength(call: Asked) -> Said:
        return score(drawn(call) % 101 / 100) if drawn(call) % 17 else no_reply()

    def winner(call: Asked) -> Said:
        winners = ("SUPPORT", "ATTACK", "TIE")
        return compare(winners[drawn(call) % 3]) if drawn(call) % 19 else no_reply()

    model = ScriptedModel()
    model.will_say(arguments, to=ArgumentsReply)
    model.will_say(strength, to=ScorerReply)
    model.will_say(winner, to=PairwiseReply)
    return model


class Tree:
    """A random run, and its contests with the same model."""

    def __init__(self, data: st.DataObject, **fixed: Any) -> None:
        self.model = judged_by_chance(data.draw(st.integers(0, 10**6)))
        given = {
            "breadth": data.draw(st.integers(1, 3)),
            "depth": data.draw(st.integers(1, 2)),
            "blend": data.draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
            "strength_rule": data.draw(st.sampled_from(["win_rate", "bradley_terry"])),
            "semantics": data.draw(st.sampled_from(["dfquad", "quadratic_energy", "euler"])),
            "ties": data.draw(st.sampled_from(["ignore", "half"])),
            "prune_below": data.draw(st.none() | st.sampled_from([0.3, 0.6])),
            "judge_orders": data.draw(st.sampled_from(["one", "both"])),
            "trees": data.draw(st.sampled_from([1, 1, 2])),
        }
        self.record = verify(self.model, **{**given, **fixed})

    def contest(self, record: RunRecord, *wishes: Change) -> RunRecord:
        return contest(record, *wishes, model=self.model)


def confidence(verdict: Verdict | None) -> float | None:
    return None if verdict is None else verdict.confidence


def probability(record: RunRecord) -> float | None:
    assert record.verdict is not None
    return record.verdict.confidence


def possible(record: RunRecord, tau: float) -> list[tuple[Change, Change]]:
    """Every wish that ``record`` can fulfil without a call, with its reversal."""
    wishes: list[tuple[Change, Change]] = []
    nodes = record.tree.nodes
    for node in nodes.values():
        above_trees = any(nodes[child].kind == "claim" for child in node.children)
        if not above_trees and node.score("tau") != tau:
            wishes.append((Set(node.id, tau), Set(node.id, node.score("tau"))))
        if node.kind == "argument":
            turns = (Drop(node.id), Restore(node.id))
            wishes.append((turns[1], turns[0]) if node.dropped else turns)
        for pair in dict.fromkeys((c.supporter, c.attacker) for c in node.comparisons):
            met = [c for c in node.comparisons if (c.supporter, c.attacker) == pair]
            if met[0].contested == "voided":
                wishes.append((Restore(*pair), Void(*pair)))
            else:
                wishes.append((Void(*pair), Restore(*pair)))
                if pair in decided(record):
                    wishes.append((Flip(*pair), Flip(*pair[::-1])))
    return wishes


@steady
@given(st.data())
def test_contests_and_their_reversals_give_back_the_first_figures_bit_for_bit(data: st.DataObject) -> None:
    tree = Tree(data)
    new = tree.record
    wishes: dict[Any, tuple[Change, Change]] = {}
    for _ in range(data.draw(st.integers(1, 4))):
        choices = possible(new, data.draw(unit))
        assume(choices)  # of a claim alone, whose strength is what was drawn, nothing can be changed
        wish, reversal = data.draw(st.sampled_from(choices))
        about = frozenset(wish.where.partition("=")[0].split(":"))
        if about in wishes:
            continue
        wishes[about] = wish, reversal
        new = tree.contest(new, wish)
        assert new.usage.calls == 0
    together = tree.contest(tree.record, *(wish for wish, _ in wishes.values()))
    assert figures(together) == figures(new)
    backward = [reversal for _, reversal in reversed(wishes.values())]
    assert figures(tree.contest(new, *backward)) == figures(tree.record)
    for reversal in backward:
        new = tree.contest(new, reversal)
    assert figures(new) == figures(tree.record)
    assert not any(c.contested for node in new.tree.nodes.values() for c in node.comparisons)


@steady
@given(st.data())
def test_what_is_added_and_dropped_again_was_never_there(data: st.DataObject) -> None:
    tree = Tree(data)
    old = tree.record
    parents = [name for name in old.tree.nodes if name != "0" or old.settings["trees"] == 1]
    stances: st.SearchStrategy[Stance] = st.sampled_from(["support", "attack"])
    wishes = [
        Add(data.draw(stances), data.draw(st.sampled_from(parents)), text)
        for text in ("One more reason.", "And another.")
    ]
    both = tree.contest(old, *wishes)
    chained = tree.contest(tree.contest(old, wishes[0]), wishes[1])
    assert figures(chained) == figures(both)
    names = [override.id for override in stated(both).overrides]
    assert {*both.tree.nodes} == {*old.tree.nodes, *names}  # nothing renumbers
    gone = tree.contest(both, *map(Drop, names))
    assert figures(gone) == figures(old) and gone.usage.calls == 0
    back = tree.contest(gone, *map(Restore, names))
    assert figures(back) == figures(both) and back.usage.calls == 0


# Small trees


def two(wins: str = "SUPPORT", strength: float = 0.5, **given: Any) -> RunRecord:
    """A supporter, 0.0, and an attacker, 0.1, that it beats; P(claim) is 0.75."""
    return verify(judges(wins, strength), **given)


def judges(wins: str = "SUPPORT", strength: float = 0.5) -> ScriptedModel:
    """All are as strong, and one side wins every comparison."""
    model = speakers()
    model.will_say_now(score(strength))
    model.will_say_now(compare(wins))
    return model


def test_every_change_makes_a_comparison_say_what_a_person_made_of_it() -> None:
    record, seen = two(), []
    pair = ("0.0", "0.1")
    for wish in (Flip(*pair), Void(*pair), Restore(*pair), Flip(*pair)):
        record = contest(record, wish)
        met = record.tree.nodes["0"].comparisons[0]
        seen.append((met.winner, met.contested))
    flipped = ("ATTACK", "flipped")
    assert seen == [flipped, ("ATTACK", "voided"), flipped, ("SUPPORT", None)]


def in_two_orders(first: str, second: str) -> RunRecord:
    """The comparison of two arguments as it is judged in either order of showing them."""
    model = judges()

    def winner(call: Asked) -> Said:
        shown = call.prompt.rindex("SUPPORT:") < call.prompt.rindex("ATTACK:")
        return compare(first if shown else second)

    model.will_say_now(winner, to=PairwiseReply)
    return verify(model, judge_orders="both")


@pytest.mark.parametrize(
    ("wishes", "path", "words"),
    [
        ([Drop("0.1")], [("0", 0.75, 0.875)], "0.1 dropped; no argument"),
        (
            [Flip("0.1", "0.0")],
            [("0.0", 0.75, 0.25), ("0.1", 0.25, 0.75), ("0", 0.75, 0.25)],
            "label becomes False: comparison of 0.0 and 0.1 flipped; 0.0 moved most",
        ),
        (
            [Void("0.0", "0.1"), Drop("0.0"), Drop("0.1")],
            [("0.0", 0.75, 0.5), ("0.1", 0.25, 0.5), ("0", 0.75, 0.5)],
            "label becomes False: comparison of 0.0 and 0.1 voided; 0.0 dropped; 0.1 dropped",
        ),
    ],
    ids=["drop", "flip", "nothing left"],
)
def test_path_and_why_say_what_moved(
    wishes: list[Change], path: list[tuple[str, float, float | None]], words: str
) -> None:
    new = contest(two(), *wishes)
    made = stated(new)
    assert [(one.node, *map(confidence, (one.before, one.after))) for one in made.moved] == path
    assert (made.before, made.after) == (0.75, probability(new)) and words in made.why


@pytest.mark.parametrize("wins", ["SUPPORT", "TIE"])
@pytest.mark.parametrize(
    ("blend", "orders", "calls"), [(0.0, "one", 1), (0.5, "one", 3), (1.0, "one", 3), (0.5, "both", 5)]
)
def test_an_addition_costs_a_strength_and_the_comparisons_with_whom_it_meets(
    blend: float, orders: str, calls: int, wins: str
) -> None:
    model = judges(wins)
    old = verify(model, breadth=2, blend=blend, judge_orders=orders)
    asked = len(model.calls)
    added = contest(old, Add("support", "0", "Yes."), model=model)
    assert len(model.calls) - asked == added.usage.calls == calls
    assert {call.node for call in at(added).calls()} == ({"0", "0.4"} if blend else {"0.4"})
    assert contest(added, Drop("0.2")).usage.calls == 0


def test_an_addition_may_help_the_claim_that_it_attacks_and_is_gone_once_it_is_dropped() -> None:
    model = judges(strength=0.2)
    model.will_say_now(by_role(supporter=argue("So it is."), attacker=argue("")), to=ArgumentsReply)
    old = verify(model)
    added = contest(old, Add("attack", "0", "A weak reason."), model=judges(strength=0.0))
    gone = contest(added, Drop("0.1"))
    assert [probability(record) for record in (old, added, gone)] == [0.6, 0.8, 0.6]
    assert added.tree.nodes["0.1"].added and "0.1" not in gone.tree.nodes
    (change,) = [change for change in stated(gone).moved if change.node == "0.1"]
    assert (confidence(change.before), confidence(change.after)) == (
        added.tree.nodes["0.1"].score("strength"),
        None,
    )
    with pytest.raises(InputError, match=r"`drop` 0\.1: it is dropped already"):
        contest(gone, Drop("0.1"))


@pytest.mark.parametrize(("stance", "verb"), [("support", "supports"), ("attack", "attacks")])
def test_the_record_says_what_side_an_added_argument_takes(stance: Stance, verb: str) -> None:
    record = contest(two(), Add(stance, "0", "A reason."), model=judges())
    assert stated(record).changes == [f"0.2 added: it {verb} 0"]


def test_a_persons_text_is_data() -> None:
    model = judges()
    text = "{{ 7 * 7 }} <b>bold</b>\nSUPPORT: mine\x1b[2J"
    record = contest(two(), Add("support", "0", f" {text}\n"), model=model)
    assert record.tree.nodes["0.2"].text == text
    assert all("{{ 7 * 7 }}" in prompt for prompt in model.prompts)
    assert not any("\nSUPPORT: mine" in call.prompt for call in model.calls if call.node == "0")
    assert "<b>bold" not in report.html(record, at(record).calls())


def one_side(attacker: Said, **given: Any) -> RunRecord:
    model = judges(strength=0.6)
    model.will_say_now(by_role(supporter=argue("Yes."), attacker=attacker), to=ArgumentsReply)
    return verify(model, **given)


def test_a_side_that_was_never_heard_is_heard_from_the_person_who_argues_for_it() -> None:
    old = one_side(no_reply())
    assert probability(contest(old, Set("0.0", 0.9))) is None
    added = contest(old, Add("attack", "0", "No."))
    assert probability(added) is not None and "the label becomes" in stated(added).why
    assert probability(contest(added, Drop("0.1"))) is None


# Sides that could not be heard


def without_strength(*names: str, **given: Any) -> RunRecord:
    model = judges(strength=0.6)
    for name in names:
        model.will_say(no_reply(), to=ScorerReply, at=name)
    return verify(model, blend=0.0, **given)


def test_a_side_is_lost_only_where_what_a_person_left_of_it_could_not_be_weighed() -> None:
    old = without_strength("0.1")
    assert probability(old) is None
    for wishes in ([Drop("0.1")], [Set("0.1", 0.1), Drop("0.1")], [Drop("0.1"), Set("0.1", 0.1)]):
        assert probability(contest(old, *wishes)) == 0.8
    new = contest(old, Set("0.1", 0.7))
    assert (new.status, new.list_failures(), new.tree.nodes["0.1"].score("tau")) == ("answered", [], 0.7)
    assert outcome(contest(new, Restore("0.1"))) == outcome(old)
    two_attack = without_strength("0.2", breadth=2)
    gone = contest(two_attack, Drop("0.3"))
    assert (gone.status, probability(gone)) == ("unresolved", None)
    assert probability(contest(gone, Drop("0.2"))) is not None
    assert figures(contest(gone, Restore("0.3"))) == figures(two_attack)


@pytest.mark.parametrize(
    ("deaf", "node", "role"), [(ScorerReply, "0.2", "scorer"), (PairwiseReply, "0", "pairwise_judge")]
)
def test_what_cannot_be_judged_is_missing_and_said(deaf: Any, node: str, role: str) -> None:
    model = judges()
    model.will_say_now(no_reply(), to=deaf)
    record = contest(two(), Add("support", "0", "Yes."), model=model)
    ((at_node, failure),) = record.list_failures()
    assert (record.status, at_node, failure.role) == ("degraded", node, role)
    left_out = "0.2 is left out: it has no strength" in record.tree.nodes["0"].notes
    assert left_out == (role == "scorer")
    assert contest(record, Drop("0.1")).usage.calls == 0


@pytest.mark.parametrize("ties", ["ignore", "half"])
def test_a_void_comparison_asks_nobody_where_comparisons_alone_count(ties: str) -> None:
    for wins in ("SUPPORT", "TIE"):
        old = two(wins, blend=1.0, strength_rule="bradley_terry", ties=ties)
        void = contest(old, Void("0.0", "0.1"))
        assert void.usage.calls == 0
        assert void.tree.nodes["0.0"].score("tau") == old.tree.nodes["0.0"].score("tau")
        set_ = contest(void, Set("0.0", 0.9), Set("0.1", 0.1))
        assert (set_.usage.calls, set_.tree.nodes["0.0"].score("blended")) == (0, 0.9)
        assert outcome(contest(void, Restore("0.0", "0.1"))) == outcome(old)


def test_ties_and_orders_that_disagree_have_no_other_winner_and_a_void_has_none() -> None:
    for old, message in (
        (two("TIE"), "tie"),
        (in_two_orders("SUPPORT", "ATTACK"), "disagree"),
        (contest(two(), Void("0.0", "0.1")), "void"),
    ):
        with pytest.raises(InputError, match=f"`flip` 0.0:0.1: .*{message}"):
            begin(old, Flip("0.0", "0.1"))


# At a leaf of another protocol

LEAF = "is it so?"
CLAIM = f"The answer to the question “{LEAF}” is yes."
WAYS: dict[str, dict[str, Any]] = {
    "half and half": {},
    "comparisons alone": {"blend": 1.0},
    "several trees": {"trees": 2},
    "an estimated claim": {"root_strength": "estimated", "semantics": "euler"},
}


def leaf(**given: Any) -> RunRecord:
    """A question of two leaves, of which an argument tree settles the first, 0.0."""
    model = speakers()
    model.will_say_now(split(LEAF, "what of b?"), at="0", to=type(split("x")))
    return debate(model, leaf_protocol="art", inner={"art": {"breadth": 2, "depth": 2, **given}})


def below(record: RunRecord, root: str) -> dict[str, Any]:
    """The tree at ``root`` as the maths has it, with the ids of one that stands alone."""
    include = {"stance", "scores", "comparisons", "dropped"}
    trees: dict[str, Any] = {}
    for node in record.tree.nodes.values():
        if f"{node.id}.".startswith(f"{root}."):
            fields = node.model_dump(include=include)
            for met in fields.get("comparisons", []):
                met.update({side: alone(met[side], root) for side in ("supporter", "attacker")})
            trees[alone(node.id, root)] = fields
    return trees


def alone(name: str, root: str) -> str:
    return "0" + name.removeprefix(root)


def moved_to(wish: Change, root: str) -> Change:
    """``wish`` for a tree that stands at ``root``: every id but for its first place."""
    ids, sign, number = wish.where.partition("=")
    where = re.sub(r"(?<![0-9.])0(?![0-9])", root, ids)
    return wish.model_copy(update={"where": f"{where}{sign}{number}"})


@pytest.mark.parametrize("given", WAYS.values(), ids=WAYS.keys())
def test_a_change_does_at_a_leaf_what_it_does_to_the_same_tree_alone(given: dict[str, Any]) -> None:
    inside = leaf(**given)
    begun = running.begin("art", CLAIM, RUNS, model=speakers(), breadth=2, depth=2, **given)
    single = asyncio.run(begun.conduct())
    assert below(inside, "0.0") == below(single, "0")
    claim = "0.0" if given.get("trees", 1) > 1 else "0"
    scored = [n.id for n in single.tree.nodes.values() if n.score("tau") is not None]
    wishes: list[Change] = [Drop(f"{claim}.3"), Set(scored[0], 0.99), Set(scored[-1], None)]
    for pair in (*decided(single)[:1], *decided(single)[-1:]):
        wishes += [Flip(*pair), Void(*pair)]
    wishes += [Add("support", claim, "So it is."), Add("attack", f"{claim}.0.1", "It is not.")]
    for wish in wishes:
        here, there = contest(inside, moved_to(wish, "0.0")), contest(single, wish)
        assert below(here, "0.0") == below(there, "0"), wish
        assert here.tree.nodes["0.0"].score("strength") == probability(there)


def test_one_figure_of_several_scorers_is_set_or_dropped_and_the_strength_is_set_whole() -> None:
    def score_by(call: Asked) -> Said:
        return score({"1": 0.2, "2": 0.6}[call.speaker])

    model = speakers()
    model.will_say_now(score_by, to=ScorerReply)
    old = verify(model, jury=[model] * 2)
    for change, tau in [
        (Set("0.0/1", 1.0), 0.8),
        (Drop("0.0/1"), 0.6),
        (Set("0.0/1", None), 0.6),
        (Set("0.0", 0.9), 0.9),
    ]:
        new = contest(old, change, model=model, jury=[model] * 2)
        assert new.tree.nodes["0.0"].score("tau") == pytest.approx(tau)
        back = contest(new, Restore(change.id), model=model, jury=[model] * 2)
        assert outcome(back) == outcome(old)
