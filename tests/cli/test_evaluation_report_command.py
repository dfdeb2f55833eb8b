"""``dialectree eval report`` and ``eval rate`` as a person or a script meets them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialectree.evals.reporting import answers
from tests.cli.commands import command, refused
from tests.evals import sample
from tests.evals.test_rating import filled, marked


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "resamples", lambda n: 20)


def test_a_report_is_written_and_its_page_named(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path / "e", "verify", 12, demonstration=True)
    done = command("eval", "report", str(folder))
    assert (done.status, done.out) == (0, f"{folder / 'report.html'}\n")
    opening, _, marked = done.err.partition("\n! A model below 1 billion parameters took part")
    *figures, _, _, _ = opening.splitlines()
    assert marked and len(figures) > 1
    assert all(re.match(r"\S+: accuracy [\d.]+% \[[\d.]+, [\d.]+\]", line) for line in figures)
    assert "\n- No difference can be shown: ART is " in done.err
    written = {p.name for p in folder.iterdir()} | {p.name for p in (folder / "report").iterdir()}
    assert {"report.html", "report.md", "report.csv", "questions.csv", "risk.png"} <= written


def test_shards_go_into_a_folder_of_their_own(tmp_path: Path) -> None:
    asked, over = sample.items("answer", 4), sample.rows("answer")[:1]
    results = sample.results("answer", over, asked)
    parts = [
        str(sample.write(tmp_path / str(k), "answer", over, [one], [result]))
        for k, (one, result) in enumerate(zip(asked, results, strict=True))
    ]
    done = command("eval", "report", *parts, "--out", "whole", "--quiet")
    assert (done.status, done.err) == (0, "")
    assert "| TSD |" in (Path("whole") / "report.md").read_text()
    assert not (tmp_path / "0" / "report.html").exists()


def test_what_cannot_be_reported_is_one_line(tmp_path: Path) -> None:
    first = sample.evaluation(tmp_path / "a", n=1)
    data = {"name": "made-up", "sha256": "cd" * 32, "count": 1}
    other = sample.evaluation(tmp_path / "b", n=1, data=data)
    refused(command("eval", "report", str(first), str(other)), "only results on the same data")
    refused(command("eval", "report", str(tmp_path)), "holds no evaluation")
    (unread := tmp_path / "evaluation.json").mkdir()
    refused(command("eval", "report", str(tmp_path)), f"{unread}: Is a directory")
    refused(command("eval", "report", str(first), "--baseline", "x"), "there is no such method")


def test_people_rate_and_the_report_shows_how_far_they_agree(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path / "e", n=5)
    done = command("eval", "rate", str(folder), "--limit", "8")
    assert (done.status, done.out) == (0, f"{folder / 'rating-sheet.html'}\n")
    assert done.err.startswith("8 answers; fill in ")
    file = filled(tmp_path / "Ada.csv", marked(folder))
    done = command("eval", "rate", str(folder), "--read", str(file))
    assert done.status == 0 and done.err.startswith("truthful: Ada and the judge on ")
    command("eval", "report", str(folder))
    written = (folder / "report.md").read_text()
    assert "## Agreement of people and judges" in written and "## What people say is right" in written
    assert (folder / "report" / "people.csv").read_text().startswith('method,"right, by people: right"')
    assert 'id="people"' in (folder / "report.html").read_text()
    file = filled(tmp_path / "Ada.csv", marked(folder, "5"))
    refused(command("eval", "rate", str(folder), "--read", str(file)), "line 2: ")


def test_a_second_raters_sheet_does_not_replace_the_first_ones_marks(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path / "e", n=2)
    command("eval", "rate", str(folder))
    sheets = []
    for place, mark in (("a", "truthful"), ("b", "not")):
        (tmp_path / place).mkdir()
        sheets.append(str(filled(tmp_path / place / "rating-sheet.csv", marked(folder, mark))))
    first = command("eval", "rate", str(folder), "--read", sheets[0])
    assert command("eval", "rate", str(folder), "--read", sheets[0]) == first
    kept = Path(first.out.strip()).read_bytes()
    refused(command("eval", "rate", str(folder), "--read", sheets[1]), "--rater NAME")
    assert Path(first.out.strip()).read_bytes() == kept
    done = command("eval", "rate", str(folder), "--read", sheets[1], "--rater", "Ben")
    assert (done.status, done.out) == (0, f"{folder / 'ratings-Ben.jsonl'}\n")
