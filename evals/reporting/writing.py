"""The report's files, written into an evaluation's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas

from dialectree import report as of_a_run
from dialectree.errors import DialectreeError, InputError
from dialectree.evals.plots import plots
from dialectree.evals.reporting import page
from dialectree.evals.reporting.analysis import Analysis, analyse_study
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.formatting import Table, as_csv, render_table
from dialectree.evals.reporting.page import RECORD, put
from dialectree.evals.reporting.paper_table import FORMS, make_paper_table, write_paper_table
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import PAGE
from dialectree.records.folder import RunFolder

FEW_PAGES = 100
"""If at most this many runs lack a page, a report writes these pages; ``dialectree view`` opens others."""
TABLES = (
    *("accuracy", "evidence", "rubric", "controls", "people", "compared"),
    *("turned", "places", "calibration", "risk-coverage", "risk-coverage-curves"),
    *("categories", "juries", "judges", "agreement", "cost"),
)
PICTURES = {
    "accuracy": "accuracy",
    "summaries": "rubric",
    "front": "cost",
    "reliability": "calibration",
    "risk": "risk-coverage",
}
"""The key of the table below each plot. A table for a paper takes those of the first two."""
ENDINGS = {"md": "md", "csv": "csv", "latex": "tex"}
"""The endings of the files with the table for a paper, by form."""
SOMETIMES = (
    "report.csv",
    *(f"report/paper.{ending}" for ending in ENDINGS.values()),
    *(f"report/{name}.csv" for name in TABLES),
    *(f"report/{name}.{kind}" for name in PICTURES for kind in ("svg", "png")),
)
"""Files that some reports lack. A report without such a file deletes the file of an earlier report."""


class Sentences(NamedTuple):
    """A report's sentences."""

    opening: list[str]
    """Whether debating helped, its price, and what is missing."""
    findings: list[str]
    cautions: list[str]


class WrittenReport(NamedTuple):
    """The outcome of a report."""

    page: Path
    sentences: Sentences
    pages: int
    """The number of run pages that were written now."""
    missing: int
    """The number of runs still without a page; the report links to their records."""
    figures: Table | None
    """The first table: each row's accuracy, or marks."""


def report(folders: Sequence[Path], *, out: Path | None = None, baseline: str | None = None) -> WrittenReport:
    """Write one report on the folders, into ``out`` or the first folder.

    If at most ``FEW_PAGES`` runs lack a page, write these pages, too.
    """
    analysis = _analyse(folders, baseline)
    joined = analysis.study
    where = out or folders[0]
    lacking = list(_without_page(joined))
    runs = lacking if len(lacking) <= FEW_PAGES else []
    page_count = sum(map(_write_page, runs))
    sentences = Sentences(opening(analysis), findings(analysis), cautions(analysis))
    paper_table = make_paper_table(analysis)
    paper = {form: write_paper_table(paper_table, form) for form in FORMS} if paper_table else {}
    report_tables, report_plots = tables(analysis), plots(analysis)
    places = dict(PICTURES)
    if paper_table:
        places["accuracy"] = places["summaries"] = paper_table.key
    kicker = " · ".join(filter(None, [page.kicker(joined), page.one_model(joined)]))
    content = page.ReportPage(
        name="report",
        answer=sentences.opening[0],
        title=page.title(joined),
        kicker=f"Evaluation · {kicker}",
        details=sentences.opening[1:],
        demonstration=joined.demonstration,
        cautions=sentences.cautions,
        findings=sentences.findings,
        tables=[*([paper_table] if paper_table else []), *report_tables],
        plots={key: [plot for plot in report_plots if places[plot.key] == key] for key in places.values()},
        pairs=[*page.pairs(joined)],
        names=[row.name for row in joined.rows.values()],
        questions=page.build_question_list(joined, where),
        paper=paper,
    )
    html = page.write_page(content, where)
    parts: dict[str, str | bytes] = {"report/questions.csv": as_csv(joined.frame())}
    parts |= {f"report/{table.key}.csv": render_table(table).csv for table in report_tables}
    parts |= {f"report/paper.{ending}": paper[form] for form, ending in ENDINGS.items() if paper}
    if report_tables:
        parts["report.csv"] = parts[f"report/{report_tables[0].key}.csv"]
    parts |= {f"report/{plot.key}.svg": plot.svg for plot in report_plots}
    parts |= {f"report/{plot.key}.png": plot.png for plot in report_plots}
    if "report/risk-coverage.csv" in parts:
        parts["report/risk-coverage-curves.csv"] = _curves(joined)
    for name, data in parts.items():
        put(where / name, data)
    for name in {*SOMETIMES} - parts.keys():
        (where / name).unlink(missing_ok=True)
    figures = report_tables[0] if report_tables else None
    return WrittenReport(html, sentences, page_count, len(lacking) - page_count, figures)


def print_paper_table(folders: Sequence[Path], form: str, *, baseline: str | None = None) -> str:
    """Return the table that a paper needs as ``md``, ``csv`` or ``latex``; no file is written.

    Raises InputError if no method has a figure yet.
    """
    paper_table = make_paper_table(_analyse(folders, baseline))
    if paper_table is None:
        raise InputError(f"{folders[0]}: no answer has been judged yet, so there is no table")
    return write_paper_table(paper_table, form).rstrip("\n")


def _analyse(folders: Sequence[Path], baseline: str | None) -> Analysis:
    """Return the comparisons of the folders; raise InputError for an unknown baseline."""
    joined = study(folders)
    names = [name for row in joined.rows.values() for name in (row.id, row.row.method, row.name)]
    if baseline is not None and baseline not in names:
        choices = ", ".join(dict.fromkeys(names))
        raise InputError(f"--baseline {baseline}: there is no such method; use one of {choices}")
    return analyse_study(joined, baseline)


def _curves(joined: Study) -> str:
    """Return every point of every row's curve of risk and coverage."""
    curves = {row.name: row.surest.curve for row in joined.rows.values()}
    frame = pandas.concat(curves, names=["method"]).reset_index("method")
    return as_csv(frame.rename(columns={"confidence": "at least this sure"}))


def _without_page(joined: Study) -> Iterator[Path]:
    for row in joined.rows.values():
        for run in map(row.run, row.results):
            if run and (run / RECORD).is_file() and not (run / PAGE).is_file():
                yield run


def _write_page(run: Path) -> bool:
    """Write the page of one run; return False if its record cannot be read."""
    folder = RunFolder(run)
    try:
        record = folder.record()
        folder.write(PAGE, of_a_run.html(record, folder.calls(), folder.events()))
    except DialectreeError:
        return False
    return True
