"""How often a report asserts something of methods that are equally good."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure
from tests.evals.equals import asserted, equals

REPORTS = 1000
LIMIT = 7.0
"""Percent of the reports, at most."""


def false_findings() -> Iterator[Figure]:
    """1,000 reports each: independent questions and clusters, sides chosen and sides drawn."""
    for clustered in (False, True):
        for balanced in (False, True):
            said = [
                asserted(equals(seed, clustered=clustered, balanced=balanced))
                for seed in range(REPORTS)
            ]
            questions = "clustered" if clustered else "independent"
            sides = "sides drawn" if balanced else "sides chosen"
            part = f"{REPORTS:,} reports of equal methods, {questions} questions, {sides}"
            for name, place in (("a difference", 0), ("that the judge leans", 1)):
                share = 100 * sum(one[place] for one in said) / REPORTS
                yield Figure(part, f"assert {name}", share, "%", limit=LIMIT)
