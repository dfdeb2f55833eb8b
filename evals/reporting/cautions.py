"""What has to be known of the questions and the votes before the figures are read."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.evals.repeats import repeats
from dialectree.evals.reporting.study import Study
from dialectree.report.words import count, listed


def repeated(study: Study) -> Iterator[str]:
    """Questions that are asked more than once, as if they were different ones."""
    found = repeats(study.texts[item] for item in study.items if item in study.texts)
    if found.items:
        said = found.said(count(len(study.items), "question"), study.task)
        yield (
            f"{said}: all count as questions of their own, so that intervals are too narrow and "
            "p values too small."
        )


def silent(study: Study) -> Iterator[str]:
    """Votes before a debate in which nobody said anything."""
    found: list[str] = []
    for row in study.rows:
        votes = [result.vote for result in study.of(row.name) if result.vote is not None]
        if without := sum(not vote.given for vote in votes):
            found.append(f"{row.name} {without} of {count(len(votes), 'vote')}")
    if found:
        yield (
            "Votes before a debate that gave no answer are neither right nor wrong, and their "
            f"questions are left out of before and after: {listed(found)}."
        )
