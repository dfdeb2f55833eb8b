"""The report's files, written into an evaluation's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dialectree import report as of_a_run
from dialectree.errors import DialectreeError, InputError
from dialectree.evals.plots import plots
from dialectree.evals.reporting import measures, questions
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.formatting import Table, as_csv, csv_text
from dialectree.evals.reporting.page import html, markdown
from dialectree.evals.reporting.setup import Sentences
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import PAGE
from dialectree.evals.results_file import replace_file
from dialectree.records.folder import RunFolder

FEW_PAGES = 100
"""Pages of runs that are written without being asked for."""
TABLES = (
    *("accuracy", "rubric", "categories", "cost", "mcnemar", "as-many", "rubric-paired"),
    *("people", "preferred", "calibration", "agreement", "risk-coverage", "turned", "sampled"),
    *("places", "front", "controls", "risk-coverage-curves"),
)
PLOTS = ("accuracy", "summaries", "front", "reliability", "risk")
SOMETIMES = (
    "report.csv",
    *(f"report/{name}.csv" for name in TABLES),
    *(f"report/{name}.{kind}" for name in PLOTS for kind in ("svg", "png")),
)
"""Files that not every report has: those of another one do not stay beside it."""


class Written(NamedTuple):
    """The outcome of a report."""

    page: Path
    sentences: Sentences
    pages: int
    """Pages of runs that were written now."""
    missing: int
    """Runs that still have none; the report leads to their records."""
    figures: Table | None
    """The first table: each row's accuracy, or marks."""


def report(
    folders: Sequence[Path],
    *,
    out: Path | None = None,
    baseline: str | None = None,
    pages: bool = False,
) -> Written:
    """Write the report of the folders together, into ``out`` or the first of them.

    A run without a page of its own gets one where a few are missing, or where ``pages`` asks.
    """
    joined = study(folders)
    names = [name for row in joined.rows for name in (row.name, row.method)]
    if baseline is not None and baseline not in names:
        known = ", ".join(dict.fromkeys(names))
        raise InputError(f"--baseline {baseline}: there is no such row; known are {known}")
    where = out or folders[0]
    lacking = list(_without_page(joined))
    wanted = lacking if pages or len(lacking) <= FEW_PAGES else []
    made = sum(map(_write_page, wanted))
    analysis = analysed(joined, baseline)
    sentences = Sentences(opening(analysis), findings(analysis), cautions(analysis))
    shown, drawn = tables(analysis), plots(analysis)
    parts: dict[str, str | bytes] = {
        "report.html": html(joined, sentences, shown, drawn, where),
        "report.md": markdown(joined, sentences, shown, drawn),
        "report/questions.csv": _questions(joined),
    }
    parts |= {f"report/{table.key}.csv": as_csv(table) for table in shown}
    if shown:
        parts["report.csv"] = as_csv(shown[0])
    parts |= {f"report/{plot.key}.svg": plot.svg for plot in drawn}
    parts |= {f"report/{plot.key}.png": plot.png for plot in drawn}
    if "report/risk-coverage.csv" in parts:
        parts["report/risk-coverage-curves.csv"] = _curves(joined)
    for name, data in parts.items():
        put(where / name, data)
    for name in {*SOMETIMES} - parts.keys():
        (where / name).unlink(missing_ok=True)
    figures = shown[0] if shown else None
    return Written(where / "report.html", sentences, made, len(lacking) - made, figures)


def _questions(joined: Study) -> str:
    """Return every question by every row."""
    lines = list(questions.lines(joined))
    return csv_text(list(lines[0]) if lines else [], [list(line.values()) for line in lines])


def _curves(joined: Study) -> str:
    """Return every point of every row's curve of risk and coverage."""
    curves = [(row.name, measures.surest(joined, row.name).curve) for row in joined.rows]
    lines = [[name, *point] for name, curve in curves for point in curve.points]
    return csv_text(["row", "at least this sure", "coverage", "risk"], lines)


def put(path: Path, data: str | bytes) -> None:
    """Replace a file of the report, whole or not at all."""
    replace_file(path, data, "write the report again")


def _without_page(joined: Study) -> Iterator[Path]:
    for row in joined.rows:
        for item in joined.results[row.name]:
            run = joined.run(row.name, item)
            if run and (run / questions.RECORD).is_file() and not (run / PAGE).is_file():
                yield run


def _write_page(run: Path) -> bool:
    """Write the page of one run; False where its record cannot be read."""
    folder = RunFolder(run)
    try:
        record = folder.record()
        folder.write(PAGE, of_a_run.html(record, folder.calls()))
    except DialectreeError:
        return False
    return True
