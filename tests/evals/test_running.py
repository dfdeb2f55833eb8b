"""An evaluation: every item by every row, once, whatever happens on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import openai
import pytest
from pydantic import BaseModel

from dialectree.errors import BudgetReached, InputError, RequestError
from dialectree.evals.datasets import load
from dialectree.evals.matrix import MatrixEntry
from dialectree.evals.options import read_options
from dialectree.evals.plan import choose_items
from dialectree.evals.question_runs import run_id
from dialectree.evals.results_file import Folder
from dialectree.evals.running import REFUSED
from dialectree.evals.scorers import FactualityReply, RubricReply, SentenceRating, TruthReply
from dialectree.models.limits import limiter
from dialectree.nodes.adaptive_reasoning_tree.scorer import VerifierReply
from dialectree.nodes.role_switching_debate.debater import ProposalReply, RebuttalReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.tree_of_debate.comparison import ComparisonReply
from dialectree.records.folder import RunFolder
from tests.evals.evaluating import by_item, choices, evaluate, model, opens, plan, results, row, write
from tests.graphs.adaptive_reasoning_tree.arguing import arguers as arguing
from tests.graphs.role_switching_debate.switching import rule_label
from tests.scripted import Asked, ScriptedModel, no_reply

TWO_ROWS = (row("basic"), row("self_consistency", samples=3))


def test_every_item_has_one_result_for_every_row_and_the_same_again_does_nothing() -> None:
    speaker = model()
    standing = evaluate(plan(choices(5), speaker, *TWO_ROWS))
    found = by_item()
    assert {name for name, _ in found} == {"basic", "self_consistency"}
    assert (len(found), standing.done, standing.failed) == (10, 10, 0)
    for (name, item), one in found.items():
        assert one.run == run_id(name, item)
        assert (Folder(Path("out")).runs / str(one.run) / "run.json").is_file()
        assert (one.status, one.verdict and one.verdict.label) == ("answered", "B")
        assert [(s.key, s.score) for s in one.scores] == [("choice", 1.0)]
    assert sum(one.usage.calls for one in found.values()) == len(speaker.calls) == standing.spent.calls
    before = {path: path.read_bytes() for path in Path("out").rglob("*.json*")}
    again = model()
    standing = evaluate(plan(choices(5), again, *TWO_ROWS))
    assert (standing.before, standing.done, again.calls) == (10, 0, [])
    assert {path: path.read_bytes() for path in Path("out").rglob("*.json*")} == before


class Crash(ArithmeticError):
    """What nobody foresaw."""


@pytest.mark.parametrize("at", [5, 14])
def test_after_a_crash_every_question_is_paid_once(at: int) -> None:
    speaker, count = model(), 0

    def crash(call: Asked) -> float:
        nonlocal count
        count += 1
        if count == at:
            raise Crash
        return 0.0

    speaker.wait = crash
    with pytest.raises(Crash):
        evaluate(plan(choices(4), speaker, *TWO_ROWS, concurrency=2))
    evaluate(plan(choices(4), speaker, *TWO_ROWS, concurrency=2))
    assert len(by_item()) == 8
    ledger = sum(one.usage.calls for one in results())
    assert len(speaker.calls) == ledger + 1  # the one that the crash took


def test_a_torn_line_is_dropped_and_not_paid_again_and_an_unreadable_one_is_named() -> None:
    evaluate(plan(choices(3), model()))
    path = Path("out/results.jsonl")
    path.write_bytes(path.read_bytes()[:-40])
    speaker = model()
    evaluate(plan(choices(3), speaker))
    assert (len(by_item()), speaker.calls) == (3, [])
    path.write_text("{}\n" + path.read_text())
    with pytest.raises(InputError, match=r"results.jsonl, line 1 cannot be read: row"):
        evaluate(plan(choices(3), model()))


def test_a_budget_counts_over_all_questions_and_going_on_works() -> None:
    speaker = model()
    with pytest.raises(BudgetReached, match="`max_calls` 12 is used up"):
        evaluate(plan(choices(5), speaker), max_calls=12)
    assert len(speaker.calls) == 12
    assert len(results()) < 5
    evaluation = Folder(Path("out")).evaluation()
    assert evaluation and evaluation.ended is None
    evaluate(plan(choices(5), speaker))
    assert (len(by_item()), len(speaker.calls)) == (5, 30)


# What does not go together


def test_what_would_mix_figures_is_refused_by_name() -> None:
    mine = row("basic", "mine", gate=0)
    evaluate(plan(choices(2), model(), mine))
    before = load("data.jsonl").sha256
    others: list[tuple[MatrixEntry, dict[str, Any], str]] = [
        (row("basic", "mine", gate=3), {}, "row 'mine', its settings .*: give a row another name"),
        (mine, {"seed": 1}, "--seed 0, and this is 1"),
        (mine, {"cluster": "question"}, "--cluster none, and this is question"),
        (mine, {"vote_first": 2}, "--vote-first 0, and this is 2"),
        (mine, {"columns": "id=id,question=question,options=options,ignore=gold"}, "ignore=COLUMN"),
    ]
    for asked, given, message in others:
        with pytest.raises(InputError, match=message):
            evaluate(plan(Path("data.jsonl"), model(), asked, **given))
    evaluate(plan(Path("data.jsonl"), model(), row("basic", "other", gate=3)))
    assert len(by_item()) == 4
    now = load(choices(3)).sha256
    with pytest.raises(InputError, match=f"{before}.*{now}"):
        evaluate(plan(Path("data.jsonl"), model(), mine))


def test_two_commands_cannot_run_the_same_evaluation() -> None:
    with Folder(Path("out")).hold_lock(), pytest.raises(InputError, match="another process is at work"):
        evaluate(plan(choices(1), model()))


# What a question comes to


def test_a_question_that_the_method_does_not_take_has_failed_and_costs_nothing() -> None:
    same = {"id": "same", "question": "Which?", "options": ["a tree", "a  tree"], "gold": "A"}
    write([same, {"id": "fine", "question": "Which?", "options": ["cow", "tree"], "gold": "B"}])
    speaker = model("tree")
    standing = evaluate(plan(Path("data.jsonl"), speaker))
    found = by_item()
    failed = found["basic", "same"]
    assert (failed.status, failed.scores, failed.usage.calls) == ("failed", [], 0)
    assert failed.fault == "`options`: options 1 and 2 are the same"
    assert found["basic", "fine"].status == "answered"
    assert standing.failed == 1


def failing(days: Sequence[str]) -> ScriptedModel:
    """A model that refuses the questions of some days."""
    speaker = model()
    usual = speaker.says(ProposalReply)
    speaker.will_say_now(
        lambda call: refused() if any(day in call.prompt for day in days) else usual(call), to=ProposalReply
    )
    return speaker


def test_a_failed_result_stays_until_its_question_has_another_one() -> None:
    evaluate(plan(choices(4), failing(["day 2?", "day 3?"]), concurrency=1))
    before, path = by_item(), Path("out/results.jsonl")
    with pytest.raises(BudgetReached):
        evaluate(plan(choices(4), model(), retry_failed=True), max_calls=1)
    assert by_item() == before
    lines = path.read_text()
    evaluate(plan(choices(4), failing(["day 3?"]), retry_failed=True))
    again = by_item()
    assert [again["basic", item].status for item in ("q2", "q3")] == ["answered", "failed"]
    path.write_text(lines + path.read_text())  # as whoever was killed meanwhile left it
    assert evaluate(plan(choices(4), model())).failed == 1
    assert by_item() == again


def refused(why: str = "not with me") -> openai.OpenAIError:
    """What an endpoint says to a request that it does not like."""
    response: Any = SimpleNamespace(status_code=400, headers={}, request=None)
    return openai.BadRequestError(why, response=response, body=None)


def test_what_cannot_be_read_is_a_question_that_failed() -> None:
    parts = {"title": "Tin", "abstract": "On tin.", "introduction": "Tin is found in ores."}
    papers = {f"{part}_{side}": text for side in "ab" for part, text in parts.items()}
    other = {**papers, "title_b": "Lead", "introduction_b": "Lead is found in ores, too."}
    write([{"id": "same", "topic": "ores", **papers}, {"id": "fine", "topic": "ores", **other}])
    speaker = model()
    rating = FactualityReply(sentences=[SentenceRating(number="1", factual=True)])
    speaker.will_say(ComparisonReply(summary="Both smelt."), rating)
    speaker.will_say(RubricReply(rationale="Little.", grade=1))
    evaluate(plan(Path("data.jsonl"), speaker, row("single_stage")))
    found = by_item()
    assert found["single_stage", "fine"].fault is None
    scored = {score.key: score.score for score in found["single_stage", "fine"].scores}
    assert scored == {"factuality": 100.0, "breadth": 25.0, "contextualisation": 25.0}
    assert found["single_stage", "same"].status == "failed"
    assert "both papers are the same text" in str(found["single_stage", "same"].fault)


def test_an_endpoint_that_refuses_every_question_ends_the_evaluation() -> None:
    speaker, count = model(), 40
    speaker.will_say_now(refused(), to=ProposalReply)
    planned = plan(choices(count), speaker, concurrency=2)
    with pytest.raises(RequestError, match="not with me"):
        evaluate(planned)
    assert results() == []
    assert sum(1 for _ in Path("out/runs").iterdir()) <= REFUSED + planned.at_once < count
    evaluate(plan(choices(count), model()))
    assert len(by_item()) == count


def test_a_question_that_the_endpoint_refuses_has_failed_where_others_are_answered() -> None:
    speaker = model()
    usual = speaker.says(RebuttalReply)
    bad = ("day 1?", "day 6?")
    speaker.will_say_now(
        lambda call: refused() if any(day in call.prompt for day in bad) else usual(call), to=RebuttalReply
    )
    evaluate(plan(choices(8), speaker, concurrency=2))
    found = by_item()
    failed = {item for (_, item), one in found.items() if one.status == "failed"}
    assert (len(found), failed) == (8, {"q1", "q6"})
    assert found["basic", "q6"].usage.calls >= 2  # its proposals were paid
    assert "not with me" in str(found["basic", "q6"].fault)


class Outage:
    """A model that rules by what it reads, behind an endpoint that is down for a while.

    Which calls it loses is fixed, for in time another debate may be first: the kinds by the day.
    """

    LOST: ClassVar[dict[int, tuple[type[BaseModel], ...]]] = {
        4: (ProposalReply,),
        5: (JudgeReply,),
        6: (RebuttalReply,),
        7: (ProposalReply, RebuttalReply, JudgeReply),
        8: (RebuttalReply,),
    }

    def __init__(self, *, down: bool = False) -> None:
        self.speaker, self.down = model(), down
        usual = {kind: self.speaker.says(kind) for kind in (ProposalReply, RebuttalReply)}
        for kind in (ProposalReply, RebuttalReply):
            self.speaker.will_say_now(self._unless_down(usual[kind]), to=kind)
        self.speaker.will_say_now(self._unless_down(self._ruled), to=JudgeReply)

    def _unless_down(self, say: Any) -> Any:
        def message(call: Asked) -> Any:
            (day,) = {*re.findall(r"day (\d+)\?", call.prompt)}
            lost = [kind.__name__ for kind in self.LOST.get(int(day), ())]
            return refused("content_filter") if self.down and call.kind in lost else say(call)

        return message

    @staticmethod
    def _ruled(call: Asked) -> Any:
        whole = call.prompt.count("defence") >= 2
        return rule_label("B" if whole and "day 3?" not in call.prompt else "A")(call)


def compared(out: str) -> dict[tuple[str, str], Any]:
    """All that the report compares."""
    return {
        question: (one.status, one.verdict and one.verdict.label, one.scores)
        for question, one in by_item(out).items()
    }


def test_an_outage_changes_no_comparison_once_what_failed_is_asked_again() -> None:
    slow: dict[str, Any] = {"call_deadline": 20, "concurrency": 3}
    evaluate(plan(choices(12), Outage().speaker, **slow), "whole")
    broken = evaluate(plan(choices(12), Outage(down=True).speaker, **slow), "broken")
    whole, failed = compared("whole"), {q for q, one in by_item("broken").items() if not one.scores}
    assert 0 < len(failed) == broken.failed < broken.incomplete == len(Outage.LOST)
    degraded = {q for q, one in by_item("broken").items() if one.status == "degraded"}
    assert broken.degraded == len(degraded) > 0
    untouched = whole.keys() - failed - degraded
    assert {q: compared("broken")[q] for q in untouched} == {q: whole[q] for q in untouched}
    lost = by_item("broken")["basic", "q5"]
    assert (lost.status, lost.verdict) == ("failed", None)
    assert str(lost.fault).startswith("judge at node 0: ")

    again = Outage()
    standing = evaluate(plan(choices(12), again.speaker, retry_failed=True, **slow), "broken")
    assert compared("broken") == whole
    assert (standing.failed, standing.degraded, standing.incomplete) == (0, 0, 0)
    assert standing.done == len(failed | degraded)
    asked = {n for n in range(1, 13) for call in again.speaker.calls if f"day {n}?" in call.prompt}
    assert {f"q{n}" for n in asked} == {item for _, item in failed | degraded}
    assert standing.spent.calls == len(again.speaker.calls) < 5 * standing.done  # parts alone
    for question in failed | degraded:
        run = Folder(Path("broken")).runs / str(by_item("broken")[question].run)
        assert RunFolder(run).record().list_failures() == []


def test_a_judge_that_gave_no_reply_is_asked_again_and_nobody_else() -> None:
    speaker = model()
    speaker.will_say_now(no_reply(), to=TruthReply)
    standing = evaluate(plan(opens(1), speaker, row("single_shot")))
    assert (standing.failed, standing.incomplete) == (0, 1)
    assert [score.value for score in results()[0].scores] == ["failed", "scored"]
    speaker = model()
    standing = evaluate(plan(opens(1), speaker, row("single_shot"), retry_failed=True))
    assert [score.value for score in results()[0].scores] == ["scored", "scored"]
    assert [call.kind for call in speaker.calls] == ["TruthReply"] * 3  # the score, two controls
    assert [control.passed for control in results()[0].controls] == [True, False]
    assert standing.spent.calls == 3


# Many at once


def test_slots_are_all_used_and_questions_under_way_are_few() -> None:
    speaker = model()
    most_calls = most_questions = 0

    def look(call: Asked) -> float:
        nonlocal most_calls, most_questions
        most_calls = max(most_calls, limiter(f"live {id(speaker)}")._running)
        begun = sum(1 for _ in Path("out/runs").iterdir())
        ended = Path("out/results.jsonl").read_bytes().count(b"\n")
        most_questions = max(most_questions, begun - ended)
        return 0.02

    speaker.wait = look
    planned = plan(choices(30), speaker, concurrency=8)
    evaluate(planned)
    assert (most_calls, planned.at_once, len(by_item())) == (8, 20, 30)
    assert 8 <= most_questions <= 20


def test_shards_share_out_what_the_limit_leaves() -> None:
    items = load(choices(11)).items
    parts = [choose_items(items, read_options({"limit": 10, "shard": f"{n}/3"}), 0) for n in (1, 2, 3)]
    assert sorted(item.id for part in parts for item in part) == sorted(i.id for i in items[:10])


# Draws


def test_repeats_draw_with_seeds_of_their_own_and_the_first_is_what_was_paid() -> None:
    speaker, asked = model(), row("self_consistency", samples=1)
    evaluate(plan(choices(2), speaker, asked))
    first = {item: one for (_, item), one in by_item().items()}
    standing = evaluate(plan(choices(2), speaker, asked, repeats=3))
    found = {item: one for (_, item), one in by_item().items()}
    every = ["q1", "q2", "q1#1", "q2#1", "q1#2", "q2#2"]
    assert sorted(found) == sorted(every)
    assert (standing.before, len(speaker.calls)) == (2, 6)
    assert {item: found[item] for item in first} == first
    assert [found[item].repeat for item in every] == [0, 0, 1, 1, 2, 2]
    assert {one.group for one in found.values()} == {"q1", "q2"}
    seeds = [RunFolder(Path("out/runs") / str(one.run)).calls()[0].seed for one in found.values()]
    assert len({*seeds}) == 3  # of one call at one place, whatever is asked
    evaluation = Folder(Path("out")).evaluation()
    assert evaluation and (evaluation.repeats, evaluation.items, bool(evaluation.ended)) == (3, every, True)
    assert {item.id for item in Folder(Path("out")).items()} == found.keys()
    evaluate(plan(choices(2), speaker, asked))
    assert len(speaker.calls) == 6


def test_a_cluster_is_the_value_of_a_column() -> None:
    rows = [
        {"id": f"q{n}", "claim": f"Cow {n} eats.", "label": True, "herd": herd}
        for n, herd in enumerate(("north", "north", ""))
    ]
    speaker = arguing()
    speaker.will_say(VerifierReply(answer="yes"))
    evaluate(plan(write(rows), speaker, row("direct"), cluster="herd", repeats=2))
    groups = {item: one.group for (_, item), one in by_item().items()}
    assert groups == {
        **dict.fromkeys(("q0", "q1", "q0#1", "q1#1"), "north"),
        **dict.fromkeys(("q2", "q2#1"), "q2"),
    }


def test_a_sample_is_drawn_and_a_larger_one_goes_on_with_it() -> None:
    evaluate(plan(choices(12), model(), sample=4))
    before = by_item()
    assert [item for _, item in before] != ["q1", "q2", "q3", "q4"]
    evaluate(plan(choices(12), model(), sample=7))
    assert before.items() <= by_item().items() and len(by_item()) == 7
    evaluation = Folder(Path("out")).evaluation()
    assert evaluation and (evaluation.sample, evaluation.limit) == (7, None)
    evaluate(plan(choices(12), model(), sample=4))
    evaluation = Folder(Path("out")).evaluation()
    assert evaluation and evaluation.sample == 7
