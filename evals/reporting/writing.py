"""The report's files, written into an evaluation's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dialectree.errors import DialectreeError, InputError
from dialectree.evals import drawing, figures
from dialectree.evals.reporting import csv_files, markdown, page, questions, tables_risk
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.findings import Said
from dialectree.evals.reporting.findings import said as sentences
from dialectree.evals.reporting.study import Home, Study, study
from dialectree.evals.reporting.tables import tables
from dialectree.evals.results import PAGE
from dialectree.runs import private

FEW_PAGES = 100
"""Pages of runs that are written without being asked for."""
TABLES = (
    *("accuracy", "models", "rubric", "categories", "cost", "mcnemar", "z-tests", "rubric-paired"),
    *("people", "preferred", "calibration", "agreement", "risk-coverage", "turned", "sampled"),
    *("places", "front", "controls"),
)
PLOTS = ("accuracy", "summaries", "front", "reliability", "risk", "roots", "categories")
SOMETIMES = (
    "report.csv",
    *(f"report/{name}.csv" for name in (*TABLES, "risk-coverage-curves")),
    *(f"report/{name}.{kind}" for name in PLOTS for kind in ("svg", "png")),
)
"""Files that not every report has: those of another one do not stay beside it."""


class Written(NamedTuple):
    """What a report came to."""

    page: Path
    said: Said
    pages: int
    """Pages of runs that were written now."""
    missing: int
    """Runs that still have none; the report leads to their records."""


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
    found = study(folders)
    _require_row(found, baseline)
    where = out or folders[0]
    lacking = list(_without_page(found))
    wanted = lacking if pages or len(lacking) <= FEW_PAGES else []
    made = sum(map(_write_page, wanted))
    analysis = analysed(found, baseline)
    said, shown, drawn = sentences(analysis), tables(analysis), figures.plots(analysis)
    parts: list[tuple[str, bytes]] = [
        ("report.html", page.html(said, shown, drawn, where).encode()),
        ("report.md", markdown.markdown(said, shown, drawn).encode()),
        *(("report.csv", csv_files.of(table).encode()) for table in shown[:1]),
        *((f"report/{table.key}.csv", csv_files.of(table).encode()) for table in shown),
        *((f"report/{name}", data) for name, data in drawing.files(drawn)),
        *(
            ("report/risk-coverage-curves.csv", _curves(found))
            for table in shown
            if table.key == "risk-coverage"
        ),
        (
            "report/questions.csv",
            csv_files.written(questions.headings(found), questions.lines(found)).encode(),
        ),
    ]
    for name, data in parts:
        put(where / name, data)
    for name in {*SOMETIMES} - {name for name, _ in parts}:
        _remove(where / name)
    return Written(where / "report.html", said, made, len(lacking) - made)


def _curves(found: Study) -> bytes:
    return csv_files.written(tables_risk.HEADINGS, tables_risk.lines(found)).encode()


def put(path: Path, data: bytes) -> None:
    """Replace a file, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        with open(draft, "wb", opener=private) as file:
            file.write(data)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise InputError(f"{path}: {error.strerror or error}") from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _require_row(found: Study, wanted: str | None) -> None:
    names = [name for row in found.rows for name in (row.name, row.method)]
    if wanted is not None and wanted not in names:
        known = ", ".join(dict.fromkeys(names))
        raise InputError(f"--baseline {wanted}: there is no such row; known are {known}")


def _without_page(found: Study) -> Iterator[Home]:
    for row in found.rows:
        for item in found.results[row.name]:
            home = found.run(row.name, item)
            if home is None or os.path.isfile(home.run / PAGE):
                continue
            if os.path.isfile(home.run / questions.RECORD):
                yield home


def _write_page(home: Home) -> bool:
    """The page of one run; False where its record cannot be read."""
    from dialectree import report as of_a_run
    from dialectree.runs import RunFolder

    folder = RunFolder(home.run)
    try:
        record = folder.record()
        folder.write(PAGE, of_a_run.html(record, folder.calls()))
    except DialectreeError:
        return False
    return True
