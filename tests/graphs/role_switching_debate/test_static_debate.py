"""Three rounds at once, and a consultancy: who speaks, who reads what, and what is ruled."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.graphs.role_switching_debate.gold_sides import sides
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.role_switching_debate.static_debate import StatementReply
from dialectree.records import RunRecord
from tests import running
from tests.contesting import words
from tests.graphs.role_switching_debate.switching import QUESTION, TWO, listed, rule
from tests.grounding import Pointing, begin, pointing
from tests.planted import finding, folder, planted
from tests.scripted import Asked, ScriptedModel, no_reply

RIGHT = TWO[1]


def for_answer(text: str, *sure: float) -> Any:
    """A judge who rules for the answer, and is so sure in the order in which A comes first."""

    def judge(call: Asked) -> JudgeReply:
        answers = listed(call, "candidates")
        label = next(label for label, one in answers.items() if one == text)
        return rule(label, text, sure[0 if next(iter(answers)) == "A" else -1])

    return judge


def speakers(model: ScriptedModel | None = None, judge: Any = None) -> Any:
    model = model or ScriptedModel()
    model.will_say(lambda call: StatementReply(argument=words(call)), to=StatementReply)
    model.will_say_now(judge or for_answer(RIGHT, 0.9, 0.7), to=JudgeReply)
    return model


def debate(name: str = "static_debate", model: Any = None, **given: Any) -> RunRecord:
    given = {"model": model or speakers(), "options": TWO, **given}
    question = given.pop("question", QUESTION)
    return asyncio.run(running.begin(name, question, Path("runs"), **given).conduct())


def read(call: Asked) -> list[str]:
    """Whose words of which round a call shows: ``A1``."""
    return ["".join(one) for one in re.findall(r"^([AB]), round (\d):", call.prompt, re.MULTILINE)]


def test_three_rounds_at_once_and_both_orders_make_eight_calls_and_four_in_a_row() -> None:
    model = speakers()
    record = debate(model=model)
    said = Counter((turn.phase, turn.round) for turn in record.tree.nodes["0"].transcript)
    assert said == {("rounds", 1): 2, ("rounds", 2): 2, ("rounds", 3): 2, ("weighing", 0): 2}
    assert (record.usage.calls, record.usage.critical_path_calls) == (8, 4)
    rounds = [{*read(call)} for call in model.calls]
    before = [set[str](), {"A1", "B1"}, {"A1", "B1", "A2", "B2"}]
    assert rounds == [one for one in before for _ in TWO] + [{*before[2], "A3", "B3"}] * 2
    first, second = (read(call) for call in model.calls[-2:])
    assert [f"{b}{a}" for a, b in zip(first[::2], first[1::2], strict=True)] != first
    assert second == [one for n in (0, 2, 4) for one in (first[n + 1], first[n])]


def test_a_consultant_speaks_alone_and_the_judge_knows_it() -> None:
    model = speakers()
    record = debate("consultancy", model)
    assert (record.usage.calls, record.usage.critical_path_calls) == (5, 4)
    assert Counter(call.role for call in model.calls) == {"debater": 3, "judge": 2}
    assert all("one opponent" not in call.prompt for call in model.calls)
    assert all("A consultant defended one answer" in call.prompt for call in model.calls[-2:])


def test_both_orders_are_averaged() -> None:
    record = debate()
    assert record.verdict is not None
    assert (record.verdict.answer, record.verdict.label) == (RIGHT, "B")
    assert record.verdict.confidence == pytest.approx(0.8)
    assert record.verdict.confidence_source == "mean of both orders"
    judged = [turn for turn in record.tree.nodes["0"].transcript if turn.role == "judge"]
    assert [turn.names for turn in judged] == ["B", "B"]


@pytest.mark.parametrize(("sure", "answer"), [((0.9, 0.6), "A"), ((0.6, 0.9), "B"), ((0.7, 0.7), None)])
def test_a_judge_who_leans_to_a_place_is_noted_and_the_surer_ruling_wins(
    sure: tuple[float, float], answer: str | None
) -> None:
    def first(call: Asked) -> JudgeReply:
        label, text = next(iter(listed(call, "candidates").items()))
        return rule(label, text, sure["AB".index(label)])

    record = debate(model=speakers(judge=first))
    assert record.verdict is not None and record.verdict.label == answer
    assert any("position bias" in note for note in record.verdict.notes)
    assert record.status == ("answered" if answer else "unresolved")


def test_sides_are_drawn_over_the_questions() -> None:
    held = Counter[str | None]()
    for number in range(40):
        record = debate("consultancy", question=f"{QUESTION} On day {number}?")
        where = sides(record, "B")
        assert where is not None and where["gold_position"] is None
        held[str(where["gold_side"])] += 1
    assert 10 <= held["a"] <= 30 and held["a"] + held["None"] == 40


def test_one_ruling_does_not_tell_whether_the_order_swayed_the_judge() -> None:
    def one_order(call: Asked) -> JudgeReply | Exception:
        answers = listed(call, "candidates")
        return no_reply() if next(iter(answers)) != "A" else rule("A", answers["A"])

    model = speakers()
    model.will_say_now(one_order, to=JudgeReply)
    both, one = (sides(debate(model=each), "A") for each in (speakers(), model))
    assert both is not None and both["flipped"] is not None
    assert one is None or one["flipped"] is None


@pytest.mark.parametrize("name", ["static_debate", "consultancy"])
def test_without_a_statement_or_a_ruling_nothing_is_guessed(name: str) -> None:
    for kind in (StatementReply, JudgeReply):
        model = speakers()
        model.will_say_now(no_reply(), to=kind)
        assert debate(name, model).status == "unresolved"


@pytest.mark.parametrize("options", [None, ("a", "b", "c")])
def test_it_is_about_two_options(options: Any) -> None:
    with pytest.raises(InputError, match="about two options"):
        debate(options=options)
    assert debate(options=("x", *TWO), candidates="balanced", gold="C").verdict is not None


# From sources


def grounded(name: str, **given: Any) -> tuple[RunRecord, Pointing]:
    one = planted()
    model: Pointing = speakers(pointing(), for_answer(one.right, 0.9, 0.9))
    model.will_point(finding(one))
    run = begin(name, one.question, Path("runs"), folder(one), model=model, options=one.options, **given)
    return asyncio.run(run.conduct()), model


@pytest.mark.parametrize(("name", "calls"), [("static_debate", 9), ("consultancy", 6)])
def test_debaters_point_and_the_judge_reads_what_it_may(name: str, calls: int) -> None:
    gold = planted().gold
    for sees, shows in (("cited", True), ("none", False)):
        record, model = grounded(name, judge_sees=sees)
        assert len(model.calls) == calls and record.verdict is not None
        assert [one.source for one in record.verdict.grounds] == ["en-keeper.md"]
        judged = [call.prompt for call in model.calls if call.kind == "JudgeReply"]
        assert [gold in prompt for prompt in judged] == [shows] * 2
        assert all(gold in call.prompt for call in model.calls if call.kind == "StatementReply")
    _, without = grounded(name, check="none")
    assert len(without.calls) == calls - 1
