"""The report's files, written into an evaluation's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas

from dialectree import report as of_a_run
from dialectree.errors import DialectreeError, InputError
from dialectree.evals.plots import plots
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.formatting import Table, as_csv, render_table
from dialectree.evals.reporting.page import RECORD, Sentences
from dialectree.evals.reporting.page import pages as both_pages
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import PAGE
from dialectree.evals.results_file import replace_file
from dialectree.records.folder import RunFolder

FEW_PAGES = 100
"""If at most this many runs lack a page, a report writes these pages; ``dialectree view`` opens others."""
TABLES = (
    *("accuracy", "evidence", "rubric", "controls", "people", "compared"),
    *("turned", "places", "calibration", "risk-coverage", "risk-coverage-curves"),
    *("categories", "juries", "judges", "agreement", "cost"),
)
PLOTS = ("accuracy", "summaries", "front", "reliability", "risk")
SOMETIMES = (
    "report.csv",
    *(f"report/{name}.csv" for name in TABLES),
    *(f"report/{name}.{kind}" for name in PLOTS for kind in ("svg", "png")),
)
"""Files that some reports lack. A report without such a file deletes the file of an earlier report."""


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
    joined = study(folders)
    names = [name for row in joined.rows.values() for name in (row.id, row.row.method)]
    if baseline is not None and baseline not in (*names, *(row.name for row in joined.rows.values())):
        choices = ", ".join(dict.fromkeys(names))
        raise InputError(f"--baseline {baseline}: there is no such method; use one of {choices}")
    where = out or folders[0]
    lacking = list(_without_page(joined))
    runs = lacking if len(lacking) <= FEW_PAGES else []
    page_count = sum(map(_write_page, runs))
    analysis = analyse_study(joined, baseline)
    sentences = Sentences(opening(analysis), findings(analysis), cautions(analysis))
    rendered_tables = [
        (report_table, render_table(report_table, long=[row.name for row in joined.rows.values()]))
        for report_table in tables(analysis)
    ]
    report_plots = plots(analysis)
    html, markdown = both_pages(joined, sentences, rendered_tables, report_plots, where)
    parts: dict[str, str | bytes] = {
        "report.html": html,
        "report.md": markdown,
        "report/questions.csv": as_csv(joined.frame()),
    }
    parts |= {f"report/{table.key}.csv": written_table.csv for table, written_table in rendered_tables}
    if rendered_tables:
        parts["report.csv"] = rendered_tables[0][1].csv
    parts |= {f"report/{plot.key}.svg": plot.svg for plot in report_plots}
    parts |= {f"report/{plot.key}.png": plot.png for plot in report_plots}
    if "report/risk-coverage.csv" in parts:
        parts["report/risk-coverage-curves.csv"] = _curves(joined)
    for name, data in parts.items():
        put(where / name, data)
    for name in {*SOMETIMES} - parts.keys():
        (where / name).unlink(missing_ok=True)
    figures = rendered_tables[0][0] if rendered_tables else None
    return WrittenReport(where / "report.html", sentences, page_count, len(lacking) - page_count, figures)


def _curves(joined: Study) -> str:
    """Return every point of every row's curve of risk and coverage."""
    curves = {row.name: row.surest.curve for row in joined.rows.values()}
    frame = pandas.concat(curves, names=["method"]).reset_index("method")
    return as_csv(frame.rename(columns={"confidence": "at least this sure"}))


def put(path: Path, data: str | bytes) -> None:
    """Replace a file of the report atomically."""
    replace_file(path, data, "write the report again")


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
