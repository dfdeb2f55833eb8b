"""What has to be known of the questions and the votes before the figures are read."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from dialectree.context import Context
from dialectree.evals.repeats import repeats
from dialectree.evals.reporting.study import Study
from dialectree.report.words import count, listed
from dialectree.retrieval.papers import from_fields
from dialectree.retrieval.segments import segments

RETRIEVING = ("tod", "no_tree")
"""The methods that retrieve segments; no_self_deliberation reads introductions instead."""
TAKEN = Context.model_fields["segments"].default
"""Segments that are retrieved at once, where a row does not say."""


def repeated(study: Study) -> Iterator[str]:
    """Name questions that are asked more than once, as if they were different ones."""
    if any(evaluation.cluster for evaluation in study.evaluations):
        return
    texts = (study.texts[item] for item in study.items if item in study.texts)
    found = repeats(text for text in texts if text.repeat == 0)
    if found.items:
        said = found.said(count(len(study.items), "question"), study.task)
        yield (
            f"{said}: all count as questions of their own, so that intervals are too narrow and "
            "p values too small."
        )


def introductions(study: Study) -> Iterator[str]:
    """Say how little there is to retrieve from papers of which only introductions are known."""
    rows = [row for row in study.rows if row.method in RETRIEVING]
    papers = [
        p for item in study.items if (text := study.texts.get(item)) for p in text.inputs.papers
    ]
    if not rows or not papers or any(paper.body for paper in papers):
        return
    fields = {paper.model_dump_json(): paper.model_dump() for paper in papers if paper.introduction}
    if not fields:
        return
    ranked = median(len(segments(from_fields(one))) for one in fields.values())
    taken = listed(sorted({str(row.settings.get("segments", TAKEN)) for row in rows}))
    yield (
        f"The papers are introductions only: retrieval takes {taken} of a median of {ranked:g} "
        "segments, and the baselines read the same text whole. So it has little to choose."
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
