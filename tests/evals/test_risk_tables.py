"""Risk and coverage in a report: a table, a plot, and the whole curves as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dialectree.evals import figures
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.writing import report
from dialectree.evals.results import Result, Score
from dialectree.records import Verdict
from tests.evals import sample
from tests.evals.test_report import cells, judged, kept, table


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """No interval of a bootstrap is looked at here."""
    monkeypatch.setattr(measures, "resamples", lambda n: 20)


def sure(number: int, confidence: float, right: bool | None) -> Result:
    verdict = Verdict(answer="so", confidence=confidence)
    return judged("tsd", number, right).model_copy(update={"verdict": verdict})


def knowing(folder: Path) -> Study:
    """A row of eight answers that is wrong where it is least sure; one cannot be read."""
    results = [sure(k, 1 - k / 10, k <= 6) for k in range(1, 9)]
    return kept(folder, [*results, sure(9, 1.0, None)], 9)


def test_the_surest_answers_are_tabled(tmp_path: Path) -> None:
    one = table(knowing(tmp_path), "risk-coverage")
    said = [text.partition(" ")[0] for text in cells(one)]
    area = (1 / 7 + 2 / 8) / 8
    assert said == ["tsd", "8", "1.00", f"{area:.2f}", "100.0%", "100.0%", "100.0%", "75.0%"]


def test_every_point_of_a_curve_is_in_a_file_and_in_a_plot(tmp_path: Path) -> None:
    found = knowing(tmp_path)
    assert "risk" in {plot.key for plot in figures.plots(analysed(found))}
    report([tmp_path])
    path = tmp_path / "report" / "risk-coverage-curves.csv"
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    assert lines[0] == ["row", "at least this sure", "coverage", "risk"]
    assert [line[:3] for line in lines[1:3]] == [["tsd", "0.9", "0.125"], ["tsd", "0.8", "0.25"]]
    assert len(lines) == 9 and lines[-1][2:] == ["1.0", "0.25"]
    assert "report/risk.svg" in (tmp_path / "report.md").read_text("utf-8")


def test_a_claim_is_as_sure_as_its_label(tmp_path: Path) -> None:
    rows = [sample.row("art")]
    asked = sample.items("verify", 3)
    truth = [bool(item.reference.label) for item in asked]
    results = [
        made.model_copy(
            update={
                "verdict": Verdict(answer="x", confidence=p, confidence_source="P(claim)"),
                "status": "answered",
                "scores": [Score(key="claim_label", score=1.0, value="scored")],
            }
        )
        for made, p in zip(
            sample.results("verify", rows, asked),
            [0.9 if truth[0] else 0.1, 0.3 if truth[1] else 0.7, 0.6 if truth[2] else 0.4],
            strict=True,
        )
    ]
    found = study([sample.write(tmp_path, "verify", rows, asked, results)])
    points = measures.surest(found, "art").curve.points
    assert [point.confidence for point in points] == pytest.approx([0.9, 0.7, 0.6])
    assert [point.risk for point in points] == pytest.approx([0, 1 / 2, 1 / 3])
