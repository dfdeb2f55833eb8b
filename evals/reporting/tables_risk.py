"""What is left of the errors where only the surest answers are given: risk against coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialectree.evals.proportions import Proportion, wilson
from dialectree.evals.ranking import RiskCoverage
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.study import Study
from dialectree.evals.reporting.tabled import Column, Table, Value

PARTS = (0.25, 0.5, 0.75, 1.0)
"""How much of the answers the table takes, the surest first."""
HEADINGS = ("row", "at least this sure", "coverage", "risk")
"""The columns of the CSV file of whole curves."""


def risk_table(analysis: Analysis) -> Table | None:
    """Accuracy among the surest answers of each row, and the area under its curve."""
    study = analysis.study
    rows: list[list[Value]] = []
    for row in study.rows:
        n = len(measures.calibrated(study, row.name).confidences)
        curve = measures.surest(study, row.name)
        if curve.points:
            shares = [_right(curve, n, part) for part in PARTS]
            rows.append([row.name, n, curve.area, *shares])
    if not rows:
        return None
    columns = [Column("row"), Column("answers", "count"), Column("area", "number")]
    columns += [Column(f"right among the surest {100 * part:.0f}%", "share") for part in PARTS[:-1]]
    columns.append(Column("right among all", "share"))
    notes = [
        "Answers that are equally sure stay together, so a part may hold a few more. Area: the "
        "share of wrong answers (risk), on average over all numbers of answers given, the surest "
        "first (coverage); a confidence that means nothing gives the share of wrong ones among all."
    ]
    return Table("risk-coverage", "If only the surest answers were given", columns, rows, notes)


def _right(curve: RiskCoverage, n: int, part: float) -> Proportion:
    point = next(point for point in curve.points if point.coverage >= part)
    given = round(point.coverage * n)
    return wilson(given - round(point.risk * given), given)


def lines(study: Study) -> Iterator[Sequence[object]]:
    """The lines of the CSV file under :data:`HEADINGS`: every point of every curve."""
    for row in study.rows:
        for point in measures.surest(study, row.name).points:
            yield [row.name, *point]
