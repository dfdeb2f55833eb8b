"""Summaries side by side: judged in both orders, each pair once, and told as wins and losses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from dialectree.errors import BudgetReached, InputError
from dialectree.evals.comparisons import mcnemar_counts, tango
from dialectree.evals.intervals import wilson
from dialectree.evals.plan import Plan, baseline
from dialectree.evals.preferences import prefer
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.formatting import shown
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import Preferred, Row, Score, ScoreOutcome
from dialectree.evals.results_file import Folder
from dialectree.evals.scorers import FactualityReply, PreferenceReply, RubricReply, SentenceRating
from dialectree.evals.standing import Spending, Standing
from dialectree.nodes.tree_of_debate.comparison import ComparisonReply, PaperSummaryReply
from dialectree.protocols.settings import ProtocolSettings, build
from tests.evals import sample
from tests.evals.evaluating import evaluate, plan, row, write
from tests.scripted import Asked, ScriptedModel

LONG, SHORT = "Both smelt ores, one of tin and one of lead.", "Both smelt. [rests on nothing]"


def pairs(count: int) -> Path:
    """Pairs of papers."""
    parts = ("title", "abstract", "introduction")
    paper = {f"{part}_{side}": f"On {side}, {part}." for side in "ab" for part in parts}
    return write([{"id": f"p{n}", "topic": f"ores of day {n}", **paper} for n in range(count)])


def speaker(say: Callable[[Asked], str]) -> ScriptedModel:
    """Says more in two stages than in one, and ``say`` is its word on two summaries."""
    spoken = ScriptedModel()
    marked = FactualityReply(sentences=[SentenceRating(number="1", factual=True)])
    spoken.will_say(marked, RubricReply(rationale="Some.", grade=2), PaperSummaryReply(summary="M"))
    spoken.will_say(say_more_in_two_stages, to=ComparisonReply)
    spoken.will_say(say, to=PreferenceReply)
    return spoken


def say_more_in_two_stages(call: Asked) -> ComparisonReply:
    return ComparisonReply(summary=SHORT if "introduction" in call.prompt else LONG)


def longer(call: Asked) -> str:
    """Prefers the longer text, wherever it stands."""
    first, _, second = call.prompt.rpartition("SECOND: ")
    return "FIRST" if LONG in first else "SECOND" if LONG in second else "TIE"


def asked(judge: ScriptedModel, count: int = 3) -> Plan:
    return plan(pairs(count), judge, row("two_stage"), row("single_stage"), concurrency=2)


def judged(what: Plan, **budgets: int) -> Standing:
    """Judge every pair of a folder that holds results; the calls it took."""
    spending = Spending(build(ProtocolSettings, **budgets))
    folder, standing = Folder(Path("out")), Standing(0, 0, spending)
    with folder.locked():
        asyncio.run(prefer(folder, what, "single_stage", spending, standing.judged))
    return standing


def lines() -> list[Preferred]:
    return sorted(Folder(Path("out")).preferences(), key=lambda one: one.item)


def words(judge: ScriptedModel) -> int:
    return judge.asked.count(PreferenceReply.__name__)


def test_each_pair_is_judged_in_both_orders_and_once() -> None:
    judge = speaker(longer)
    evaluate(asked(judge))
    assert judged(asked(judge)).spent.calls == words(judge) == 6
    assert [(one.row, one.against, one.item) for one in lines()] == [
        ("two_stage", "single_stage", f"p{n}") for n in range(3)
    ]
    assert [(one.score.score, one.judging.calls) for one in lines()] == [(1.0, 2)] * 3
    assert judged(asked(judge)).spent.calls == 0
    assert (words(judge), len(lines())) == (6, 3)
    rulings = (PreferenceReply, FactualityReply, RubricReply)
    read = [call.prompt for call in judge.calls if call.kind in {kind.__name__ for kind in rulings}]
    assert read and not any("[rests" in prompt for prompt in read)  # the mark is the program's


def test_a_judge_that_goes_by_the_place_prefers_nothing() -> None:
    judge = speaker(lambda call: "FIRST")
    evaluate(asked(judge))
    judged(asked(judge))
    assert {(one.score.score, one.score.value) for one in lines()} == {(None, "swayed")}


def test_the_row_to_stand_beside_is_named_or_known_by_its_method() -> None:
    rows = [Row(name=name, method="tod") for name in ("a", "b")]
    rows.append(Row(name="c", method="single_stage"))
    assert baseline("a", rows) == "a"
    assert baseline("single_stage", rows) == "c"
    with pytest.raises(InputError, match="--against tod: several rows are by it; rows are a, b, c"):
        baseline("tod", rows)
    with pytest.raises(InputError, match="--against x: there is no such row"):
        baseline("x", rows)


def test_the_report_counts_wins_ties_and_losses(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, "compare", 6)
    message: list[tuple[float | None, ScoreOutcome]] = [
        *((1.0, "scored"), (1.0, "scored"), (0.0, "scored"), (0.5, "scored")),
        *((None, "swayed"), (None, "unparsed")),
    ]
    found = [
        Preferred(
            row="tod",
            against="single_stage",
            item=f"q{n}",
            score=Score(key="preference", score=number, value=value),
            ended=sample.STAMP,
        )
        for n, (number, value) in enumerate(message, 1)
    ]
    assert not any(table.key == "preferred" for table in tables(analysed(study([folder]))))
    text = "".join(one.model_dump_json() + "\n" for one in found)
    (folder / "preferences.jsonl").write_text(text)
    (table,) = (one for one in tables(analysed(study([folder]))) if one.key == "preferred")
    line = [*table.frame.iloc[0]]
    assert line[:8] == ["tod", "single_stage", 5, 2, 2, 1, 1, wilson(2, 3)]
    assert line[8:] == [tango(mcnemar_counts(0, 2, 1, 2)), 1]
    ((*_, (balance, _), _),) = shown(table)
    assert balance == "+20.0"  # two won less one lost, of five


def test_a_budget_ends_it_and_the_same_again_goes_on() -> None:
    judge = speaker(longer)
    evaluate(asked(judge))
    with pytest.raises(BudgetReached):
        judged(asked(judge), max_calls=3)
    assert (words(judge), len(lines()) < 3) == (3, True)
    path = Path("out/preferences.jsonl")
    path.touch()
    path.write_bytes(path.read_bytes() + b'{"torn')
    judged(asked(judge))
    assert (words(judge), len(lines())) == (6, 3)
