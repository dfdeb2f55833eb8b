"""A debate that was handed the right answer is compared with its like, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialectree.evals import figures, worth
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, analysed
from dialectree.evals.reporting.findings import findings
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import Row, Vote
from tests.evals import sample
from tests.evals.test_report import cells
from tests.evals.test_worth import result

SAMPLES, OPEN = sample.row("self_consistency"), sample.row("basic", name="open")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """No interval of a bootstrap is looked at here."""
    monkeypatch.setattr(measures, "resamples", lambda n: 20)


def made(folder: Path, *debates: Row, baseline: str | None = None) -> Analysis:
    """Debates that are always right, beside samples and a vote that never are."""
    asked = sample.items("decide", 20)
    vote = Vote(answers=["A"], right=False)
    results = [result(k, False, SAMPLES.name) for k in range(1, 21)]
    for row in debates:
        right = [result(k, True, row.name) for k in range(1, 21)]
        results += [one.model_copy(update={"vote": vote}) for one in right]
    rows = [*debates, SAMPLES]
    return analysed(study([sample.write(folder, "decide", rows, asked, results)]), baseline)


@pytest.mark.parametrize("candidates", ["oracle", "balanced"])
def test_nothing_is_asserted_of_a_debate_that_was_handed_the_answer(
    tmp_path: Path, candidates: str
) -> None:
    row = sample.row("rsd", candidates=candidates)
    analysis = made(tmp_path, row)
    (said,) = findings(analysis)
    assert said.startswith("rsd does not tell whether debating helped: it chooses between")
    assert not analysis.compared and not analysis.sampled
    assert made(tmp_path / "named", row, baseline="self_consistency").compared == []
    by_key = {one.key: one for one in tables(analysis)}
    line = cells(by_key["turned"])
    assert (line[3], line[8]) == ("–", "–")
    assert "they do not compare" in by_key["turned"].notes[-1]
    assert [one.beaten_by for one in worth.spent(analysis.study)] == [None, None]
    assert {line[-1] for line in by_key["front"].rows} == {
        "baseline",
        "debate, handed the right answer",
    }
    assert "front" in {plot.key for plot in figures.plots(analysis)}


def test_rows_of_the_same_candidates_are_compared(tmp_path: Path) -> None:
    first, second = (
        sample.row(method, name=name, candidates="balanced")
        for method, name in (("rsd", "whole"), ("basic", "plain"))
    )
    other = sample.row("rsd", name="told", candidates="oracle")
    analysis = made(tmp_path, first, second, other, OPEN)
    assert [(one.row.name, one.baseline.name) for one in analysis.compared] == [
        ("whole", "plain"),
        ("open", "self_consistency"),
    ]
    assert [one.debate.name for one in analysis.sampled] == ["open"]
    assert any("open: debating helped" in said for said in findings(analysis))
