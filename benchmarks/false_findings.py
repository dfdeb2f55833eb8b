"""How often a report asserts something of methods that are equally good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from tests.evals.equals import asserted, equals

REPORTS = 1000
LIMIT = 7.0
"""Percent of the reports, at most."""


def false_findings(folder: Path, repeats: int) -> Iterator[Figure]:
    """1,000 reports on independent and 1,000 on clustered questions; half draw the sides.

    Where sides are not drawn no leaning can be asserted, so its share is of the other half.
    """
    for clustered in (False, True):
        said = [
            asserted(equals(seed, clustered=clustered, balanced=seed % 2 > 0))
            for seed in range(REPORTS)
        ]
        questions = "clustered" if clustered else "independent"
        part = f"{REPORTS:,} reports of equal methods on {questions} questions"
        differ = sum(one[0] for one in said) / REPORTS
        chosen, drawn = (sum(one[1] for one in said[k::2]) / len(said[k::2]) for k in (0, 1))
        for name, share in (
            ("assert a difference", differ),
            ("assert that the judge leans, sides chosen", chosen),
            ("assert that the judge leans, sides drawn", drawn),
        ):
            yield Figure(part, name, 100 * share, "%", limit=LIMIT)
