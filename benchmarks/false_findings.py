"""Measure the share of reports with a false finding, and of reports that find a true one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from tests.evals.simulated import KINDS, asserted, equals, says, withholding

REPORTS = 1000
LIMIT = 7.0
"""Percent of the reports, at most."""
WITHHOLDING = 300
"""Reports of each kind of debate that withholds answers."""
POWER = 80.0
"""Percent of the reports, at least."""
SIZES = (200, 500)


def false_findings(folder: Path, repeats: int) -> Iterator[Figure]:
    """Yield the shares of reports on equal methods, then of those on debates that withhold."""
    yield from _equal()
    yield from _withholding()


def _equal() -> Iterator[Figure]:
    """Yield the shares of 1,000 reports each on independent and clustered questions.

    Half of the reports draw the sides. Only these can assert a leaning, so each half has a share.
    """
    for clustered in (False, True):
        said = [asserted(equals(seed, clustered=clustered, balanced=seed % 2 > 0)) for seed in range(REPORTS)]
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


def _withholding() -> Iterator[Figure]:
    """Yield the shares of 300 reports of each kind and size."""
    part = f"{WITHHOLDING} reports each of a debate that withholds answers"
    for kind, text in KINDS.items():
        for n in SIZES:
            said = sum(says(withholding(seed, n, kind), kind) for seed in range(WITHHOLDING))
            name = f"{kind}, {n} questions: “{text}”"
            share = 100 * said / WITHHOLDING
            if kind == "equal and selective":
                yield Figure(part, name, share, "%", limit=LIMIT)
            else:
                yield Figure(part, name, share, "%", least=POWER)
