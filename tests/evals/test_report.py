"""A report from results alone: what is counted, what is said, and that nothing gets out of hand."""

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
from dialectree.evals.reporting import measures, setup
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings
from dialectree.evals.reporting.formatting import Table, as_csv, bracketed
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.reporting.writing import report
from dialectree.evals.results import Result, Score
from dialectree.records import RunRecord
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
    scores = [Score(key="truthful", score=score, value=kind)]
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


def table(found: Study, key: str) -> Table:
    return {one.key: one for one in tables(analysed(found))}[key]


def cells(one: Table, row: int = 0) -> list[str]:
    return bracketed(one)[row]


def test_every_outcome_is_counted_apart(tmp_path: Path) -> None:
    results = [judged("tsd", 1, True), judged("tsd", 2, False), judged("tsd", 3, None)]
    failed = judged("tsd", 4, True).model_copy(update={"status": "failed", "scores": []})
    none = Score(key="truthful", score=0.0, value="unanswered")
    unresolved = judged("tsd", 5, True).model_copy(
        update={"status": "unresolved", "scores": [none], "verdict": None}
    )
    down = Score(key="truthful", score=None, value="failed")
    unscored = judged("tsd", 6, True).model_copy(update={"scores": [down]})
    degraded = judged("tsd", 7, True).model_copy(update={"status": "degraded"})
    found = kept(tmp_path, [*results, failed, unresolved, unscored, degraded], 7)
    counts = measures.outcomes(found.of("tsd"))
    assert [*counts] == [2, 1, 1, 1, 1, 1, 1, 1.0]
    assert (counts.n, counts.share.share) == (3, 2 / 3)
    assert [text.partition(" ")[0] for text in cells(table(found, "accuracy"))[-2:]] == [
        "80.0%",
        "50.0%",
    ]
    assert counts.bounds == (2 / 4, 3 / 4)
    said = "\n".join(cautions(analysed(found)))
    assert "Failed runs are in no share; --retry-failed asks them again: tsd 1 of 7" in said
    assert "could not be read, or was not given: tsd 2 of 7" in said


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
    assert [t[:4] for t in tables(analysed(together))] == [t[:4] for t in tables(analysed(whole))]
    alone = cautions(analysed(study([tmp_path / "1"])))
    assert "Only 11 of 20 questions are here." in alone
    assert not any("are here" in text for text in cautions(analysed(together)))


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ({"samples": 3}, {"samples": 9}, ["x · samples=3", "x · samples=9"]),
        ({"note": "a" * 99}, {"note": "b"}, ["x · mon/mine", "x · fri/mine"]),
    ],
)
def test_rows_of_one_name_are_told_apart_in_few_words(
    first: dict[str, JsonValue], second: dict[str, JsonValue], told: list[str], tmp_path: Path
) -> None:
    asked, folders = sample.items("decide", 2), []
    for place, given in (("mon", first), ("fri", second)):
        row = sample.row("basic", name="x").model_copy(update={"settings": given})
        folders.append(sample.write(tmp_path / place / "mine", "decide", [row], asked, []))
    found = study(folders)
    assert [row.name for row in found.rows] == told
    assert [name for name, _ in setup.pairs(found) if name.startswith("Seed")] == [
        "Seed of mon/mine",
        "Seed of fri/mine",
    ]


def test_a_line_that_was_torn_off_is_passed_over_and_the_last_of_two_counts(
    tmp_path: Path,
) -> None:
    folder = sample.evaluation(tmp_path, n=2)
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    again = json.loads(lines[0]) | {"status": "failed"}
    path.write_text("".join(lines) + json.dumps(again) + "\n" + lines[1][:30])
    found = study([folder])
    assert found.results["tsd"]["q1"].status == "failed"
    assert sum(map(len, found.results.values())) == len(lines)


def test_the_figures_of_the_paper_come_out_as_printed(tmp_path: Path) -> None:
    found = counted(tmp_path / "many", 566, 463, 790, demonstration=True)
    assert cells(table(found, "accuracy"))[:4] == ["tsd", "71.6% [68.4, 74.7]", "566", "790"]
    assert findings(analysed(found))[0].startswith(
        "tsd is better than single_shot: 13.0 points above it (95% from +7.2 to +18.7; 790"
    )
    assert cautions(analysed(found))[0].startswith("A model below 1 billion parameters took part")
    few = findings(analysed(counted(tmp_path / "few", 24, 20, 40)))[0]
    assert few.startswith("No difference can be shown: tsd is 10.0 points above single_shot")
    assert "So many questions would probably show" in few


NUMBERS = re.compile(r"\b(?:nan|inf|None|null)\b", re.IGNORECASE)


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
    found = study([edge(name, tmp_path)])
    analysis = analysed(found)
    for one in tables(analysis):
        said = [text for k in range(len(one.rows)) for text in cells(one, k)]
        assert not NUMBERS.search(" ".join([*said, as_csv(one)]))
    sentences = " ".join([*findings(analysis), *cautions(analysis)])
    assert not NUMBERS.search(sentences)
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
    found = study([folder])
    name = found.results["tsd"]["q1"].run or ""
    (folder / "runs" / name).mkdir(parents=True)
    record: RunRecord = runs.record("tsd")
    RunFolder(folder / "runs" / name).write_record(record)
    written = report([folder])
    assert (written.pages, written.missing) == (1, 0)
    assert (folder / "runs" / name / "report.html").read_text().startswith("<!DOCTYPE")
    assert f'"runs/{name}/report.html"' in (folder / "report.html").read_text()
    assert report([folder]).pages == 0


def test_nothing_of_another_report_stays_beside_this_one(tmp_path: Path) -> None:
    decided, compared = (
        sample.evaluation(tmp_path / task, task, 12) for task in ("decide", "compare")
    )
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


def test_a_judge_that_answered_too_or_says_true_to_everything_is_named(tmp_path: Path) -> None:
    said = cautions(analysed(counted(tmp_path, 40, 40, 40, judge=HERE)))
    assert "The judge said TRUE to all 80 answers" in "".join(said)
    assert said[-1].startswith(f"The scores' judge, {sample.MODEL}, is also the model of tsd")


def test_the_same_question_twice_is_refused(tmp_path: Path) -> None:
    folders = [sample.evaluation(tmp_path / name, n=2, seed=k) for k, name in enumerate("ab")]
    with pytest.raises(InputError, match="stands in"):
        study(folders)
    with pytest.raises(InputError, match="named twice"):
        study([folders[0], folders[0]])
