"""Answers of an evaluation that further judges score: no debate is held again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError, RequestError
from dialectree.evals import rescoring
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.tables import agreement_table, judges_table
from dialectree.evals.reporting.writing import report
from dialectree.evals.rescoring import Rescoring, conduct, prepare
from dialectree.evals.scorers import TruthReply
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.records import Evaluated
from dialectree.records.folder import RunFolder
from dialectree.report.run_index import list_runs
from tests.cli.commands import command, refused
from tests.evals.evaluating import choices, evaluate, model, opens, plan, results, row
from tests.scripted import ScriptedModel, no_reply

OUT = Path("out")


class Judge(ScriptedModel):
    """A judge that is known by a name."""

    model: str


def judge(*words: str, name: str) -> Judge:
    """Say a word on the answers to each day's question."""
    ruling = Judge(model=name)
    by_day = {f"day {n}?": word for n, word in enumerate(words, 1)}
    ruling.will_say(
        lambda call: next(word for day, word in by_day.items() if day in call.prompt), to=TruthReply
    )
    return ruling


def rescored(*judges: Any, **settings: Any) -> Rescoring:
    made = prepare(OUT, judges, {"cache": False, **settings})
    asyncio.run(conduct(made))
    return made


@pytest.fixture
def speaker() -> ScriptedModel:
    """An evaluation of four questions, in which the judge says TRUE."""
    speaker = model()
    evaluate(plan(opens(4), speaker, row("single_shot")))
    speaker.calls.clear()
    return speaker


def test_judges_score_the_answers_that_are_there_side_by_side(speaker: ScriptedModel) -> None:
    strict = judge("TRUE", "FALSE", "FALSE", "TRUE", name="strict")
    mild = judge("TRUE", "FALSE", "TRUE", "TRUE", name="mild")
    made = rescored(strict, mild)
    assert (len(strict.calls), len(mild.calls), speaker.calls) == (4, 4, [])
    assert (made.done, made.spending.judge.calls) == (8, 8)
    joined = study([OUT])
    shown = judges_table(joined)
    assert shown is not None
    (line,) = shown.frame.to_dict("records")
    one, other = (name for name in line if name.startswith("live:"))
    assert {line[one].share, line[other].share} == {0.5, 0.75}
    assert (line["the judge"].share, line["answers"]) == (1.0, 4)
    # two questions of four on which one of three judges says otherwise: 9 TRUE and 3 FALSE
    assert line["Krippendorff's alpha"] == pytest.approx(1 - 11 * 4 / (2 * 9 * 3))
    pairs = agreement_table(joined)
    assert pairs is not None and len(pairs.frame) == 3
    assert "people" not in {str(one) for one in pairs.frame["rater"]}


def test_the_table_of_judges_goes_with_their_scores(speaker: ScriptedModel) -> None:
    rescored(judge("TRUE", "FALSE", "FALSE", "TRUE", name="strict"))
    report([OUT])
    assert (OUT / "report" / "judges.csv").is_file()
    for ratings in OUT.glob("ratings-*.jsonl"):
        ratings.unlink()
    report([OUT])
    assert not (OUT / "report" / "judges.csv").exists()


def test_a_judge_at_chance_is_named_as_one(speaker: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not study([OUT]).demonstration
    monkeypatch.setattr(rescoring, "at_chance", lambda spec: True)
    rescored(judge("TRUE", "FALSE", "FALSE", "TRUE", name="tiny"))
    assert study([OUT]).demonstration


def test_a_call_that_is_paid_is_not_paid_again_and_a_failed_one_is_asked_again(
    speaker: ScriptedModel,
) -> None:
    ruling = Judge(model="often away")
    ruling.will_say_now(no_reply(), to=TruthReply)
    ruling.will_say("TRUE", to=TruthReply)
    assert [one.value for one in _scores(rescored(ruling))].count("failed") == 1
    asked = len(ruling.calls)
    assert [one.value for one in _scores(rescored(ruling))] == ["scored"] * 4
    assert len(ruling.calls) == asked + 1


def _scores(made: Rescoring) -> list[Any]:
    return [score for one in study([OUT]).ratings for score in one.scores]


def test_what_cannot_be_scored_is_a_line(speaker: ScriptedModel) -> None:
    with pytest.raises(InputError, match="named twice"):
        prepare(OUT, ["openai:a", "openai:a@http://127.0.0.1:1/v1"], {})
    refusing = Judge(model="refusing")
    refusing.will_say(RequestError("no such model"), to=TruthReply)
    with pytest.raises(InputError, match="no such model"):
        rescored(refusing)
    evaluate(plan(choices(1), model(), row("basic")), "choices")
    refused(command("eval", "score", "choices", "--judge", "openai:a"), "needs a judge")
    done = command("eval", "score", "out", "--judge", "openai:a", "--dry-run")
    assert (done.status, done.out) == (0, "4 answers, at least 4 calls minus those already made\n")


def test_a_question_whose_run_failed_has_no_answer_to_score() -> None:
    speaker = model()
    answer = AnswererReply(answer="Grass.", explanation="Known.", confidence=0.9)
    speaker.will_say_now(no_reply(), to=AnswererReply)
    speaker.will_say(answer)
    evaluate(plan(opens(3), speaker, row("single_shot"), concurrency=1))
    assert sorted(one.status for one in results()) == ["answered", "answered", "failed"]
    done = command("eval", "score", "out", "--judge", "openai:a", "--dry-run")
    assert done.out.startswith("2 answers, at least 2 calls ")


def test_a_run_knows_its_evaluation_and_its_question(speaker: ScriptedModel) -> None:
    found = {summary.run_id: summary.evaluated for summary in list_runs(OUT / "runs", print)}
    for one in results():
        place = Evaluated(evaluation="out", row=one.row, item=one.item)
        assert found[str(one.run)] == place
        assert RunFolder(OUT / "runs" / str(one.run)).record().evaluated == place
