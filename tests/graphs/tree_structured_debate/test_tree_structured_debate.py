"""Who speaks in a tree-structured debate, what each speaker reads, and what is ruled."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.models.asking import Completion, ModelRequest
from dialectree.models.endpoints import Endpoint
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, OpeningReply
from dialectree.nodes.tree_structured_debate.sides import concise_is_a, opener, side
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisReply
from dialectree.protocols.protocol import WITHDRAWN
from tests.graphs.debating import (
    QUESTION,
    Debated,
    approve,
    choose,
    context,
    debate,
    debaters,
    rate,
    revise,
    rule,
    split,
    write,
)
from tests.scripted import Asked, ScriptedModel

POLAR = "Is it so?"
SAYS = {"YES": "Yes, it is.", "NO": "No, it is not."}
EXPANSION = ["decomposer", "decomposition_judge", "complexity_evaluator"]


def of_role(model: ScriptedModel, role: str, node: str = "0") -> list[Asked]:
    """Return the calls of a role at a node."""
    return [call for call in model.calls if (call.role, call.node) == (role, node)]


def styled(concise: str, full: str, model: ScriptedModel | None = None) -> ScriptedModel:
    """Return a model whose synthesis debaters write these two texts."""
    model = model or debaters(2)
    model.will_say_now(
        lambda call: SynthesisReply(
            integration=concise if "style is concise" in call.prompt else full, assumptions="if so"
        ),
        to=SynthesisReply,
    )
    return model


def test_a_question_goes_in_and_a_verdict_comes_out() -> None:
    out = asyncio.run(graph.ainvoke({"question": QUESTION}, context=context(debaters(2))))
    assert out.keys() == {"verdict", "run_id"}
    assert out["verdict"] == {
        "answer": "In the end, this.",
        "label": None,
        "rationale": "For these.",
        "confidence": pytest.approx(0.9 * 0.8),
        "confidence_source": "judges",
        "notes": [],
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


# Expansion: decomposer, decomposition judge, complexity evaluator

FIXED, SAFETY = {"depth_profile": "fixed"}, {"depth_profile": "safety"}
EASY, UNCLEAR = rate(0.74, 0.74), rate(0.1, 0.9, decision="clarify", request="Which year?")
STOPS_WITH_PARTS = split("one?", "two?", stop=True)


@pytest.mark.parametrize(
    ("settings", "replies", "stopped", "calls"),
    [
        ({"max_depth": 0}, [], "max_depth", 0),
        ({}, [EASY], "below_threshold", 3),
        ({"min_depth": 3}, [EASY], "below_threshold", 3),
        ({}, [rate(0.0, 0.75)], None, 3),
        ({}, [split(stop=True)], "decomposer_stop", 1),
        ({}, [STOPS_WITH_PARTS], "decomposer_stop", 1),
        ({}, [split("one?")], "too_few_children", 1),
        (FIXED, [split("one?")], "too_few_children", 1),
        (SAFETY, [split("one?")], "too_few_children", 1),
        ({}, [revise("one?")], "too_few_children", 2),
        (FIXED, [STOPS_WITH_PARTS], None, 2),
        (SAFETY, [STOPS_WITH_PARTS, EASY], None, 3),
        (SAFETY, [UNCLEAR], None, 3),
        ({}, [UNCLEAR], "clarify", 3),
    ],
)
def test_what_is_said_of_a_question_decides_whether_it_is_split(
    settings: dict[str, Any], replies: list[BaseModel], stopped: str | None, calls: int
) -> None:
    model = debaters(2)
    for reply in replies:
        model.will_say(reply, at="0")
    done = debate(model, **settings)
    assert (done.node().kind, done.node().stopped) == ("leaf" if stopped else "branch", stopped)
    debates = 7 if stopped else 2 * 7 + 5
    assert done.usage.calls == calls + debates + 1
    assert ("SynthesisReply" in model.asked) == (stopped is None)
    assert done.verdict.confidence == pytest.approx(0.8 if stopped else 0.72)


@pytest.mark.parametrize(("min_depth", "floor"), [(0, 1), (2, 2), (5, 3)])
def test_the_floor_of_safety_is_one_at_least_and_the_depth_limit_at_most(min_depth: int, floor: int) -> None:
    done = debate(debaters(2, difficulty=0.1), **SAFETY, min_depth=min_depth, max_depth=3)
    assert {node.depth for node in done.tree.nodes.values() if node.kind == "leaf"} == {floor}


def test_fixed_depth_is_two_unless_the_settings_say_otherwise_and_asks_no_evaluator() -> None:
    model = debaters(2)
    done = debate(model, **FIXED, max_depth=None)
    assert "ComplexityReply" not in model.asked
    assert {node.depth for node in done.tree.nodes.values() if node.kind == "leaf"} == {2}


SIX = split("a?", "b?", "c?", "d?", "e?", "f?")


@pytest.mark.parametrize(
    ("settings", "replies", "children"),
    [
        ({}, [split("a?", "b?"), approve().model_copy(update={"children": SIX.children})], "ab"),
        ({}, [revise("x?", "y?", "z?"), rate(0.9, 0.9, 0.9)], "xyz"),
        ({}, [SIX, rate(0.1, 0.9, 0.3, 0.8, 0.2, 0.95)], "bcdf"),
        ({**FIXED, "max_children": 3}, [SIX], "abc"),
    ],
    ids=["approved", "revised", "the hardest", "the first"],
)
def test_a_split_keeps_the_children_that_the_judge_and_the_scores_leave(
    settings: dict[str, Any], replies: list[BaseModel], children: str
) -> None:
    model = debaters(2)
    for reply in replies:
        model.will_say(reply, at="0")
    done = debate(model, **settings)
    assert [done.node(i).text for i in done.node().children] == [f"{name}?" for name in children]


@pytest.mark.parametrize(
    ("decision", "difficulty", "notes"),
    [
        ("atomic", 0.9, ["the evaluator said atomic; its scores say decompose"]),
        ("decompose", 0.2, ["the evaluator said decompose; its scores say atomic"]),
        ("decompose", 0.9, []),
    ],
)
def test_the_scores_decide_and_a_mismatch_with_the_evaluators_word_is_noted(
    decision: str, difficulty: float, notes: list[str]
) -> None:
    model = debaters(2)
    model.will_say_now(rate(difficulty, difficulty, decision=decision))
    done = debate(model)
    assert done.node().kind == ("branch" if difficulty > 0.5 else "leaf")
    assert done.node().notes == notes


@pytest.mark.parametrize("node", ["0", "0.1"])
def test_the_verdict_and_all_who_debate_a_leaf_are_told_what_it_leaves_open(node: str) -> None:
    unclear = "Which illness is meant?"
    model = debaters(2)
    model.will_say_now(rate(0.9, 0.9, decision="clarify", request=unclear), at=node)
    done = debate(model, "What is the best medicine?", max_depth=2)
    assert (done.node(node).kind, done.node(node).stopped) == ("leaf", "clarify")
    assert done.node(node).notes == [f"missing: {unclear}"]
    assert done.verdict.notes == [f"The question leaves something open: {unclear}"]
    told = {call.role for call in model.calls if unclear in call.prompt}
    assert told == {"leaf_debater", "leaf_judge", "answer_writer"}


@pytest.mark.parametrize(
    ("reply", "changed"),
    [
        (split("a?", "b?"), {"qid": "mediterranean-trade"}),
        (split("a?", "b?"), {"qid": 1}),
        (rate(0.9, 0.9), {"reason": None}),
    ],
)
def test_a_name_or_a_reason_that_nobody_reads_costs_no_second_call(
    reply: BaseModel, changed: dict[str, Any]
) -> None:
    model = debaters(2)
    fields = reply.model_dump()
    for item in fields.get("children") or fields["scores"]:
        item.update(changed)
        if item.get("reason", "") is None:
            del item["reason"]
    model.will_say_now(json.dumps(fields), to=type(reply))
    assert debate(model).node().children == ["0.0", "0.1"]
    assert model.asked.count(type(reply).__name__) == 1


def test_a_part_that_repeats_its_parent_or_another_part_is_noted() -> None:
    model = debaters(2)
    model.will_say_now(split("What of it?", f" {QUESTION.upper()}", "what of  it?", "and that?"))
    notes = debate(model).node().notes
    assert notes == ["0.1 asks the same as 0", "0.2 asks the same as 0.0"]


# Leaf debates


@pytest.mark.parametrize(("question", "sides"), [(POLAR, "YES NO"), ("Why?", "SPAN OTHER")])
def test_each_debater_is_told_its_own_side_and_the_record_says_which(question: str, sides: str) -> None:
    lines = {
        "YES": "the answer is YES",
        "NO": "the answer is NO",
        "SPAN": "the answer that you find best",
        "OTHER": "the strongest answer that cannot be true together",
    }
    for seed in range(6):
        model = debaters()
        done = debate(model, question, max_depth=0, seed=seed)
        assert done.spoke()[0] == opener(seed, "0", 1, question)
        for turn, call in zip(done.node().transcript[:6], model.calls[:6], strict=True):
            own = side(seed, "0", 1, question, turn.speaker)
            assert f"You are debater {turn.speaker} " in call.prompt
            assert turn.side == own and own in sides.split()
            bound = question == "Why?" and turn.round > 1  # to its first claim, see below
            shown = [name for name, line in lines.items() if line in call.prompt]
            assert shown == ([] if bound else [own])


@pytest.mark.parametrize(
    ("question", "opening", "bound"),
    [
        ("Why?", "Rome fell.", [["Rome fell."], ["claim 1"]] * 2),
        ("Why?", WITHDRAWN, [[], ["claim 1"], ["claim 2"], ["claim 1"]]),
        (POLAR, "Rome fell.", [[]] * 4),
    ],
)
def test_who_chooses_its_own_side_is_bound_by_its_first_claim_that_stands(
    question: str, opening: str, bound: list[list[str]]
) -> None:
    model = debaters()
    model.will_say_now(OpeningReply(claim=opening, support="Facts."))
    later = [DebaterReply(claim=f"claim {n}", support="So.", rebuttal="No.") for n in range(1, 6)]
    model.will_say_now(later[0])
    model.will_say(*later[1:])
    debate(model, question, max_depth=0)
    claims = [re.findall(r"<claim>\n(.*)\n</claim>", call.prompt) for call in model.calls[:6]]
    assert claims == [[], [], *bound]


@pytest.mark.parametrize(("question", "own"), [(POLAR, None), ("Why?", "an answer of its own")])
def test_the_leaf_judge_is_told_what_each_debater_defends_and_claimed_last(
    question: str, own: str | None
) -> None:
    model = debaters()
    model.will_say_now(DebaterReply(claim="Not so.", support="So.", rebuttal="No."))
    debate(model, question, max_depth=0)
    (judge,) = of_role(model, "leaf_judge")
    lines = [f"{name} defends {own or side(0, '0', 1, question, name)}. Last claim: Not so." for name in "AB"]
    assert "<claims>\n" + "\n".join(lines) + "\n</claims>" in judge.prompt


# Winner and answer name one side

RIGHT = SAYS[side(0, "0", 1, POLAR, "A")]
WRONG = SAYS[side(0, "0", 1, POLAR, "B")]


def leaf_ruled(*answers: str, question: str = POLAR) -> tuple[ScriptedModel, Debated]:
    """Debate one leaf; the judge rules for A with these answers in turn."""
    model = debaters()
    model.will_say_now(
        lambda call: DebaterReply(
            claim=f"It was {'tin' if 'debater A in' in call.prompt else 'iron'}.",
            support="So.",
            rebuttal="No.",
        ),
        to=DebaterReply,
    )
    model.will_say_now(rule(answers[0]))
    model.will_say(*map(rule, answers[1:]))
    model.will_say_now(write(0.8).model_copy(update={"final_answer": answers[-1]}))
    return model, debate(model, question, max_depth=0)


@pytest.mark.parametrize("answer", [RIGHT, "It depends.", "Nobody knows", "Yesterday it was."])
def test_a_leaf_ruling_that_names_the_winners_side_or_none_stands(answer: str) -> None:
    _, done = leaf_ruled(answer)
    assert (done.usage.calls, done.verdict.answer, done.failures) == (6 + 1 + 1, answer, [])


def test_a_leaf_ruling_that_names_the_other_side_is_asked_for_again_once() -> None:
    model, done = leaf_ruled(WRONG, RIGHT)
    assert (done.usage.calls, done.verdict.answer, done.failures) == (6 + 2 + 1, RIGHT, [])
    assert "Both must name the same side" in model.prompts[7]


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        (POLAR, WRONG, "the side of debater A is"),
        (QUESTION, "It was iron.", "`winner` is A, but `answer` is that of B"),
        (QUESTION, "B", "`winner` is A, but `answer` is that of B"),
    ],
)
def test_a_leaf_ruling_that_names_two_sides_twice_settles_nothing(
    question: str, answer: str, fault: str
) -> None:
    _, done = leaf_ruled(answer, question=question)
    assert done.usage.calls == 6 + 2  # one repair, and nobody writes
    assert (done.verdict.answer, done.node().status) == (None, "missing")
    ((node, failure),) = done.failures
    assert (node, failure.role) == ("0", "leaf_judge")
    assert fault in failure.fault


WINNER, LOSER = ("few", "many") if concise_is_a(0, "0", 1, QUESTION) else ("many", "few")
IN_ALL_CASES = ("Yes, in all cases.", "Yes, in all cases.")
TIN = ("Tin, in few words", "Tin, in many words")
LONGER = tuple(f"It was tin.{' And iron.' * (word == WINNER)}" for word in ("few", "many"))


@pytest.mark.parametrize(
    ("question", "texts", "answers", "calls"),
    [
        (POLAR, IN_ALL_CASES, ["Yes, always."], 1),
        (POLAR, IN_ALL_CASES, ["No, never.", "Yes, always."], 2),
        (POLAR, IN_ALL_CASES, ["No, never."], None),
        ("Why?", IN_ALL_CASES, ["No idea, said many."], 1),
        (QUESTION, TIN, [f"Tin, in {WINNER} words"], 1),
        (QUESTION, TIN, [f"Tin, in {LOSER} words"], None),
        (QUESTION, LONGER, ["It was tin."], 1),
    ],
    ids=["yes", "mended", "no", "open", "the winner's", "the loser's", "in both"],
)
def test_a_synthesis_ruling_gives_the_answer_of_its_winner_or_settles_nothing(
    question: str, texts: tuple[str, str], answers: list[str], calls: int | None
) -> None:
    model = styled(*texts)
    model.will_say_now(choose().model_copy(update={"answer": answers[0]}))
    model.will_say(*(choose().model_copy(update={"answer": answer}) for answer in answers[1:]))
    model.will_say_now(write(0.72).model_copy(update={"final_answer": "Yes, it is."}))
    done = debate(model, question)
    judged = 3 + 2 * 7 + 4
    if calls is None:
        assert (done.verdict.answer, done.node().status) == (None, "missing")
        assert [failure.role for _, failure in done.failures] == ["synthesis_judge"]
        assert done.usage.calls == judged + 2
    else:
        assert (done.verdict.answer, done.failures) == ("Yes, it is.", [])
        assert done.usage.calls == judged + calls + 1


@pytest.mark.parametrize("settled", [RIGHT, "The dates do not fit."])
def test_the_writer_says_yes_or_no_as_the_debate_did(settled: str) -> None:
    """Also where the judge's answer begins with neither: then the winner's side counts."""

    def written(*answers: str) -> Debated:
        model = debaters()
        model.will_say_now(rule(settled))
        replies = [write(0.8).model_copy(update={"final_answer": text}) for text in answers]
        model.will_say_now(replies[0])
        model.will_say(*replies[1:])
        return debate(model, POLAR, max_depth=0)

    assert written(RIGHT).usage.calls == 8
    assert written(WRONG, RIGHT).verdict.answer == RIGHT
    lost = written(WRONG)
    assert (lost.usage.calls, lost.verdict.answer, lost.verdict.confidence) == (9, None, None)
    assert lost.verdict.notes == ["the answer writer's text does not name the side that the debate settled"]
    assert lost.node().status == "answered"  # its ruling stands in the record
    assert written("The dates do not fit.").usage.calls == 8


# Synthesis, confidence and provenance


def test_which_synthesis_is_shown_as_a_is_drawn_from_the_seed() -> None:
    shown = set()
    for seed in range(12):
        model = styled("short", "long")
        done = debate(model, seed=seed)
        (judge,) = of_role(model, "synthesis_judge")
        concise_first = concise_is_a(seed, "0", 1, QUESTION)
        first, second = ("short", "long") if concise_first else ("long", "short")
        assert f"A: {first}\nassumptions: if so\nB: {second}" in judge.prompt
        verdict = done.node().verdict
        assert verdict and verdict.winner == f"A ({'concise' if concise_first else 'full'})"
        shown.add(first)
    assert shown == {"short", "long"}


def test_confidence_is_the_product_of_judges_and_the_weakest_child_at_every_node() -> None:
    model = debaters(2)
    for leaf, confidence in {"0.0.0": 0.9, "0.0.1": 0.5, "0.1.0": 0.8, "0.1.1": 0.7}.items():
        model.will_say(rule(confidence=confidence), at=leaf)
    for node, confidence in {"0": 0.9, "0.0": 0.8, "0.1": 0.5}.items():
        model.will_say(choose(confidence), at=node)
    done = debate(model, max_depth=2)
    verdicts = [v for node in ("0", "0.0", "0.1") if (v := done.node(node).verdict)]
    assert [v.local_confidence for v in verdicts] == [0.9, 0.8, 0.5]
    products = [0.9 * 0.5 * 0.7, 0.8 * 0.5, 0.5 * 0.7]
    assert [v.confidence for v in verdicts] == pytest.approx(products)
    assert done.verdict.confidence == pytest.approx(0.9 * 0.5 * 0.7)


def test_an_inner_node_names_all_its_descendant_leaves() -> None:
    model = debaters(2)
    model.will_say_now(split(stop=True), at="0.0")
    done = debate(model, max_depth=2)
    assert done.node("0").provenance == ["0.0", "0.1.0", "0.1.1"]
    assert done.node("0.1").provenance == ["0.1.0", "0.1.1"]


@pytest.mark.parametrize(("written", "noted"), [(0.99, 1), (None, 1), (0.7201, 0), (0.72, 0)])
def test_the_writer_may_not_change_the_confidence_and_trying_is_noted(
    written: float | None, noted: int
) -> None:
    model = debaters(2)
    model.will_say_now(write(written))
    done = debate(model)
    assert done.verdict.confidence == pytest.approx(0.72)
    assert (done.verdict.confidence_source, len(done.node().notes)) == ("judges", noted)


def test_the_writer_reads_the_integration_the_surest_branches_and_the_confidence() -> None:
    model = debaters(3)
    model.will_say(rule("surely so", 0.95), at="0.2")
    debate(model)
    prompt = model.prompts[-1]
    assert "<integration>\nall in all\n</integration>" in prompt
    assert "<highlights>\n- what of c? surely so\n- what of a? it was this" in prompt
    assert "Confidence: 0.7200" in prompt


# Requests


Decodings = list[tuple[str, Mapping[str, float | None]]]


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> Decodings:
    """Return (role, decoding) of every request."""
    seen: Decodings = []
    complete = Endpoint.complete

    async def spied(self: Endpoint, asking: ModelRequest, *more: Any) -> Completion:
        seen.append((asking.place.role, asking.decoding))
        return await complete(self, asking, *more)

    monkeypatch.setattr(Endpoint, "complete", spied)
    return seen


def test_speakers_are_warm_and_judges_cold(decodings: Decodings) -> None:
    debate(debaters(2))
    judges = {"decomposition_judge", "complexity_evaluator", "leaf_judge", "synthesis_judge"}
    assert {(role, decoding["temperature"]) for role, decoding in decodings} == {
        *((role, 0.7) for role in ("decomposer", "leaf_debater", "synthesis_debater")),
        *((role, 0) for role in (*judges, "answer_writer")),
    }


def test_budgets_of_tokens_grow_with_depth_and_with_the_leaves_below(decodings: Decodings) -> None:
    model = debaters(3)
    debate(model, max_depth=2, max_nodes=13)
    for call, (role, decoding) in zip(model.calls, decodings, strict=True):
        depth = call.node.count(".")
        if role == "leaf_debater":
            field = 128 if depth <= 1 else 192
            assert f"Each field has at most {90 if depth <= 1 else 140} words" in call.prompt
            assert decoding["max_tokens"] == 4 * field  # three fields and their names
        if role == "synthesis_debater":
            message = min(800, 400 + 100 * (3 ** (2 - depth) - 1))
            assert f"at most {message * 3 // 40 * 10} words" in call.prompt
            assert decoding["max_tokens"] == message + 200  # and the assumptions
