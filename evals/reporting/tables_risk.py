"""What is left of the errors where only the surest answers are given: risk against coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.study import Study
from dialectree.evals.reporting.tabled import Column, Table, Value

PARTS = (0.25, 0.5, 0.75, 1.0)
"""How much of the questions the table takes, the surest answers first."""
HEADINGS = ("row", "at least this sure", "coverage", "risk")
"""The columns of the CSV file of whole curves."""


def risk_table(analysis: Analysis) -> Table | None:
    """Accuracy among the surest answers of each row, and the area under its curve."""
    study = analysis.study
    rows: list[list[Value]] = []
    for row in study.rows:
        found = measures.surest(study, row.name)
        if found.curve.points:
            shares = [found.at(part) for part in PARTS]
            rows.append([row.name, found.asked, found.covers, found.curve.area, *shares])
    if not rows:
        return None
    columns = [
        Column("row"),
        Column("questions", "count"),
        Column("answered", "number"),
        Column("area", "number"),
    ]
    columns += [Column(f"right among the surest {100 * part:.0f}%", "share") for part in PARTS[:-1]]
    columns.append(Column("right among all", "share"))
    notes = [
        "Parts are of the questions, withheld ones included: a column compares rows that answer as "
        "many. A row that answers fewer has none. Equally sure answers stay together. Area: the "
        "share of wrong answers, on average over all numbers of answers given, the surest first."
    ]
    return Table("risk-coverage", "If only the surest answers were given", columns, rows, notes)


def lines(study: Study) -> Iterator[Sequence[object]]:
    """The lines of the CSV file under :data:`HEADINGS`: every point of every curve."""
    for row in study.rows:
        for point in measures.surest(study, row.name).curve.points:
            yield [row.name, *point]
