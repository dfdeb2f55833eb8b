"""Tables of those who rate: whether a confidence means anything, and whether raters agree."""

from __future__ import annotations

import numpy as np

from dialectree.evals.agreement import agreement
from dialectree.evals.bootstrap import Figure
from dialectree.evals.calibration import brier, ece
from dialectree.evals.clustered import shared
from dialectree.evals.paired import difference
from dialectree.evals.proportions import share_of
from dialectree.evals.ranking import auc, f1
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.study import Study
from dialectree.evals.reporting.tabled import Column, Table, Value


def calibration_table(analysis: Analysis) -> Table | None:
    study = analysis.study
    claims = study.task == "verify"
    rows: list[list[Value]] = []
    for row in study.rows:
        found = measures.calibrated(study, row.name)
        sure, right = found.confidences, found.right
        if not sure:
            continue
        again, groups = measures.resamples(len(sure)), found.clusters
        said = _labels(study, row.name)
        line: list[Value] = [row.name, len(sure), found.missing]
        line += [
            brier(sure, right, resamples=again, clusters=groups),
            ece(sure, right, resamples=again, clusters=groups),
        ]
        line += [ece(sure, right, adaptive=True, resamples=again, clusters=groups)]
        line += [auc(sure, right, resamples=again, clusters=groups)]
        spread = Figure(float(np.var(sure)), None, None, len(sure))
        line += [float(np.mean(sure)), spread]
        rows.append([*line, *([f1(*said)] if claims else [])])
    if not rows:
        return None
    what = "P(claim)" if claims else "confidence"
    columns = [
        Column("row"),
        Column(f"with {what}", "count"),
        Column("without", "count"),
        Column("Brier", "figure"),
        Column("ECE, equal width", "figure"),
        Column("ECE, equal size", "figure"),
        Column("AUC", "figure"),
        Column(f"mean of {what}", "number"),
        Column(f"variance of {what}", "figure"),
    ]
    columns += [Column("F1 of the label", "number")] if claims else []
    notes = [
        "Brier: 0 is perfect, always saying 50% gives 0.25. ECE: 0 is perfect, and few answers "
        "alone raise it. AUC: 0.5 is chance. Intervals: bootstrap over the questions; none where "
        "every draw gives the same.",
        "P(claim) is measured against the truth of the claim."
        if claims
        else "The confidence of an answer is measured against its being right.",
    ]
    return Table("calibration", "Whether confidence means anything", columns, rows, notes)


def _labels(study: Study, row: str) -> tuple[list[bool], list[bool]]:
    pairs = [
        (said, true)
        for result in study.of(row)
        if (said := measures.said_label(result)) is not None
        and (true := measures.truth(study, result)) is not None
    ]
    return [said for said, _ in pairs], [true for _, true in pairs]


PEOPLE = {
    "truthful": None,
    "breadth": (0, 25, 50, 75, 100),
    "contextualisation": (0, 25, 50, 75, 100),
}
"""What people rate, with the scale where marks have an order."""


def agreement_table(study: Study) -> Table | None:
    """People beside the judge, each by each."""
    people: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for rated in study.ratings:
        for score in rated.scores:
            if score.score is not None:
                own = people.setdefault((rated.rater, score.key), {})
                own[rated.row, rated.item] = score.score
    rows: list[list[Value]] = []
    for (rater, key), marks in sorted(people.items()):
        for other, theirs in [("the judge", _judged(study, key))] + [
            (name, found)
            for (name, k), found in sorted(people.items())
            if k == key and name > rater
        ]:
            both = [where for where in marks if where in theirs]
            if not both:
                continue
            first, second = [marks[w] for w in both], [theirs[w] for w in both]
            groups = [f"{row} {study.groups([item])[0]}" for row, item in both]
            raw: Value = None
            kappa = Figure(None, None, None, len(both))
            apart: Value = None
            if key in PEOPLE:
                found = agreement(first, second, PEOPLE[key])
                raw = share_of([a == b for a, b in zip(first, second, strict=True)], groups)
                ends = (None, None) if shared(groups) else (found.low, found.high)
                kappa = Figure(found.kappa, *ends, found.n)
            else:
                apart = difference(first, second, clusters=groups)
            rows.append([key, rater, other, len(both), raw, kappa, apart])
    if not rows:
        return None
    columns = [
        Column("what"),
        Column("rater"),
        Column("and"),
        Column("answers of both", "count"),
        Column("say the same", "share"),
        Column("Cohen's kappa", "figure"),
        Column("mean difference", "marks"),
    ]
    notes = [
        "Kappa: 1 is full agreement, 0 what chance alone would give; for grades, distances weigh "
        "by their square. There is none where one of the two gave one mark throughout, and no "
        "interval in full agreement or for questions in clusters. The interval of a mean "
        "difference: bootstrap over the answers; none below six, or where all are alike."
    ]
    return Table("agreement", "People and the judge", columns, rows, notes)


def _judged(study: Study, key: str) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for row in study.rows:
        results = study.of(row.name)
        own = (measures.right_key(results) or key) if key == "truthful" else key
        for result in results:
            mark = measures.number(result, own)
            if mark is not None:
                found[row.name, result.item] = mark
    return found
