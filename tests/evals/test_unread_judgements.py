"""A judgement that cannot be read is no score: it weighs neither for nor against a row."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dialectree.cli.evaluation_report import summary_lines
from dialectree.evals import debate_gain
from dialectree.evals.plots import plots
from dialectree.evals.reporting.analysis import Analysis, analysed
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.study import RUBRIC, Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.reporting.writing import report
from dialectree.evals.results import Control, Preferred, Result, Score, Vote
from dialectree.records import Verdict
from tests.evals import sample
from tests.evals.test_report import cells, judged, kept, table


def voted(number: int, before: bool | None, after: bool | None) -> Result:
    vote = Vote(answers=["so"], right=before)
    return judged("tsd", number, after).model_copy(update={"vote": vote})


def ledger(folder: Path, pairs: Sequence[tuple[bool | None, bool | None]]) -> Study:
    found = [voted(number, *pair) for number, pair in enumerate(pairs, 1)]
    return kept(folder, [*found, judged("tsd", len(pairs) + 1, True)], len(pairs) + 1)


def test_no_flip_comes_from_a_judgement_that_could_not_be_read(tmp_path: Path) -> None:
    pairs = [(True, None)] * 12 + [(None, True)] * 3 + [(True, True), (False, True)]
    found = ledger(tmp_path, pairs)
    (one,) = debate_gain.turned(found)
    assert one.ledger[:4] == (1, 0, 1, 0)
    assert (one.without, one.unread) == (1, 15)
    assert not any("is worse" in text for text in findings(analysed(found)))
    assert cells(table(found, "turned"))[-2:] == ["1", "15"]


def hazy(folder: Path, unread: int) -> Analysis:
    """Two rows of 20 questions, all right; of the first's, so many cannot be read."""
    results = [judged("tsd", k, None if k <= unread else True) for k in range(1, 21)]
    results += [judged("single_shot", k, True) for k in range(1, 21)]
    return analysed(kept(folder, results, 20))


def test_pairs_and_costs_take_what_was_read_and_say_what_they_leave_out(
    tmp_path: Path,
) -> None:
    analysis = hazy(tmp_path, 8)
    (one,) = analysis.compared
    assert one.ledger[:4] == (12, 0, 0, 0)
    made = {found.key: found for found in tables(analysis)}
    left = "Left out, without a judgement that could be read: tsd 8 of 20."
    assert all(left in made[key].notes for key in ("mcnemar", "front"))
    assert cells(made["accuracy"])[1:5] == ["100.0% [75.8, 100.0]", "12", "12", "20"]
    spent = {one.row.name: one.right.share for one in analysis.spent}
    assert spent == {"tsd": 1.0, "single_shot": 1.0}


def summaries(folder: Path, unread: int) -> Study:
    """Summaries of twelve pairs of papers; of so many the factuality of tod's cannot be read."""
    over = [sample.row("tod"), sample.row("single_stage")]
    asked = sample.items("compare", 12)
    none = Score(key="factuality", score=None, value="unparsed")
    results = []
    for made in sample.results("compare", over, asked):
        scores = [score for score in made.scores if score.key != "factuality"]
        hazy = made.row == "tod" and int(made.item[1:]) <= unread
        update = {"scores": [*scores, none], "status": "answered"} if hazy else {}
        results.append(made.model_copy(update=update))
    return study([sample.write(folder, "compare", over, asked, results)])


def test_missing_marks_of_summaries_are_named_and_counted(tmp_path: Path) -> None:
    found = summaries(tmp_path, 5)
    said = " ".join(cautions(analysed(found)))
    assert "a judgement that could not be read, or was not given: tod 5 of 12." in said
    one = table(found, "rubric")
    assert [column.name for column in one.columns][-2:] == ["with factuality", "with overall"]
    ended = one.rows[0][5]
    assert isinstance(ended, int) and one.rows[0][-2:] == [ended - 5, ended - 5]
    assert "with breadth" not in [column.name for column in one.columns]
    report([tmp_path])
    path = tmp_path / "report" / "questions.csv"
    lines = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert [line["factuality, outcome"] for line in lines if line["row"] == "tod"][:5] == [
        "unparsed"
    ] * 5
    assert lines[0]["breadth, outcome"] == "scored"


def test_marks_of_which_none_was_read_are_no_zero_and_are_missing(tmp_path: Path) -> None:
    over = [sample.row("tod"), sample.row("single_stage")]
    asked = sample.items("compare", 6)
    none = [Score(key=key, score=None, value="unparsed") for key in RUBRIC]
    results = [
        one.model_copy(update={"scores": none, "status": "answered"})
        for one in sample.results("compare", over, asked)
    ]
    analysis = analysed(study([sample.write(tmp_path, "compare", over, asked, results)]))
    answer, _, missing = opening(analysis)
    assert answer.endswith("no question was judged for both of tod and single_stage.")
    assert missing == f"What is missing: {6 * 2 * 3} judgements unread."
    said = summary_lines(report([tmp_path]))
    assert "tod: breadth –, contextualisation –, factuality –, overall –" in said
    assert (tmp_path / "report.csv").read_text().splitlines()[1].startswith("tod,,,,0,,,,0,")


def test_a_breadth_that_was_never_read_is_missing(tmp_path: Path) -> None:
    found = summaries(tmp_path, 12)
    unread = sum(
        score.value == "unparsed"
        for own in found.results.values()
        for one in own.values()
        for score in one.scores
    )
    assert opening(analysed(found))[2] == f"What is missing: {unread} judgements unread."


def test_votes_controls_and_preferences_that_were_not_read_are_missing(tmp_path: Path) -> None:
    control = Control(key="truthful", truthful=True, score=None, value="unparsed")
    results = [voted(1, None, True), voted(2, True, True)]
    results[1] = results[1].model_copy(update={"controls": [control]})
    found = kept(tmp_path, results, 2)
    unread = Score(key="preference", score=None, value="failed")
    one = Preferred(row="tsd", against="single_shot", item="q1", score=unread, ended="")
    found.preferences.append(one)
    assert opening(analysed(found))[2] == "What is missing: 3 judgements unread."


def sure(number: int, confidence: float, right: bool | None) -> Result:
    verdict = Verdict(answer="so", confidence=confidence)
    return judged("tsd", number, right).model_copy(update={"verdict": verdict})


def knowing(folder: Path) -> Study:
    """A row of eight answers that is wrong where it is least sure; one cannot be read."""
    results = [sure(k, 1 - k / 10, k <= 6) for k in range(1, 9)]
    return kept(folder, [*results, sure(9, 1.0, None)], 9)


def test_every_point_of_a_curve_is_in_a_file_and_in_a_plot(tmp_path: Path) -> None:
    found = knowing(tmp_path)
    assert "risk" in {plot.key for plot in plots(analysed(found))}
    report([tmp_path])
    path = tmp_path / "report" / "risk-coverage-curves.csv"
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    assert lines[0] == ["row", "at least this sure", "coverage", "risk"]
    assert [line[:3] for line in lines[1:3]] == [["tsd", "0.9", "0.125"], ["tsd", "0.8", "0.25"]]
    assert len(lines) == 9 and lines[-1][2:] == ["1.0", "0.25"]
    assert "report/risk.svg" in (tmp_path / "report.md").read_text("utf-8")
