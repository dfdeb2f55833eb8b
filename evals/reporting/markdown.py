"""A report as Markdown: every sentence and table of the page, and its plots as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dialectree.evals.plot_style import Plot
from dialectree.evals.reporting import setup
from dialectree.evals.reporting.formatting import Table, text_of
from dialectree.evals.reporting.study import Study
from dialectree.report.markdown_text import escaped

PICTURES: dict[str, tuple[str, ...]] = {
    "accuracy": ("accuracy",),
    "rubric": ("summaries",),
    "front": ("front",),
    "calibration": ("reliability",),
    "risk-coverage": ("risk",),
}
"""The plots that stand above each table."""


def markdown(
    study: Study, sentences: setup.Sentences, tables: Sequence[Table], plots: Sequence[Plot]
) -> str:
    """Return the whole report."""
    return "\n".join(_lines(study, sentences, tables, plots)).rstrip() + "\n"


def _lines(
    study: Study, sentences: setup.Sentences, tables: Sequence[Table], plots: Sequence[Plot]
) -> Iterator[str]:
    yield from (f"# {escaped(setup.title(study))}", "", escaped(setup.kicker(study)), "")
    yield from _list(sentences.opening)
    if sentences.cautions:
        yield from (f"## {setup.CAUTIONS}", "", *_list(sentences.cautions))
    yield from (f"## {setup.QUESTION}", "", *_list(sentences.findings))
    drawn = {plot.key: plot for plot in plots}
    for table in tables:
        yield from (f"## {escaped(table.title)}", "")
        for plot in (drawn[key] for key in PICTURES.get(table.key, ()) if key in drawn):
            yield from (f"![{escaped(plot.title)}](report/{plot.key}.svg)", "")
        yield _line(column.name for column in table.columns)
        yield f"| {' | '.join('---' if c.kind == 'text' else '---:' for c in table.columns)} |"
        for row in table.rows:
            yield _line(text_of(c.kind, v) for c, v in zip(table.columns, row, strict=True))
        yield from ("", *(f"{escaped(note)}\n" for note in table.notes))
    yield from ("## How it was set up", "")
    yield from _list(f"{name}: {value}" for name, value in setup.pairs(study))
    yield "Every question by itself: [report/questions.csv](report/questions.csv)"


def _list(texts: Iterable[str]) -> Iterator[str]:
    yield from (*(f"- {escaped(text)}" for text in texts), "")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
