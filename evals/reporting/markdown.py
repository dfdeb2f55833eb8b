"""A report as Markdown: every sentence and table of the page, and its plots as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialectree.evals.drawing import Plot
from dialectree.evals.reporting import setup
from dialectree.evals.reporting.findings import Said
from dialectree.evals.reporting.tabled import Table, shown
from dialectree.report.markdown_text import escaped

PICTURES: dict[str, tuple[str, ...]] = {
    "accuracy": ("accuracy",),
    "rubric": ("summaries",),
    "front": ("front",),
    "calibration": ("reliability", "roots"),
    "risk-coverage": ("risk",),
    "categories": ("categories",),
}
"""The plots that stand above each table."""


def markdown(said: Said, tables: Sequence[Table], plots: Sequence[Plot]) -> str:
    """The whole report."""
    return "\n".join(_lines(said, tables, plots)).rstrip() + "\n"


def _lines(said: Said, tables: Sequence[Table], plots: Sequence[Plot]) -> Iterator[str]:
    study = said.study
    yield from (f"# {escaped(setup.title(study))}", "", escaped(setup.kicker(study)), "")
    yield from (*(f"- {escaped(text)}" for text in said.opening), "")
    if said.warnings:
        yield from (
            "## Before you read the figures",
            "",
            *(f"- {escaped(t)}" for t in said.warnings),
            "",
        )
    yield from (f"## {setup.QUESTION}", "")
    yield from (*(f"- {escaped(text)}" for text in said.findings), "")
    drawn = {plot.key: plot for plot in plots}
    for table in tables:
        yield from (f"## {escaped(table.title)}", "")
        for plot in (drawn[key] for key in PICTURES.get(table.key, ()) if key in drawn):
            yield from (f"![{escaped(plot.title)}](report/{plot.key}.svg)", "")
        yield from _table(table)
        yield from ("", *(f"{escaped(note)}\n" for note in table.notes))
    yield from ("## How it was set up", "")
    yield from (f"- {escaped(name)}: {escaped(value)}" for name, value in setup.pairs(study))
    yield from ("", "Every question by itself: [report/questions.csv](report/questions.csv)")


def _table(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(escaped(column.name) for column in table.columns)} |"
    yield f"| {' | '.join('---' if c.kind == 'text' else '---:' for c in table.columns)} |"
    for row in table.rows:
        cells = (
            escaped(shown(column.kind, value))
            for column, value in zip(table.columns, row, strict=True)
        )
        yield f"| {' | '.join(cells)} |"
