"""A report from results alone: what is counted and left out, and that nothing gets out of hand."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from dialectree.errors import InputError
from dialectree.evals.dataset_items import Item
from dialectree.evals.plots import plots
from dialectree.evals.reporting.analysis import Analysis, analyse_study
from dialectree.evals.reporting.answers import RUBRIC
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.formatting import Table, format_table_rows, in_brackets, render_table
from dialectree.evals.reporting.page import pairs
from dialectree.evals.reporting.study import RatingLine, Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.reporting.writing import report
from dialectree.evals.results import AnswerScore, ControlScore, Result, Vote
from dialectree.interfaces.cli.evaluation_report import summary_lines
from dialectree.records import RunRecord, Verdict
from dialectree.records.folder import RunFolder
from tests.evals import sample
from tests.report import recorded as runs
from tests.report.recorded import Page, tokens

SINGLE, DEBATE = sample.row("single_shot"), sample.row("tsd")
HERE, THERE = (f"{sample.MODEL}@http://{host}:8000/v1" for host in ("127.0.0.1", "localhost"))


class Report(Page):
    """A page with a field to write in, which has no end."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "input":
            self.open.pop()


def judged(row: str, number: int, right: bool | None, answer: str = "so") -> Result:
    """An answer that the judge called right, wrong, or something unreadable."""
    kind = "unparsed" if right is None else "scored"
    score = None if right is None else float(right)
    made = sample.result("answer", SINGLE, sample.items("answer", 1)[0], True, random.Random(1))
    verdict = made.verdict and made.verdict.model_copy(update={"answer": answer})
    scores = [AnswerScore(key="truthful", score=score, value=kind)]
    update = {"row": row, "item": f"q{number}", "scores": scores, "verdict": verdict, "run": None}
    return made.model_copy(update=update)


def kept(folder: Path, results: Sequence[Result], n: int, **fields: object) -> Study:
    asked = sample.items("answer", n)
    return study([sample.write(folder, "answer", [DEBATE, SINGLE], asked, results, **fields)])


def counted(folder: Path, debate: int, single: int, n: int, **fields: object) -> Study:
    """Two rows with so many right answers of n."""
    results = [judged("tsd", k, k <= debate) for k in range(1, n + 1)]
    results += [judged("single_shot", k, k > n - single) for k in range(1, n + 1)]
    return kept(folder, results, n, **fields)


def table(found: Study | Analysis, key: str) -> Table:
    analysis = analyse_study(found) if isinstance(found, Study) else found
    return {one.key: one for one in tables(analysis)}[key]


def told(found: Study | Analysis, key: str, row: int = 0) -> dict[str, str]:
    """A line of a table as a person reads it, by heading."""
    one = table(found, key)
    texts = [in_brackets(*cell) for cell in [*format_table_rows(one)][row]]
    return dict(zip(one.frame, texts, strict=True))


# What counts


def test_every_outcome_is_counted_apart(tmp_path: Path) -> None:
    results = [judged("tsd", 1, True), judged("tsd", 2, False), judged("tsd", 3, None)]
    failed = judged("tsd", 4, True).model_copy(update={"status": "failed", "scores": []})
    none = AnswerScore(key="truthful", score=0.0, value="unanswered")
    unresolved = judged("tsd", 5, True).model_copy(
        update={"status": "unresolved", "scores": [none], "verdict": None}
    )
    down = AnswerScore(key="truthful", score=None, value="failed")
    unscored = judged("tsd", 6, True).model_copy(update={"scores": [down]})
    degraded = judged("tsd", 7, True).model_copy(update={"status": "degraded"})
    found = kept(tmp_path, [*results, failed, unresolved, unscored, degraded], 7)
    row = found.rows["tsd"]
    ends = ("right", "wrong", "unanswered", "unparsed", "failed", "unscored")
    assert [row.counts[end] for end in ends] == [2, 1, 1, 1, 1, 1]
    assert (row.n, row.accuracy.share, row.bounds) == (4, 2 / 4, (2 / 5, 3 / 5))
    line = told(found, "accuracy")
    assert line["answered"].startswith("80.0%") and line["degraded"] == "1"
    assert line["accuracy"].startswith("50.0%") and line["right of those answered"].startswith("66.7%")
    assert "a withheld answer is not right" in " ".join(table(found, "accuracy").notes)
    said = "\n".join(cautions(analyse_study(found)))
    assert "Failed runs are in no share; --retry-failed asks them again: TSD 1 of 7" in said
    assert "could not be read, or was not given: TSD 2 of 7" in said


def voted(number: int, before: bool | None, after: bool | None) -> Result:
    vote = Vote(answers=["so"], right=before)
    return judged("tsd", number, after).model_copy(update={"vote": vote})


def test_a_judgement_that_could_not_be_read_weighs_neither_way(tmp_path: Path) -> None:
    turns = [(True, None)] * 12 + [(None, True)] * 3 + [(True, True), (False, True)]
    results = [voted(number, *pair) for number, pair in enumerate(turns, 1)]
    results += [judged("tsd", 18, True), *(judged("single_shot", k, True) for k in range(1, 19))]
    analysis = analyse_study(kept(tmp_path, results, 18))
    pair, vote = analysis.comparisons
    assert (pair.ledger[:4], vote.ledger[:4]) == ((6, 0, 0, 0), (1, 1, 0, 0))
    line = told(analysis, "turned")
    assert (line["no vote, or no right answer"], line["judgement not read"]) == ("1", "15")
    assert not any("is worse" in text for text in findings(analysis))
    left = "Left out, without a judgement that could be read: TSD 12 of 18."
    assert all(left in table(analysis, key).notes for key in ("compared", "cost"))
    assert [one.row.accuracy.share for one in analysis.priced] == [1.0, 1.0]


def summaries(folder: Path, unread: int, keys: Sequence[str] = ("factuality",)) -> Study:
    """Summaries of twelve pairs of papers; so many of tod have marks that cannot be read."""
    over, asked = [sample.row("tod"), sample.row("single_stage")], sample.items("compare", 12)
    none = [AnswerScore(key=key, score=None, value="unparsed") for key in keys]
    results = []
    for made in sample.results("compare", over, asked):
        hazy = int(made.item[1:]) <= unread and (made.row == "tod" or len(keys) > 1)
        scores = [score for score in made.scores if score.key not in keys]
        update = {"scores": [*scores, *none], "status": "answered"} if hazy else {}
        results.append(made.model_copy(update=update))
    return study([sample.write(folder, "compare", over, asked, results)])


def test_missing_marks_of_summaries_are_named_and_counted(tmp_path: Path) -> None:
    found = summaries(tmp_path, 5)
    said = " ".join(cautions(analyse_study(found)))
    assert "a judgement that could not be read, or was not given: ToD 5 of 12." in said
    one = table(found, "rubric").frame
    assert [*one][-2:] == ["with factuality", "with overall"]
    assert [*one.iloc[0, -2:]] == [one["summaries"][0] - 5] * 2
    report([tmp_path])
    path = tmp_path / "report" / "questions.csv"
    lines = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    ends = [line["factuality_outcome"] for line in lines if line["row"] == "tod"]
    assert ends[:5] == ["unparsed"] * 5 and lines[0]["breadth_outcome"] == "scored"


def test_marks_of_which_none_was_read_are_no_zero_and_are_missing(tmp_path: Path) -> None:
    analysis = analyse_study(summaries(tmp_path, 12, RUBRIC))
    answer, _, missing = opening(analysis)
    assert answer.endswith("no question was judged for both of ToD and Single Stage.")
    assert missing == f"What is missing: {12 * 2 * 3} judgements unread."
    said = summary_lines(report([tmp_path]))
    assert "ToD: breadth –, contextualisation –, factuality –, overall –" in said
    assert (tmp_path / "report.csv").read_text().splitlines()[1].startswith("ToD,,,,0,,,,0,")


def test_votes_and_controls_that_were_not_read_are_missing(tmp_path: Path) -> None:
    control = ControlScore(key="truthful", truthful=True, score=None, value="unparsed")
    results = [voted(1, None, True), voted(2, True, True)]
    results[1] = results[1].model_copy(update={"controls": [control]})
    found = kept(tmp_path, results, 2)
    assert opening(analyse_study(found))[2] == "What is missing: 2 judgements unread."


def test_where_nothing_was_judged_the_report_does_not_say_that_no_baseline_ran(tmp_path: Path) -> None:
    results = [judged(row, k, None) for row in ("tsd", "single_shot") for k in range(1, 5)]
    analysis = analyse_study(kept(tmp_path, results, 4))
    answer, _, missing = opening(analysis)
    assert answer.endswith("no question was judged for both of TSD and Single-shot.")
    assert missing == "What is missing: 8 judgements unread."
    line = told(analysis, "accuracy")
    assert (line["accuracy"], line["n"], line["questions"]) == ("–", "0", "4")
    assert "TSD: accuracy –" in summary_lines(report([tmp_path]))
    assert (tmp_path / "report.csv").read_text().splitlines()[1].startswith("TSD,0,0,,,,0,0,4,")


def test_every_point_of_a_curve_is_in_a_file_and_in_a_plot(tmp_path: Path) -> None:
    sure = [(1 - k / 10, k <= 6) for k in range(1, 9)] + [(1.0, None)]
    results = [
        judged("tsd", k, right).model_copy(update={"verdict": Verdict(answer="", confidence=c)})
        for k, (c, right) in enumerate(sure, 1)
    ]
    assert "risk" in {plot.key for plot in plots(analyse_study(kept(tmp_path, results, 9)))}
    report([tmp_path])
    path = tmp_path / "report" / "risk-coverage-curves.csv"
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    assert lines[0] == ["method", "at least this sure", "coverage", "risk"]
    assert [line[:3] for line in lines[1:3]] == [["TSD", "0.9", "0.125"], ["TSD", "0.8", "0.25"]]
    assert len(lines) == 9 and lines[-1][2:] == ["1.0", "0.25"]
    assert "report/risk.svg" in (tmp_path / "report.md").read_text("utf-8")


def test_the_figures_of_the_paper_come_out_as_printed(tmp_path: Path) -> None:
    found = counted(tmp_path / "many", 566, 463, 790, demonstration=True)
    line = [*told(found, "accuracy").values()]
    assert line[:4] == ["TSD", "71.6% [68.4, 74.7]", "566", "790"]
    assert findings(analyse_study(found))[0].startswith(
        "TSD is better than Single-shot: 13.0 points above it (paired difference, 95% from +7.2 to +18.7; 790"
    )
    assert cautions(analyse_study(found))[0].startswith("A model below 1 billion parameters took part")
    few = findings(analyse_study(counted(tmp_path / "few", 24, 20, 40)))[0]
    assert few.startswith("No difference can be shown: TSD is 10.0 points above Single-shot")
    assert "This many questions would probably show" in few


def test_a_judge_that_answered_too_or_says_true_to_everything_is_named(tmp_path: Path) -> None:
    said = cautions(analyse_study(counted(tmp_path, 40, 40, 40, judge=HERE)))
    assert "The judge said TRUE to all 80 answers" in "".join(said)
    assert said[-1].startswith(f"The scores' judge, {sample.MODEL}, is also the model of TSD")


def test_rulings_on_known_answers_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    ruled = [
        ControlScore(key="truthful", truthful=True, score=1.0, value="scored"),
        ControlScore(key="truthful", truthful=False, score=0.0, value="scored"),
        ControlScore(key="truthful", truthful=False, score=None, value="unparsed"),
    ]
    results = [judged("tsd", 1, True).model_copy(update={"controls": ruled}), judged("tsd", 2, True)]
    line = told(kept(tmp_path, results, 2), "controls")
    assert (line["no ruling"], line["questions"], line["informedness"]) == ("1", "1", "1.00")
    assert line["wrong answers called wrong"].startswith("100.0%")


def test_marks_by_category_are_written_as_marks(tmp_path: Path) -> None:
    found = study([sample.evaluation(tmp_path, "compare", 30)])
    line = told(found, "categories")
    assert re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", line["ToD"])


def test_one_model_that_answers_at_chance_makes_a_demonstration(tmp_path: Path) -> None:
    asked, over = sample.items("answer", 2), [SINGLE, DEBATE]
    folders = [
        sample.write(tmp_path / name, "answer", [row], asked, [], demonstration=name == "b")
        for name, row in zip("ab", over, strict=True)
    ]
    assert [study([folder]).demonstration for folder in folders] == [False, True]
    assert study(folders).demonstration
    plain = study(folders[:1])
    for at_chance in (False, True):
        line = RatingLine(rater="j", row="tsd", item="q1", scores=[], judge=True, demonstration=at_chance)
        plain.ratings.append(line)
        assert plain.demonstration == at_chance


def test_a_row_is_the_same_in_whatever_order_its_settings_stand(tmp_path: Path) -> None:
    asked, settings = sample.items("decide", 2), {"samples": 3, "candidates": "oracle"}
    folders = []
    for name, given in (("a", settings), ("b", dict(reversed(settings.items())))):
        row = sample.row("self_consistency", name="x").model_copy(update={"settings": given})
        folders.append(sample.write(tmp_path / name, "decide", [row], asked, []))
    assert [*study(folders).rows] == ["x"]


def test_only_what_a_further_judge_scored_is_in_the_table_of_judges(tmp_path: Path) -> None:
    found = counted(tmp_path, 2, 1, 3)
    for result in found.results:  # the evaluation's own judge scored this as well
        result.scores.append(AnswerScore(key="informative", score=1.0, value="scored"))
    for rater, key, is_judge in (("other", "truthful", True), ("Ada", "informative", False)):
        scores = [AnswerScore(key=key, score=1.0, value="scored")]
        found.ratings.append(RatingLine(rater=rater, row="tsd", item="q1", scores=scores, judge=is_judge))
    lines = table(found, "judges").frame
    assert [*lines["score"]] == ["truthful", "truthful"] and [*lines["method"]] == ["TSD", "Single-shot"]


# Folders


def test_shards_of_one_data_set_make_one_report(tmp_path: Path) -> None:
    asked = sample.items("answer", 20)
    over = sample.rows("answer")
    results = sample.results("answer", over, asked)
    for number, part in ((1, asked[:11]), (2, asked[11:])):
        ids = {item.id for item in part}
        own = [r for r in results if r.item in ids]
        said = {"shard": f"{number}/2", "data": {"name": "x", "sha256": sample.SHA, "count": 20}}
        sample.write(tmp_path / str(number), "answer", over, part, own, **said)
    together = study([tmp_path / "1", tmp_path / "2"])
    whole = study([sample.write(tmp_path / "whole", "answer", over, asked, results)])
    assert together.items == whole.items
    first, second = ([render_table(t).csv for t in tables(analyse_study(s))] for s in (together, whole))
    assert first == second
    alone = cautions(analyse_study(study([tmp_path / "1"])))
    assert "Only 11 of 20 questions are here." in alone
    assert not any("are here" in text for text in cautions(analyse_study(together)))


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ({"samples": 3}, {"samples": 9}, ["x · samples=3", "x · samples=9"]),
        ({"note": "a" * 99}, {"note": "b"}, ["x · mon/mine", "x · fri/mine"]),
    ],
)
def test_rows_of_one_name_are_told_apart_in_few_words(
    first: dict[str, JsonValue], second: dict[str, JsonValue], names: list[str], tmp_path: Path
) -> None:
    asked, folders = sample.items("decide", 2), []
    for place, given in (("mon", first), ("fri", second)):
        row = sample.row("basic", name="x").model_copy(update={"settings": given})
        folders.append(sample.write(tmp_path / place / "mine", "decide", [row], asked, []))
    found = study(folders)
    assert [*found.rows] == names
    seeds = [name for name, _ in pairs(found) if name.startswith("Seed")]
    assert seeds == ["Seed of mon/mine", "Seed of fri/mine"]


def test_a_line_that_was_torn_off_is_passed_over_and_the_last_of_two_counts(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, n=2)
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    again = json.loads(lines[0]) | {"status": "failed"}
    path.write_text("".join(lines) + json.dumps(again) + "\n" + lines[1][:30])
    found = study([folder])
    assert found.rows["tsd"].results["q1"].status == "failed"
    assert len(found.results) == len(lines)


def test_the_same_question_twice_is_refused(tmp_path: Path) -> None:
    folders = [sample.evaluation(tmp_path / name, n=2, seed=k) for k, name in enumerate("ab")]
    with pytest.raises(InputError, match="different results"):
        study(folders)
    with pytest.raises(InputError, match="named twice"):
        study([folders[0], folders[0]])


# Files


def edge(name: str, folder: Path) -> Path:
    """Evaluations in which some figure has nothing to stand on."""
    if name == "nothing":
        return sample.write(folder, "answer", [DEBATE, SINGLE], sample.items("answer", 3), [])
    if name == "verify one":
        return sample.evaluation(folder, "verify", 1)
    if name == "compare one":
        return sample.evaluation(folder, "compare", 1)
    n, right = {"one": (1, True), "all wrong": (6, False)}[name]
    results = [judged(row, k, right) for row in ("tsd", "single_shot") for k in range(1, n + 1)]
    asked = sample.items("answer", n)
    return sample.write(folder, "answer", [DEBATE, SINGLE], asked, results, ended=None)


@pytest.mark.parametrize("name", ["nothing", "one", "all wrong", "verify one", "compare one"])
def test_no_table_holds_what_is_no_number(name: str, tmp_path: Path) -> None:
    analysis = analyse_study(study([edge(name, tmp_path)]))
    sentences = " ".join([*findings(analysis), *cautions(analysis)])
    texts = " ".join(text for one in tables(analysis) for text in render_table(one))
    assert not re.search(r"\b(?:nan|inf|None|null)\b", sentences + texts, re.IGNORECASE)
    if name in ("one", "verify one", "compare one"):
        assert "With 1 question only" in sentences


def everything(folder: Path) -> dict[str, bytes]:
    names = ("report.html", "report.md", "report.csv")
    found = {name: (folder / name).read_bytes() for name in names}
    return found | {p.name: p.read_bytes() for p in sorted((folder / "report").iterdir())}


def test_the_same_results_make_the_same_files_and_hostile_texts_stay_texts(tmp_path: Path) -> None:
    text = "".join(runs.HOSTILE[:12]).replace("\ud800", "") + "</script><script>alert(2)</script>"
    row = sample.row("tsd", name="=cmd|' /C calc'!A0 <b>$x^2$")
    asked = sample.items("answer", 5, text=text)
    asked = [Item(**{**dict(i), "category": f"{text}{k % 2}"}) for k, i in enumerate(asked)]
    rows = [row, SINGLE]
    results = [
        r.model_copy(update={"category": i.category})
        for i in asked
        for r in sample.results("answer", rows, [i], text=text)
    ]
    folder = sample.write(tmp_path, "answer", rows, asked, results)
    report([folder])
    first = everything(folder)
    plain = sample.evaluation(tmp_path / "plain", n=5)
    report([folder])
    report([plain])
    assert everything(folder) == first
    ordinary = Report((plain / "report.html").read_text("utf-8"))
    page = Report((folder / "report.html").read_text("utf-8"))
    assert set(page.elements) - {"small"} <= set(ordinary.elements)
    assert page.names <= ordinary.names
    assert page.elements.count("script") == 2
    assert not any(link.startswith(("javascript", "http")) for link in page.links)
    kinds = {t.type for t in tokens((folder / "report.md").read_text("utf-8"))}
    expected = {t.type for t in tokens((plain / "report.md").read_text("utf-8"))}
    assert kinds <= expected
    for name, data in first.items():
        if name.endswith(".csv"):
            for line in csv.reader(data.decode().splitlines()):
                assert not any(re.match(r"\s*[=@]", cell) for cell in line)
                assert not any(re.match(r"\s*[+-](?![\d.])", cell) for cell in line)


def test_a_run_without_a_page_gets_one_and_the_report_leads_to_it(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, n=2)
    name = study([folder]).rows["tsd"].results["q1"].run or ""
    (folder / "runs" / name).mkdir(parents=True)
    record: RunRecord = runs.record("tsd")
    RunFolder(folder / "runs" / name).write_record(record)
    done = report([folder])
    assert (done.pages, done.missing) == (1, 0)
    assert (folder / "runs" / name / "report.html").read_text().startswith("<!doctype")
    assert f'"runs/{name}/report.html"' in (folder / "report.html").read_text()
    assert report([folder]).pages == 0


def test_nothing_of_another_report_stays_beside_this_one(tmp_path: Path) -> None:
    decided, compared = (sample.evaluation(tmp_path / task, task, 12) for task in ("decide", "compare"))
    out, alone = tmp_path / "out", tmp_path / "alone"
    report([decided], out=out)
    own = [out / "notes.md", out / "report" / "mine.csv"]
    for path in own:
        path.write_text("mine")
    report([compared], out=out)
    report([compared], out=alone)
    there, wanted = ({p.relative_to(f) for p in f.rglob("*") if p.is_file()} for f in (out, alone))
    assert there - wanted == {path.relative_to(out) for path in own}
    assert wanted <= there
