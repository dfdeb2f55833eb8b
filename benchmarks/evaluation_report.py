"""The report of a large evaluation: from the folder on disk to the page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.study import study
from dialectree.evals.reporting.writing import report
from tests.evals import sample

QUESTIONS = 10_000
TARGET_S = 10.0
"""Seconds that 10,000 finished questions may take, read and reported."""


def evaluation_report(folder: Path) -> Iterator[Figure]:
    """10,000 questions by one method, and a fourth of them by four."""
    part = f"report of an evaluation, {QUESTIONS:,} finished questions"
    report([sample.evaluation(folder / "warm", "verify", 3)])  # what is imported late
    for rows in (1, 4):
        made = _evaluation(folder / str(rows), QUESTIONS // rows, rows)
        began = time.monotonic()
        found = study([made])
        read = time.monotonic()
        analysed(found)
        reckoned = time.monotonic()
        written = report([made])
        took = time.monotonic() - reckoned
        by = f"{QUESTIONS // rows:,} questions by {rows}"
        yield Figure(part, f"{by}: read", read - began, "s")
        yield Figure(part, f"{by}: counted and compared", reckoned - read, "s")
        yield Figure(part, f"{by}: whole report", took, "s", target=TARGET_S)
        yield Figure(part, f"{by}: size of the page", written.page.stat().st_size / 1e6, "MB")


def _evaluation(folder: Path, questions: int, rows: int) -> Path:
    """Results with a folder for every run, as a real evaluation has them."""
    asked, over = sample.items("verify", questions), sample.rows("verify")[:rows]
    results = sample.results("verify", over, asked)
    for result in results:
        if result.run:
            (folder / "runs" / result.run).mkdir(parents=True)
            (folder / "runs" / result.run / "run.json").write_text("{}")
    return sample.write(folder, "verify", over, asked, results)
