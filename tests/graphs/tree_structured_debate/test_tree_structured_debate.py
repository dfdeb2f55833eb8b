"""Who speaks in a tree-structured debate, and what is ruled."""

import asyncio
import json
import re
from itertools import pairwise
from zlib import crc32

import pytest

from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.models.asking import Asking
from dialectree.models.endpoints import Completion, Decoding
from dialectree.nodes.tree_structured_debate.complexity_evaluator import ComplexityReply
from dialectree.nodes.tree_structured_debate.decomposer import DecomposerReply
from dialectree.nodes.tree_structured_debate.leaf_debater import (
    DebaterReply,
    OpeningReply,
    first_claim,
)
from dialectree.nodes.tree_structured_debate.leaf_judge import LeafJudgeReply
from dialectree.nodes.tree_structured_debate.sides import Debater, concise_is_a, opener, side
from dialectree.nodes.tree_structured_debate.state import Statement
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisReply
from dialectree.protocol import WITHDRAWN
from tests.graphs.debating import (
    QUESTION,
    Debated,
    adebate,
    approve,
    choose,
    context,
    debate,
    debaters,
    rate,
    rate_all,
    revise,
    rule,
    split,
    write,
)
from tests.scripted import Asked, ScriptedModel

POLAR = "Is it so?"
DEBATERS: tuple[Debater, Debater] = ("A", "B")
SAYS = {"YES": "Yes, it is.", "NO": "No, it is not."}
EXPANSION = ["decomposer", "decomposition_judge", "complexity_evaluator"]


def test_a_question_goes_in_and_a_verdict_comes_out() -> None:
    model = debaters(2)
    out = asyncio.run(graph.ainvoke({"question": QUESTION}, context=context(model)))
    assert out == {
        "verdict": {
            "answer": "In the end, this.",
            "label": None,
            "rationale": "For these.",
            "confidence": pytest.approx(0.9 * 0.8),
            "confidence_source": "judges",
            "notes": [],
        }
    }


def test_a_split_question_is_decomposed_debated_judged_and_merged() -> None:
    done = debate(debaters(2))
    names = [*EXPANSION, "concise", "full", "concise", "full", "synthesis_judge", "answer_writer"]
    assert done.spoke("0") == names
    for leaf in ("0.0", "0.1"):
        first = opener(0, leaf, 1, done.node(leaf).text)
        second = "B" if first == "A" else "A"
        assert done.spoke(leaf) == [first, second] * 3 + ["leaf_judge"]
    root = done.node("0")
    assert (root.kind, root.children, root.status) == ("branch", ["0.0", "0.1"], "answered")
    assert [done.node(i).stopped for i in ("0.0", "0.1")] == ["max_depth"] * 2


# Expansion: decomposer, decomposition judge, complexity evaluator


def test_an_easy_question_stops_at_the_root_after_eleven_calls() -> None:
    done = debate(debaters(2, difficulty=0.74), "What is 2+2?", max_depth=3)
    assert done.usage.calls == 11
    assert (done.node().kind, done.node().stopped) == ("leaf", "below_threshold")
    assert set(done.tree.nodes) == {"0"}
    assert done.spoke()[:3] == EXPANSION


def test_a_single_leaf_is_not_synthesised_its_verdict_goes_to_the_writer() -> None:
    model = debaters()
    done = debate(model, max_depth=0)
    assert "SynthesisReply" not in model.asked
    assert model.asked.count("WriterReply") == 1
    assert done.verdict.confidence == 0.8
    assert "it was this" in model.prompts[-1]
    assert done.node().provenance == ["0"]


@pytest.mark.parametrize("difficulty", [0.75, 1.0])
def test_a_part_as_difficult_as_the_threshold_is_worth_a_split(difficulty: float) -> None:
    model = debaters()
    model.will_say_now(rate(0.0, difficulty), at="0")
    assert debate(model).node().kind == "branch"


def test_a_question_that_the_decomposer_finds_atomic_is_a_leaf_after_one_call() -> None:
    for reply in (split(stop=True), split("one?", stop=True), split("one?", "two?", stop=True)):
        model = debaters()
        model.will_say_now(reply, at="0")
        done = debate(model, max_depth=3)
        assert done.node().stopped == "decomposer_stop"
        assert done.usage.calls == 1 + 7 + 1


@pytest.mark.parametrize("profile", ["adaptive", "fixed", "safety"])
def test_fewer_than_two_children_make_a_leaf_in_every_profile(profile: str) -> None:
    model = debaters()
    model.will_say_now(split("only one?"), at="0")
    done = debate(model, depth_profile=profile, max_depth=3)
    assert (done.node().kind, done.node().stopped) == ("leaf", "too_few_children")
    assert done.usage.calls == 1 + 7 + 1


def test_a_split_that_the_judge_takes_back_makes_a_leaf() -> None:
    model = debaters()
    model.will_say_now(revise("only one?"))
    done = debate(model)
    assert (done.node().stopped, done.usage.calls) == ("too_few_children", 2 + 7 + 1)


def test_fixed_depth_ignores_stop_where_there_are_children_and_asks_no_evaluator() -> None:
    model = debaters()
    model.will_say_now(split("one?", "two?", stop=True))
    done = debate(model, depth_profile="fixed", max_depth=None)
    assert "ComplexityReply" not in model.asked
    assert {node.depth for node in done.tree.nodes.values() if node.kind == "leaf"} == {2}
    assert len(done.tree.nodes) == 7


def test_safety_does_not_stop_above_its_floor_and_is_adaptive_below_it() -> None:
    model = debaters(2, difficulty=0.1)
    model.will_say_now(split("one?", "two?", stop=True), at="0")
    done = debate(model, depth_profile="safety", max_depth=3)
    assert done.node().kind == "branch"
    assert {done.node(i).stopped for i in ("0.0", "0.1")} == {"below_threshold"}


@pytest.mark.parametrize(("given", "floor"), [(0, 1), (1, 1), (2, 2), (5, 3)])
def test_the_floor_of_safety_is_one_at_least_and_the_depth_limit_at_most(
    given: int, floor: int
) -> None:
    done = debate(debaters(2, difficulty=0.1), depth_profile="safety", min_depth=given, max_depth=3)
    assert {node.depth for node in done.tree.nodes.values() if node.kind == "leaf"} == {floor}


def test_other_profiles_have_no_floor() -> None:
    done = debate(debaters(2, difficulty=0.1), min_depth=3, max_depth=3)
    assert done.node().kind == "leaf"


def test_approve_keeps_the_decomposers_list_whatever_the_judge_repeats() -> None:
    model = debaters()
    model.will_say_now(split("one?", "two?"))
    reply = approve().model_copy(update={"children": revise("else?", "other?").children})
    model.will_say_now(reply)
    done = debate(model)
    assert [done.node(i).text for i in ("0.0", "0.1")] == ["one?", "two?"]


def test_revise_takes_the_judges_list_and_the_evaluator_rates_that() -> None:
    model = debaters()
    model.will_say_now(revise("uno?", "due?", "tre?"))
    done = debate(model)
    assert [node.text for node in done.tree.nodes.values()] == [QUESTION, "uno?", "due?", "tre?"]
    evaluator = next(call for call in model.calls if call.role == "complexity_evaluator")
    assert "c3: tre?" in evaluator.prompt


def test_adaptive_keeps_the_hardest_children_in_their_order() -> None:
    model = debaters()
    model.will_say_now(split("a?", "b?", "c?", "d?", "e?", "f?"))
    model.will_say_now(rate(0.1, 0.9, 0.3, 0.8, 0.2, 0.95))
    done = debate(model)
    assert [done.node(i).text for i in done.node().children] == ["b?", "c?", "d?", "f?"]


def test_fixed_depth_keeps_the_first_children() -> None:
    model = debaters()
    model.will_say_now(split("a?", "b?", "c?", "d?", "e?", "f?"))
    done = debate(model, depth_profile="fixed", max_children=3)
    assert [done.node(i).text for i in done.node().children] == ["a?", "b?", "c?"]


@pytest.mark.parametrize(
    ("said", "difficulty", "note"),
    [
        ("atomic", 0.9, "the evaluator said atomic; its scores say decompose"),
        ("decompose", 0.2, "the evaluator said decompose; its scores say atomic"),
    ],
)
def test_the_scores_decide_and_a_mismatch_with_the_evaluators_word_is_recorded(
    said: str, difficulty: float, note: str
) -> None:
    model = debaters(2)
    model.will_say_now(rate_all(difficulty, decision=said), to=ComplexityReply)
    done = debate(model)
    assert done.node().kind == ("branch" if difficulty > 0.5 else "leaf")
    assert done.node().notes == [note]


def test_the_evaluator_sees_the_question_as_asked_and_not_the_threshold() -> None:
    model = debaters(2)
    debate(model, stop_threshold=0.613)
    (call,) = (call for call in model.calls if call.role == "complexity_evaluator")
    assert f"<question>\n{QUESTION}\n</question>" in call.prompt
    assert "The question, made explicit." in call.prompt
    assert "0.613" not in call.prompt


def test_a_score_counts_without_its_reason_which_nobody_reads() -> None:
    model = debaters(2)
    said = rate(0.9, 0.9).model_dump()
    for score in said["scores"]:
        del score["reason"]
    model.will_say_now(json.dumps(said), to=ComplexityReply)
    assert debate(model).node().kind == "branch"
    assert model.asked.count("ComplexityReply") == 1


def test_a_word_that_fits_the_scores_is_not_remarked_on() -> None:
    assert (debate(debaters(2))).node().notes == []


@pytest.mark.parametrize("depth", [0, 1])
def test_clarify_makes_a_leaf_and_the_final_answer_records_what_is_missing(
    depth: int,
) -> None:
    unclear = "Which illness is meant?"
    model = debaters(2)
    node = "0" if depth == 0 else "0.1"
    reply = rate(0.9, 0.9, decision="clarify", request=unclear)
    model.will_say_now(reply, at=node)
    done = debate(model, "What is the best medicine?", max_depth=2)
    assert (done.node(node).kind, done.node(node).stopped) == ("leaf", "clarify")
    assert done.node(node).notes == [f"missing: {unclear}"]
    assert done.verdict.notes == [f"The question leaves something open: {unclear}"]
    assert done.ruling["verdict"]["notes"] == done.verdict.notes
    told = {call.role for call in model.calls if unclear in call.prompt}
    assert told == {"leaf_debater", "leaf_judge", "answer_writer"}


def test_safety_is_told_what_is_missing_above_its_floor_but_splits_all_the_same() -> None:
    model = debaters(2, difficulty=0.1)
    model.will_say_now(rate(0.1, 0.1, decision="clarify", request="Which year?"), at="0")
    done = debate(model, depth_profile="safety", max_depth=3)
    assert done.node().kind == "branch"
    assert done.verdict.notes == ["The question leaves something open: Which year?"]


def test_a_part_that_names_the_same_thing_in_other_words_is_not_called_drift() -> None:
    model = debaters()
    model.will_say_now(split("Who pays debts in the United States?", "What is a debt?"))
    assert debate(model, "Who pays my parents' debts in America?").node().notes == []


# Leaf debates


def test_debaters_alternate_for_the_rounds_set_and_only_the_first_turn_has_no_rebuttal() -> None:
    done = debate(debaters(), max_depth=0, leaf_rounds=4)
    turns = [turn for turn in done.node().transcript if turn.role == "leaf_debater"]
    assert [turn.round for turn in turns] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert all(a.who != b.who for a, b in pairwise(turns))
    assert ["rebuttal" in turn.fields for turn in turns] == [False] + [True] * 7


def test_the_opener_is_drawn_from_the_seed_and_a_opens_about_half_of_the_time() -> None:
    def first(seed: int) -> str:
        done = debate(debaters(), max_depth=0, seed=seed, leaf_rounds=1)
        assert done.spoke()[0] == opener(seed, "0", 1, QUESTION)
        return done.spoke()[0]

    firsts = [first(seed) for seed in range(40)]
    assert 10 < firsts.count("A") < 30


@pytest.mark.parametrize(("question", "sides"), [("Is it so?", "YES NO"), ("Why?", "SPAN OTHER")])
def test_each_debater_is_told_its_own_side_and_the_transcript_says_which(
    question: str, sides: str
) -> None:
    lines = {
        "YES": "the answer is YES",
        "NO": "the answer is NO",
        "SPAN": "the answer that you find best",
        "OTHER": "the strongest answer that cannot be true together",
    }
    for seed in range(6):
        model = debaters()
        done = debate(model, question, max_depth=0, seed=seed)
        for turn, call in zip(done.node().transcript[:6], model.calls[:6], strict=True):
            name: Debater = "A" if turn.who == "A" else "B"
            assert f"You are debater {name} " in call.prompt
            own = side(seed, "0", 1, question, name)
            assert own in sides.split()
            held = own in ("SPAN", "OTHER") and turn.round > 1  # to the first claim, below
            shown = [s for s, line in lines.items() if line in call.prompt]
            assert shown == ([] if held else [own])
            assert turn.side == own


def test_a_debater_reads_its_path_and_the_transcript_so_far_and_no_facts() -> None:
    model = debaters(2)
    debate(model, max_depth=1)
    turns = [call for call in model.calls if (call.node, call.role) == ("0.1", "leaf_debater")]
    assert f"1. {QUESTION}\n2. what of b?" in turns[0].prompt
    assert "<transcript>" not in turns[0].prompt
    assert [call.prompt.count("claim:") for call in turns] == [0, 1, 2, 3, 4, 5]
    assert not any("<facts>" in call.prompt for call in turns)


def test_the_leaf_judge_reads_the_whole_transcript_and_losing_turns_stay_in_the_record() -> None:
    model = debaters()
    done = debate(model, max_depth=0)
    judge = next(call for call in model.calls if call.role == "leaf_judge")
    assert judge.prompt.count("\nclaim:") == 6
    assert {turn.who for turn in done.node().transcript} >= {"A", "B"}


@pytest.mark.parametrize("question", ["Why?", "Is it so?"])
def test_who_chooses_its_own_side_is_held_to_its_first_claim(question: str) -> None:
    model = debaters()
    model.will_say_now(OpeningReply(claim="Rome fell.", support="Facts."))
    later = [DebaterReply(claim=f"claim {n}", support="So.", rebuttal="No.") for n in range(1, 6)]
    model.will_say_now(later[0])
    model.will_say(*later[1:])
    debate(model, question, max_depth=0)
    held = [re.findall(r"<claim>\n(.*)\n</claim>", call.prompt) for call in model.calls[:6]]
    first = [["Rome fell."], ["claim 1"]] * 2 if question == "Why?" else [[]] * 4
    assert held == [[], [], *first]


def test_a_first_claim_that_a_person_took_out_holds_nobody() -> None:
    turns: list[Statement] = [
        {"debater": "A", "round": n, "claim": text, "support": "", "rebuttal": ""}
        for n, text in enumerate([WITHDRAWN, "Rome fell.", "Rome stood."], 1)
    ]
    assert first_claim(turns, "A") == "Rome fell."
    assert first_claim(turns, "B") is None


def test_the_leaf_judge_is_told_what_each_debater_defends_and_claimed_last() -> None:
    for question, own in (("Is it so?", None), ("Why?", "an answer of its own")):
        model = debaters()
        model.will_say_now(DebaterReply(claim="Not so.", support="So.", rebuttal="No."))
        debate(model, question, max_depth=0)
        judge = next(call for call in model.calls if call.role == "leaf_judge")
        lines = [
            f"{name} defends {own or side(0, '0', 1, question, name)}. Last claim: Not so."
            for name in DEBATERS
        ]
        assert "<claims>\n" + "\n".join(lines) + "\n</claims>" in judge.prompt


# Winner and answer name one side


def sided(side_of_winner: bool, question: str = POLAR) -> LeafJudgeReply:
    """A ruling for A whose answer is A's own side, or the other one."""
    own = side(0, "0", 1, question, "A")
    other = "NO" if own == "YES" else "YES"
    return rule(SAYS[own if side_of_winner else other])


def test_a_leaf_ruling_whose_answer_is_the_other_side_is_asked_for_again_once() -> None:
    model = debaters()
    model.will_say_now(sided(False))
    model.will_say(sided(True))
    model.will_say_now(write(0.8).model_copy(update={"final_answer": sided(True).answer}))
    done = debate(model, POLAR, max_depth=0)
    assert done.usage.calls == 6 + 2 + 1
    assert "Both must name the same side" in model.prompts[7]
    assert done.verdict.answer == sided(True).answer
    assert done.failures == []


@pytest.mark.parametrize("answer", ["It depends.", "Nobody knows", "Yesterday it was."])
def test_an_answer_that_names_no_side_counts_as_the_winners(answer: str) -> None:
    model = debaters()
    model.will_say_now(rule(answer))
    done = debate(model, POLAR, max_depth=0)
    assert (done.usage.calls, done.failures) == (6 + 1 + 1, [])


def test_a_leaf_ruling_that_names_two_sides_twice_settles_nothing() -> None:
    model = debaters()
    model.will_say_now(sided(False))
    done = debate(model, POLAR, max_depth=0)
    assert done.usage.calls == 6 + 2  # one repair, and nobody writes
    assert (done.verdict.answer, done.node().status) == (None, "missing")
    ((node, failure),) = done.failures
    assert (node, failure.role) == ("0", "leaf_judge")
    assert "but the side of debater A is" in failure.fault


@pytest.mark.parametrize("said", ["the other's claim", "the other's letter"])
def test_the_answer_to_an_open_question_is_not_the_losers_claim(said: str) -> None:
    def ruling(call: Asked) -> LeafJudgeReply:
        claims = dict(re.findall(r"^(A|B) defends .* Last claim: (.*)$", call.prompt, re.MULTILINE))
        return rule(claims["B"] if said == "the other's claim" else "B")

    model = debaters()
    model.will_say_now(
        lambda call: DebaterReply(
            claim=f"It was {'tin' if 'debater A in' in call.prompt else 'iron'} that ended it.",
            support="So.",
            rebuttal="No.",
        ),
        to=DebaterReply,
    )
    model.will_say_now(ruling, to=LeafJudgeReply)
    done = debate(model, max_depth=0)
    assert (done.usage.calls, done.verdict.answer) == (6 + 2, None)
    assert "`winner` is A, but `answer` is that of B" in done.failures[0][1].fault


def synthesised(question: str, *rulings: str) -> tuple[ScriptedModel, Debated]:
    """A debate over open parts, whose texts begin with yes, with these rulings on them."""
    model = debaters(2)
    model.will_say_now(SynthesisReply(integration="Yes, in all cases.", assumptions=""))
    replies = [choose().model_copy(update={"answer": answer}) for answer in rulings]
    model.will_say_now(replies[0])
    model.will_say(*replies[1:])
    model.will_say_now(write(0.72).model_copy(update={"final_answer": "Yes, it is."}))
    return model, debate(model, question)


def test_a_synthesis_ruling_says_yes_or_no_as_its_winner_does() -> None:
    whole = 3 + 2 * 7 + 5 + 1
    _, good = synthesised(POLAR, "Yes, always.")
    _, mended = synthesised(POLAR, "No, never.", "Yes, always.")
    assert [d.usage.calls for d in (good, mended)] == [whole, whole + 1]
    assert good.verdict == mended.verdict
    _, open_question = synthesised("Why?", "No idea, said many.")
    assert (open_question.usage.calls, open_question.verdict.answer) == (whole, "Yes, it is.")


def test_a_synthesis_ruling_that_names_two_sides_twice_settles_nothing() -> None:
    model, done = synthesised(POLAR, "No, never.")
    assert done.usage.calls == 3 + 2 * 7 + 4 + 2
    assert (done.verdict.answer, done.node().status) == (None, "missing")
    assert "WriterReply" not in model.asked
    assert [failure.role for _, failure in done.failures] == ["synthesis_judge"]


def test_a_synthesis_ruling_does_not_give_the_losers_text() -> None:
    model = debaters(2)
    model.will_say_now(
        lambda call: SynthesisReply(
            integration=f"Tin, in {'few' if 'style is concise' in call.prompt else 'many'} words",
            assumptions="",
        ),
        to=SynthesisReply,
    )
    loser = "many" if concise_is_a(0, "0", 1, QUESTION) else "few"
    model.will_say_now(choose().model_copy(update={"answer": f"Tin, in {loser} words"}))
    done = debate(model)
    assert (done.verdict.answer, done.failures[0][1].role) == (None, "synthesis_judge")


def test_a_losers_text_that_the_winners_text_holds_is_the_winners() -> None:
    winner = "concise" if concise_is_a(0, "0", 1, QUESTION) else "full"
    model = debaters(2)
    model.will_say_now(
        lambda call: SynthesisReply(
            integration="It was tin." + " And iron." * (f"style is {winner}" in call.prompt),
            assumptions="",
        ),
        to=SynthesisReply,
    )
    model.will_say_now(choose().model_copy(update={"answer": "It was tin."}))
    assert debate(model).failures == []


def test_the_writer_says_yes_or_no_as_the_debate_did() -> None:
    def written(*answers: str) -> Debated:
        model = debaters()
        model.will_say_now(sided(True))
        replies = [write(0.8).model_copy(update={"final_answer": text}) for text in answers]
        model.will_say_now(replies[0])
        model.will_say(*replies[1:])
        return debate(model, POLAR, max_depth=0)

    right = sided(True).answer
    assert written(right).usage.calls == 8
    assert written(sided(False).answer, right).verdict.answer == right
    lost = written(sided(False).answer)
    assert (lost.usage.calls, lost.verdict.answer, lost.verdict.confidence) == (9, None, None)
    assert lost.verdict.notes == [
        "the answer writer's text does not name the side that the debate settled"
    ]
    assert lost.node().status == "answered"  # its ruling stands in the record


# Synthesis debates


def test_both_styles_write_side_by_side_and_read_each_other_from_the_second_round() -> None:
    model = debaters(2)
    model.will_say_now(
        lambda call: SynthesisReply(
            integration=f"{'concise' if 'style is concise' in call.prompt else 'full'} text",
            assumptions="",
        ),
        to=SynthesisReply,
    )
    debate(model, synthesis_rounds=3)
    calls = [call for call in model.calls if call.role == "synthesis_debater"]
    assert [call.round for call in calls] == [1, 1, 2, 2, 3, 3]
    for call in calls:
        own, other = ("concise", "full")
        if "style is full" in call.prompt:
            own, other = other, own
        assert (f"<opponent>\n{other} text\n</opponent>" in call.prompt) == (call.round > 1)
        assert (f"<integration>\n{own} text\n</integration>" in call.prompt) == (call.round > 1)


def test_which_synthesis_is_shown_as_a_is_drawn_from_the_seed() -> None:
    seen = set()
    for seed in range(12):
        model = debaters(2)
        model.will_say_now(
            lambda call: SynthesisReply(
                integration="short" if "style is concise" in call.prompt else "long",
                assumptions="if so",
            ),
            to=SynthesisReply,
        )
        done = debate(model, seed=seed)
        judge = next(call for call in model.calls if call.role == "synthesis_judge")
        concise_first = concise_is_a(seed, "0", 1, QUESTION)
        first, second = ("short", "long") if concise_first else ("long", "short")
        assert f"A: {first}\nassumptions: if so\nB: {second}" in judge.prompt
        verdict = done.node().verdict
        assert verdict is not None
        assert verdict.winner == ("A (concise)" if first == "short" else "A (full)")
        seen.add(first)
    assert seen == {"short", "long"}


def test_synthesis_reads_every_childs_answer_confidence_and_reasons() -> None:
    model = debaters(2)
    model.will_say(rule("the sea peoples", 0.61), at="0.1")
    debate(model)
    for role in ("synthesis_debater", "synthesis_judge"):
        call = next(call for call in model.calls if call.role == role)
        assert (
            "0.1: what of b?\nanswer: the sea peoples\nconfidence: 0.61\nreasons: Becau"
            in call.prompt
        )


# Confidence and provenance


def test_confidence_is_the_product_of_judges_and_the_weakest_child_at_every_node() -> None:
    model = debaters(2)
    for leaf, confidence in {"0.0.0": 0.9, "0.0.1": 0.5, "0.1.0": 0.8, "0.1.1": 0.7}.items():
        model.will_say(rule(confidence=confidence), at=leaf)
    for node, confidence in {"0": 0.9, "0.0": 0.8, "0.1": 0.5}.items():
        model.will_say(choose(confidence), at=node)
    done = debate(model, max_depth=2)
    found = {i: node.verdict for i, node in done.tree.nodes.items()}
    assert [(v.local_confidence, v.confidence) for v in found.values() if v] == [
        (0.9, pytest.approx(0.9 * min(0.8 * 0.5, 0.5 * 0.7))),
        (0.8, pytest.approx(0.8 * 0.5)),
        (0.9, 0.9),
        (0.5, 0.5),
        (0.5, pytest.approx(0.5 * 0.7)),
        (0.8, 0.8),
        (0.7, 0.7),
    ]
    assert done.verdict.confidence == pytest.approx(0.9 * 0.35)


def test_an_inner_node_names_all_its_descendant_leaves() -> None:
    model = debaters(2)
    model.will_say_now(split(stop=True), at="0.0")
    done = debate(model, max_depth=2)
    assert done.node("0").provenance == ["0.0", "0.1.0", "0.1.1"]
    assert done.node("0.1").provenance == ["0.1.0", "0.1.1"]
    assert done.node("0.0").provenance == ["0.0"]


def test_the_writer_may_not_change_the_confidence_and_trying_is_noted() -> None:
    for written, noted in ((0.99, 1), (None, 1), (0.7201, 0), (0.72, 0)):
        model = debaters(2)
        model.will_say_now(write(written))
        done = debate(model)
        assert done.verdict.confidence == pytest.approx(0.72)
        assert len(done.node().notes) == noted
    assert done.verdict.confidence_source == "judges"


def test_the_writer_reads_the_integration_the_surest_branches_and_the_confidence() -> None:
    model = debaters(3)
    model.will_say(rule("surely so", 0.95), at="0.2")
    debate(model)
    prompt = model.prompts[-1]
    assert "<integration>\nall in all\n</integration>" in prompt
    assert "<highlights>\n- what of c? surely so\n- what of a? it was this" in prompt
    assert "Confidence: 0.7200" in prompt


# Requests


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Decoding]]:
    """(role, decoding) of every request."""
    seen: list[tuple[str, Decoding]] = []
    send = Asking.send

    async def spied(self: Asking) -> Completion:
        seen.append((self.place.role, self.request.decoding))
        return await send(self)

    monkeypatch.setattr(Asking, "send", spied)
    return seen


def test_speakers_are_warm_and_judges_cold(decodings: list[tuple[str, Decoding]]) -> None:
    debate(debaters(2))
    warm = {role for role, decoding in decodings if decoding.temperature == 0.7}
    cold = {role for role, decoding in decodings if decoding.temperature == 0}
    assert warm == {"decomposer", "leaf_debater", "synthesis_debater"}
    assert cold == {
        "decomposition_judge", "complexity_evaluator", "leaf_judge", "synthesis_judge",
        "answer_writer",
    }  # fmt: skip


def test_budgets_of_tokens_grow_with_depth_and_with_the_leaves_below(
    decodings: list[tuple[str, Decoding]],
) -> None:
    model = debaters(3)
    debate(model, max_depth=2, max_nodes=13)
    for call, (role, decoding) in zip(model.calls, decodings, strict=True):
        depth = call.node.count(".")
        if role == "leaf_debater":
            field = 128 if depth <= 1 else 192
            assert f"Each field has at most {90 if depth <= 1 else 140} words" in call.prompt
            assert decoding.max_tokens == 4 * field  # three fields and their names
        if role == "synthesis_debater":
            leaves = 3 ** (2 - depth)
            message = min(800, 400 + 100 * (leaves - 1))
            assert f"at most {message * 3 // 40 * 10} words" in call.prompt
            assert decoding.max_tokens == message + 200  # and the assumptions


def test_every_call_has_a_seed_of_its_own_and_the_run_fixes_them(
    decodings: list[tuple[str, Decoding]],
) -> None:
    debate(debaters(2), seed=5)
    first = [decoding.seed for _, decoding in decodings]
    assert len(set(first)) == 3 + 2 * 3 + 3 + 1  # one for each speaker at each node
    decodings.clear()
    debate(debaters(2), seed=5)
    assert sorted(first) == sorted(decoding.seed for _, decoding in decodings)
    decodings.clear()
    debate(debaters(2), seed=6)
    assert not set(first) & {decoding.seed for _, decoding in decodings}


def test_every_role_can_have_a_model_of_its_own() -> None:
    agents, judge = debaters(2), debaters(2)
    judge.will_say_now(rule("the other judge's", 0.5))
    debate(agents, roles={"leaf_judge": judge})
    assert judge.asked == ["LeafJudgeReply"] * 2
    assert "LeafJudgeReply" not in agents.asked


@pytest.mark.parametrize("given", [("leaf_debater_a",), ("leaf_debater_b",), ("leaf_debater",)])
def test_leaf_debaters_can_have_models_of_their_own_or_one_for_both(given: tuple[str]) -> None:
    agents, debater = debaters(2), debaters(2)
    done = debate(agents, max_depth=0, roles=dict.fromkeys(given, debater))
    names = {"leaf_debater_a": "A", "leaf_debater_b": "B"}
    own = [names[role] for role in given if role in names] or ["A", "B"]
    assert len(debater.calls) == 3 * len(own)
    assert all(f"You are debater {name} " in "".join(debater.prompts) for name in own)
    assert done.usage.calls == 8


# A run as a whole


def test_a_graph_used_by_twenty_questions_at_once_mixes_nothing_up() -> None:
    async def one(number: int) -> None:
        model = debaters(2)
        model.wait = lambda call: 0.002 * ((number * 7 + len(call.node)) % 5)
        model.will_say_now(split(f"first of {number}?", f"second of {number}?"))
        model.will_say_now(rule(f"answer {number}", confidence=number / 20))
        done = await adebate(model, f"question {number}?", seed=number)
        assert {node.text for node in done.tree.nodes.values()} == {
            f"question {number}?", f"first of {number}?", f"second of {number}?",
        }  # fmt: skip
        assert done.verdict.confidence == pytest.approx(0.9 * number / 20)
        assert all(f" {number}?" in prompt for prompt in model.prompts if "of " in prompt)
        assert done.usage.calls == len(model.calls) == 23

    async def all_at_once() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(one(number))

    asyncio.run(all_at_once())


def test_which_call_returns_first_never_matters() -> None:
    def slow(call: Asked) -> float:
        return 0.004 * (crc32(repr(call).encode()) % 997) / 997

    def model() -> ScriptedModel:
        made = debaters(3)
        made.will_say_now(lambda call: rule(call.node, len(call.node) / 10), to=LeafJudgeReply)
        made.will_say_now(
            lambda call: SynthesisReply(integration=call.prompt[-60:], assumptions=""),
            to=SynthesisReply,
        )
        return made

    straight = debate(model(), max_depth=3, max_nodes=17)
    delayed = model()
    delayed.wait = slow
    shuffled = debate(delayed, max_depth=3, max_nodes=17)
    assert [e.node for e in shuffled.events] != [e.node for e in straight.events]
    assert shuffled.tree == straight.tree
    assert shuffled.verdict == straight.verdict
    assert shuffled.usage == straight.usage
    assert {c.key for c in shuffled.calls} == {c.key for c in straight.calls}


@pytest.mark.parametrize("qid", ["mediterranean-trade", 1, ""])
def test_a_part_may_have_any_name_for_nobody_reads_it(qid: str | int) -> None:
    model = debaters(2)
    said = split("what of a?", "what of b?").model_dump()
    for child in said["children"]:
        child["qid"] = qid
    model.will_say_now(json.dumps(said), to=DecomposerReply)
    done = debate(model)
    assert done.node().children == ["0.0", "0.1"]
    assert model.asked.count("DecomposerReply") == 1


def test_a_long_question_may_be_restated_as_it_is() -> None:
    question = "Is it so that " + "it rains and " * 400 + "it snows?"
    model = debaters(2)
    said = split("what of a?", "what of b?").model_copy(update={"canonical_parent": question})
    model.will_say_now(said, to=DecomposerReply)
    assert debate(model, question).node().kind == "branch"
    assert model.asked.count("DecomposerReply") == 1


def test_a_part_that_asks_what_was_asked_already_is_noted() -> None:
    model = debaters(2)
    model.will_say_now(split("What of it?", f" {QUESTION.upper()}", "what of  it?", "and that?"))
    notes = debate(model).node().notes
    assert notes == ["0.1 asks the same as 0", "0.2 asks the same as 0.0"]
