"""Compares a debate with something plainer on all questions that both were asked.

A withheld answer is not right. So that a debate is not called worse for withholding alone, a second
test compares it with as many answers: the surest ones of the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from dialectree.evals.comparisons import Paired
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.system import chance


class Asked(NamedTuple):
    """The questions that a row, or the votes before its debates, answered or withheld."""

    name: str
    right: Mapping[str, bool]
    """By question; a withheld answer is not right."""
    withheld: Collection[str]
    confidence: Mapping[str, float]
    """Of the answers that have one."""


def asked(study: Study, row: str) -> Asked:
    """Return the questions of a row whose outcome is known."""
    results = study.of(row)
    return Asked(
        row,
        measures.all_asked(results),
        measures.ended(results, "unanswered"),
        {answer.item: answer.confidence for answer in measures.surest_first(study, row)},
    )


def as_many(study: Study, debate: Asked, other: Asked, both: Sequence[str]) -> Paired | None:
    """Return the test on as many answers of ``other`` as the debate gave, the debate first.

    They are its surest; ties, and answers without a confidence, are drawn from the seed. None where
    it gave no more answers than the debate: then the test on all questions is the same.
    """
    count = sum(item not in debate.withheld for item in both)
    given = [item for item in both if item not in other.withheld]
    if len(given) <= count:
        return None

    def surest_first(item: str) -> tuple[float, int]:
        drawn = chance.seed(study.evaluations[0].seed, "as many", other.name, item)
        return -other.confidence.get(item, -1.0), drawn

    kept = set(sorted(given, key=surest_first)[:count])
    return Paired(
        key=("as many", debate.name, other.name),
        first=[debate.right[item] for item in both],
        second=[other.right[item] and item in kept for item in both],
        clusters=study.groups(both),
    )
