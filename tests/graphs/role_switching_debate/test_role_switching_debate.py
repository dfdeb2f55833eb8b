"""Who debates what in a role-switching debate, how many calls it takes, and what is ruled."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import permutations, product
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.graphs.role_switching_debate.graph import graph
from dialectree.nodes.role_switching_debate.candidates import SameAnswerReply
from dialectree.nodes.role_switching_debate.debater import ProposalReply
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply, DistractorReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.role_switching_debate.state import Question
from dialectree.protocols.protocol import method, methods
from tests.graphs.role_switching_debate.switching import (
    FIRST,
    FIVE,
    QUESTION,
    THREE,
    TWO,
    Cost,
    blocks_of,
    choose,
    context,
    cost,
    debaters,
    decide,
    direct,
    listed,
    of,
    rule,
    rule_for,
    rule_label,
    sides,
    within,
)
from tests.scripted import Asked, Said, ScriptedModel, no_reply

EVALUATIONS = ("oracle", "balanced")


def test_the_record_keeps_every_turn_in_the_order_of_the_phases() -> None:
    done = decide(debaters())
    said = [(turn.speaker, turn.phase) for turn in done.node().transcript]
    assert said == [
        ("a", "proposals"),
        ("b", "proposals"),
        ("a", "cross_examination"),
        ("b", "cross_examination"),
        ("a", "role_switch"),
        ("b", "role_switch"),
        ("a", "uncertainty"),
        ("b", "uncertainty"),
        ("judge", "judgment"),
    ]
    root = done.node()
    assert (root.kind, root.text, root.status, root.provenance) == (
        "leaf", QUESTION, "answered", ["0"],
    )  # fmt: skip
    assert root.verdict is not None
    assert root.verdict.winner == "B"


def test_a_turn_says_what_its_speaker_defends_and_the_switch_what_it_defends_then() -> None:
    turns = decide(debaters()).node().transcript
    own = {turn.speaker: turn.side for turn in turns if turn.phase == "proposals"}
    assert set(own.values()) == set(TWO)
    for turn in turns[:8]:
        other = own["b" if turn.speaker == "a" else "a"]
        assert turn.side == (other if turn.phase == "role_switch" else own[turn.speaker])


# How many calls, and how many of them must follow one another.


@pytest.mark.parametrize(
    ("method", "settings", "expected"),
    [
        ("rsd", {}, Cost(9, 6)),
        ("rsd", {"cross_examination": "simultaneous"}, Cost(9, 5)),
        ("no_role_switch", {}, Cost(7, 5)),
        ("no_uncertainty", {}, Cost(7, 5)),
        ("basic", {}, Cost(5, 4)),
        ("basic", {"cross_examination": "simultaneous"}, Cost(5, 3)),
        ("rsd", {"judge_orders": "both"}, Cost(10, 6)),
        ("basic", {"judge_orders": "both"}, Cost(6, 4)),
        ("rsd", {"candidates": "knockout"}, Cost(9, 6)),
        ("rsd", {"candidates": "oracle"}, Cost(9, 6)),
        ("rsd", {"candidates": "balanced", "distractor": "random"}, Cost(9, 6)),
        ("rsd", {"candidates": "oracle", "distractor": "model"}, Cost(10, 7)),
    ],
)
def test_two_options_cost_what_the_protocol_says(
    method: str, settings: dict[str, Any], expected: Cost
) -> None:
    done = decide(debaters(), gold="B", graph=methods()[method].graph(), **settings)
    assert cost(done) == expected
    assert done.verdict.label == "B"
    assert no_request_twice(done)


def no_request_twice(done: Any) -> bool:
    keys = Counter(call.key for call in done.calls)
    return max(keys.values()) == 1


@pytest.mark.parametrize("method", ["rsd", "no_role_switch", "no_uncertainty", "basic"])
@pytest.mark.parametrize(("options", "rounds"), [(THREE, 2), (FIVE, 3)])
def test_a_knockout_takes_as_long_as_its_rounds(method: str, options: tuple[str, ...], rounds: int) -> None:
    calls, path = {"rsd": (9, 6), "basic": (5, 4)}.get(method, (7, 5))
    debates = len(options) - 1
    graph = methods()[method].graph()
    done = decide(debaters(), options, graph=graph, candidates="knockout")
    assert cost(done) == Cost(calls * debates, path * rounds)
    assert no_request_twice(done)
    both = decide(debaters(), options, graph=graph, candidates="knockout", judge_orders="both")
    assert cost(both) == Cost((calls + 1) * debates, path * rounds)


def test_a_knockout_of_26_options_takes_five_rounds() -> None:
    options = tuple(f"answer {n}" for n in range(26))
    done = decide(debaters(winner="answer 7"), options, candidates="knockout")
    assert cost(done) == Cost(25 * 9, 5 * 6)
    assert done.verdict.answer == "answer 7"
    rounds = Counter(done.node(debate).round for debate in done.node().children)
    assert rounds == {1: 13, 2: 6, 3: 3, 4: 2, 5: 1}


@pytest.mark.parametrize(("samples", "expected"), [(1, 1), (3, 3), (5, 5)])
def test_a_gate_that_does_not_agree_costs_its_samples_and_one_step(samples: int, expected: int) -> None:
    for settings, base in ({}, Cost(9, 6)), ({"cross_examination": "simultaneous"}, Cost(9, 5)):
        model = debaters()
        model.will_say_now(direct(TWO[0]), direct(TWO[1]))
        done = decide(model, gate=samples, **settings)
        assert done.verdict.label == ("A" if samples == 1 else "B")
        if samples == 1:
            assert cost(done) == Cost(1, 1)
        else:
            assert cost(done) == Cost(base.calls + expected, base.path + 1)
        assert no_request_twice(done)


def test_of_more_options_the_two_proposed_are_debated_and_a_second_choice_costs_one_call() -> None:
    model = debaters(winner="clay")
    model.will_say_now(choose("clay", "solar energy"), to=ProposalReply)
    done = decide(model, FIVE)
    assert (cost(done), done.verdict.label) == (Cost(9, 6), "D")
    assert set(sides(done).values()) == {"clay", "solar energy"}

    model.will_say_now(choose("clay", "clay", "sea water"), to=ProposalReply)
    done = decide(model, FIVE)
    assert (cost(done), done.verdict.label) == (Cost(10, 7), "D")
    assert sides(done) == {"a": "clay", "b": "sea water"}
    assert no_request_twice(done)


def test_an_open_question_costs_a_comparison_and_a_second_answer_where_both_are_the_same() -> None:
    model = debaters(winner="hay")
    model.will_say_now(choose("grass", "hay"), to=ProposalReply)
    done = decide(model, [])
    assert (cost(done), done.verdict.answer, done.verdict.label) == (Cost(10, 7), "hay", None)

    model.will_say_now(SameAnswerReply(same=True))
    model.will_say_now(choose("grass", "green grass", "hay"), to=ProposalReply)
    done = decide(model, [])
    assert (cost(done), sides(done)) == (Cost(11, 8), {"a": "grass", "b": "hay"})

    model.will_say_now(choose("grass", " Grass ", "hay"), to=ProposalReply)
    before = len(of(model, SameAnswerReply))
    done = decide(model, [])
    assert (cost(done), sides(done)) == (Cost(10, 7), {"a": "grass", "b": "hay"})
    assert len(of(model, SameAnswerReply)) == before


# What is drawn


def test_balanced_draws_who_holds_the_gold_answer_and_whose_words_are_read_first() -> None:
    seen: Counter[tuple[str, str, str]] = Counter()
    for seed, gold in product(range(14), "AB"):
        model = debaters()
        done = decide(model, gold=gold, seed=seed, candidates="balanced")
        text = TWO["AB".index(gold)]
        holder = next(who for who, answer in sides(done).items() if answer == text)
        (judge,) = of(model, JudgeReply)
        shown = list(listed(judge, "candidates").values())
        assert blocks_of(judge)[0] == f"{'AB'[TWO.index(shown[0])]}, proposal"
        seen[gold, holder, "first" if shown[0] == text else "second"] += 1
    assert len(seen) == 8


# Evaluations: gold against a distractor


def test_in_an_oracle_debate_a_holds_the_gold_answer_and_b_the_distractor() -> None:
    for place, gold in enumerate("ABCDE"):
        done = decide(debaters(winner=FIVE[place]), FIVE, gold=gold, candidates="oracle")
        assert sides(done) == {"a": FIVE[place], "b": FIVE[0 if place else 1]}
        assert done.verdict.label == gold
        assert "a debate with the gold answer in it is binary: chance is 50%" in done.verdict.notes


def test_a_model_that_chooses_the_distractor_sees_the_wrong_options_only() -> None:
    model = debaters(winner=FIVE[2])
    model.will_say_now(DistractorReply(label="e"))
    done = decide(model, FIVE, gold="c", candidates="oracle", distractor="model")
    (call,) = of(model, DistractorReply)
    assert listed(call, "options") == {"A": FIVE[0], "B": FIVE[1], "D": FIVE[3], "E": FIVE[4]}
    assert FIVE[2] not in call.prompt
    assert sides(done) == {"a": FIVE[2], "b": FIVE[4]}


def test_without_a_distractor_there_is_no_debate() -> None:
    model = debaters()
    model.will_say_now(no_reply(), to=DistractorReply)
    done = decide(model, FIVE, gold="C", candidates="balanced", distractor="model")
    assert (done.verdict.answer, done.node().status, len(done.calls)) == (None, "missing", 1)
    assert done.verdict.notes[0] == "there is no distractor to debate against"
    assert [failure.role for _, failure in done.failures] == ["debater_a"]


@pytest.mark.parametrize("candidates", EVALUATIONS)
@pytest.mark.parametrize("seed", range(4))
def test_the_gold_answer_is_one_debaters_candidate_and_nobody_is_told_that_it_is_right(
    candidates: str, seed: int
) -> None:
    def asked(gold: str) -> list[Asked]:
        model = debaters()
        decide(model, gold=gold, candidates=candidates, seed=seed)
        return model.calls

    for call in asked("A") + asked("B"):
        assert not {"gold", "distractor", "correct"} & set(call.prompt.lower().split())
    proposals = [within(call, "answer") for call in asked("A") if call.kind == "ProposalReply"]
    assert sorted(proposals) == sorted(TWO)

    def by_speaker(gold: str) -> dict[tuple[str, str], str]:
        """What each holder of an answer reads, but for who is called a and who b."""
        return {
            (call.kind, within(call, "answer")): call.prompt
            for call in asked(gold)
            if call.kind == "ProposalReply"
        }

    assert by_speaker("A") == by_speaker("B")


# Knockout


@pytest.mark.parametrize("seed", range(4))
def test_in_a_knockout_winners_meet_until_one_is_left(seed: int) -> None:
    done = decide(debaters(winner="clay"), FIVE, candidates="knockout", seed=seed)
    root = done.node()
    assert (root.kind, root.children) == ("knockout", ["0.0", "0.1", "0.2", "0.3"])
    left, notes = {*FIVE}, [*root.notes]
    for number, debates in enumerate((["0.0", "0.1"], ["0.2"], ["0.3"]), 1):
        pairs = [sides(done, debate) for debate in debates]
        meeting = [option for pair in pairs for option in pair.values()]
        assert left.issuperset(meeting) and len({*meeting}) == 2 * len(debates)
        assert [done.node(debate).round for debate in debates] == [number] * len(debates)
        for debate, pair in zip(debates, pairs, strict=True):
            verdict = done.node(debate).verdict
            assert verdict is not None
            left -= {*pair.values()} - {verdict.answer}
            met = {" against ".join(order) for order in permutations(letters(pair))}
            assert any(each in notes[number - 1] for each in met)
    assert left == {"clay"}
    assert "has a bye" in notes[0] and "has a bye" in notes[1] and "bye" not in notes[2]
    byes = [note.rpartition("; ")[2][0] for note in notes[:2]]
    assert len({*byes}) == 2  # nobody rests twice in a row
    assert (done.verdict.answer, done.verdict.label) == ("clay", "D")
    assert root.verdict is not None
    assert (root.verdict.winner, root.provenance) == ("D", root.children)


def letters(pair: dict[str, str]) -> list[str]:
    return ["ABCDE"[FIVE.index(option)] for option in pair.values()]


@pytest.mark.parametrize(
    ("lost", "held", "ended"),
    [
        (("0.0",), 2, "round 1: 0.0 had no winner"),
        (("0.0", "0.1"), 2, "round 1: 0.0, 0.1 had no winner"),
        (("0.1",), 2, "round 1: 0.1 had no winner"),
        (("0.2",), 3, "round 2: 0.2 had no winner"),
        (("0.3",), 4, "round 3: 0.3 had no winner"),
    ],
)
def test_a_knockout_ends_with_the_round_of_an_unresolved_debate(
    lost: tuple[str, ...], held: int, ended: str
) -> None:
    model = debaters()
    for debate in lost:
        model.will_say_now(lambda call: rule(min(listed(call, "candidates")), "?"), to=JudgeReply, at=debate)
    done = decide(model, FIVE, candidates="knockout")
    debates = [f"0.{n}" for n in range(held)]
    assert done.node().children == debates
    assert len(done.calls) == 9 * held + len(lost)  # one repair each
    assert (done.verdict.answer, done.node().status) == (None, "missing")
    assert done.verdict.notes[-1] == f"the knockout ended in {ended}"
    missing = [debate for debate in debates if done.node(debate).status == "missing"]
    assert missing == [*lost]


def test_debates_of_a_knockout_do_not_read_one_another() -> None:
    model = debaters()
    decide(model, THREE, candidates="knockout")
    for call in of(model, JudgeReply):
        assert call.prompt.count(", proposal\n") == 2
        pair = set(listed(call, "candidates").values())
        (out,) = set(THREE) - pair
        assert out not in call.prompt


# Gate


def test_direct_answers_that_agree_spare_the_debate() -> None:
    model = debaters()
    model.will_say_now(direct("B"), direct("plant materials"), direct("B: Plant  materials"))
    done = decide(model, gate=3)
    assert cost(done) == Cost(3, 1)
    assert done.verdict.model_dump() == {
        "answer": "plant materials",
        "label": "B",
        "confidence": None,
        "confidence_source": None,
        "rationale": "It is known.",
        "notes": ["no debate: 3 direct answers agreed"],
    }
    assert done.node().status == "answered"
    assert [turn.phase for turn in done.node().transcript] == ["direct"] * 3
    alone = decide(debaters(), gate=1)
    assert alone.verdict.notes == ["no debate: 1 direct answer agreed"]


@pytest.mark.parametrize("lost", ["a", "b"])
def test_without_a_proposal_of_either_side_nobody_goes_on(lost: str) -> None:
    def proposed(call: Asked) -> Said:
        return no_reply() if call.speaker == lost else choose("grass", "hay")(call)

    model = debaters()
    model.will_say_now(proposed, to=ProposalReply)
    done = decide(model, [])
    assert done.verdict.answer is None
    assert "a part that the debate needs failed for good" in done.verdict.notes
    assert {call.phase for call in done.calls} == {"proposals"}


def test_a_failed_sample_is_no_agreement() -> None:
    model = debaters()
    model.will_say_now(direct(TWO[1]), no_reply(), direct(TWO[1]), to=DirectReply)
    done = decide(model, gate=3)
    assert cost(done) == Cost(12, 7)
    assert done.verdict.answer == TWO[1]
    assert [(f.role, f.speaker) for _, f in done.failures] == [("debater_a", "2")]


@pytest.mark.parametrize(("second", "debated"), [("Grass ", False), ("grass.", True), ("hay", True)])
def test_the_gate_of_an_open_question_compares_words(second: str, debated: bool) -> None:
    model = debaters(winner="hay")
    model.will_say_now(direct("grass"), direct(second))
    model.will_say_now(choose("grass", "hay"), to=ProposalReply)
    done = decide(model, [], gate=2)
    assert (done.verdict.answer, done.verdict.label) == ("hay" if debated else "grass", None)
    assert ("no debate" in done.verdict.notes[0]) != debated


def test_a_gate_before_a_knockout_or_an_evaluation_spares_it_too() -> None:
    for settings in ({"candidates": "knockout"}, {"candidates": "oracle", "distractor": "model"}):
        done = decide(debaters(), THREE, gold="A", gate=3, **settings)
        assert (cost(done), done.verdict.label) == (Cost(3, 1), "B")


# Verdicts


def test_both_orders_that_agree_settle_it_and_name_both_confidences() -> None:
    model = debaters()
    model.will_say_now(lambda call: rule("B", TWO[1], 0.9 if first_is(call, FIRST) else 0.6), to=JudgeReply)
    done = decide(model, judge_orders="both")
    assert (done.verdict.label, done.verdict.confidence) == ("B", 0.6)
    note = "the judge's confidence in the two orders: 0.90 and 0.60; the lower one counts"
    assert note in done.verdict.notes
    assert done.verdict.rationale == "Because.\nBecause."


def first_is(call: Asked, who: str) -> bool:
    return within(call, "transcript").startswith(f"debater {who}, proposal")


def test_both_orders_that_differ_are_position_bias_and_unresolved() -> None:
    model = debaters()
    model.will_say_now(lambda call: rule_label("A" if first_is(call, FIRST) else "B")(call), to=JudgeReply)
    done = decide(model, judge_orders="both")
    assert (done.verdict.answer, done.verdict.label, done.verdict.confidence) == (None,) * 3
    bias = "position bias: the judge ruled otherwise when the sides were swapped"
    assert done.verdict.notes[0] == bias
    assert bias in done.node().notes
    assert len(done.calls) == 10


@pytest.mark.parametrize("mended", [True, False])
@pytest.mark.parametrize("unmapped", ["AB", "A", "B"])
def test_of_both_orders_each_one_that_is_unmapped_is_asked_once_more(unmapped: str, mended: bool) -> None:
    def ruled(call: Asked) -> JudgeReply:
        wrong = any(first_is(call, who) for who in unmapped)
        again = "<ruling>" in call.prompt
        return rule("A", TWO[1]) if wrong and not (again and mended) else rule("B", TWO[1])

    model = debaters()
    model.will_say_now(ruled, to=JudgeReply)
    done = decide(model, judge_orders="both")
    assert cost(done) == Cost(10 + len(unmapped), 7)
    assert done.verdict.label == ("B" if mended else None)
    if not mended:
        assert "do not name the same candidate" in done.verdict.notes[0]


def test_uncertain_is_a_label_only_where_it_is_allowed() -> None:
    model = debaters()
    model.will_say_now(rule("uncertain", "uncertain"))
    done = decide(model, allow_uncertain=True)
    assert (done.verdict.label, done.verdict.answer) == ("uncertain", None)
    assert (done.node().status, len(done.calls)) == ("missing", 9)
    assert done.verdict.notes[0] == "the judge ruled that neither side convinced"
    done = decide(model)
    assert (done.verdict.label, done.verdict.answer) == (None, None)
    assert len(done.calls) == 11
    assert [failure.role for _, failure in done.failures] == ["judge"]


def test_a_judge_without_a_confidence_leaves_none_and_nobody_is_its_source() -> None:
    done = decide(debaters(), roles={"judge": judge_of(rule_for(TWO[1], None))})
    assert (done.verdict.label, done.verdict.confidence) == ("B", None)
    assert done.verdict.confidence_source is None


def judge_of(say: Any) -> ScriptedModel:
    model = ScriptedModel()
    model.will_say(say, to=JudgeReply)
    return model


def test_a_loser_who_was_surer_than_the_winner_is_remarked_on() -> None:
    remark = "the loser disclosed more confidence than the winner"
    for seed, winner in product(range(4), TWO):
        done = decide(debaters(winner=winner), seed=seed)
        surer = TWO["AB".index(FIRST)]  # says 80 %
        assert (remark in done.verdict.notes) == (surer != winner)
        assert (remark in done.node().notes) == (surer != winner)


# Input


@pytest.mark.parametrize(
    ("options", "wrong"), [(["grass"], "one option is no choice"), ("grass or hay", "give a list of texts")]
)
@pytest.mark.parametrize("candidates", ["proposed", "knockout"])
def test_options_that_are_none_are_refused_before_anything_is_paid(
    options: Any, wrong: str, candidates: str
) -> None:
    model = debaters()
    asked: Question = {"question": QUESTION, "options": options}
    with pytest.raises(InputError, match=wrong):
        asyncio.run(graph.ainvoke(asked, context=context(model, candidates=candidates)))
    with pytest.raises(InputError, match=wrong):
        method("rsd").prepare(asked, context(model, candidates=candidates))
    assert model.calls == []


@pytest.mark.parametrize("candidates", EVALUATIONS)
@pytest.mark.parametrize(
    ("options", "gold", "wrong"),
    [
        (TWO, None, "where the gold answer is known"),
        (TWO, "", "where the gold answer is known"),
        (TWO, "C", "`gold` C: there is no such option"),
        (TWO, "plant materials", "there is no such option"),
        ((), "A", "there is no such option"),
    ],
)
def test_an_evaluation_is_refused_without_a_gold_answer(
    candidates: str, options: tuple[str, ...], gold: str | None, wrong: str
) -> None:
    with pytest.raises(InputError, match=wrong):
        decide(debaters(), options, gold=gold, candidates=candidates)


def test_a_knockout_needs_options() -> None:
    with pytest.raises(InputError, match="there are no options"):
        decide(debaters(), (), candidates="knockout")
