"""The table of docs/tutorial-eval.md has the figures that a report would give."""

from __future__ import annotations

import re
from pathlib import Path

from dialectree.evals.comparisons import smallest_paired

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial-eval.md").read_text()


def test_the_smallest_gains_are_those_of_the_test() -> None:
    rows = re.findall(r"^\| ([\d,]+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for questions, points in rows:
        gain = smallest_paired(int(questions.replace(",", "")), 0.2)
        assert gain is not None and round(100 * gain) == int(points)
