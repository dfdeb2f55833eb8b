"""Write an audit's two pages, audit.html and audit.md, and give its figures as lines or as data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dialectree import text as words
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.plots import COLOURS, DARK
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.audited import AuditResult, gain_table, gains, method_table, rules
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.formatting import NOTHING, Table, format_table_rows, in_brackets, render_table
from dialectree.evals.reporting.page import template
from dialectree.evals.reporting.writing import put
from dialectree.evals.tasks import TASKS
from dialectree.report.figures import format_moment

PAGE = "audit.html"


def write(audit: AuditResult, out: Path) -> Path:
    """Write the pages into a folder, and return the path of the web page."""
    tables = [table for table in (method_table(audit), gain_table(audit)) if table is not None]
    study = audit.study
    items = words.count(audit.asked, TASKS[study.task].singular, TASKS[study.task].many)
    start = min(evaluation.started for evaluation in study.evaluations)
    shared: dict[str, Any] = {
        "title": f"Is a debate worth it? {words.line(study.evaluations[0].data.name, 80)}",
        "kicker": f"Audit · {items} · {format_moment(start)}",
        "demonstration": study.demonstration,
        "cautions": cautions(analyse_study(study)),
        "tables": [(table, render_table(table)) for table in tables],
        "gains": gains(audit),
        "rules": rules(audit),
        "sentence": audit.sentence,
    }
    look = {"light": COLOURS, "dark": DARK, "Markup": Markup}
    put(out / PAGE, template("audit.html").render(**shared, **look))
    put(out / "audit.md", template("audit.md").render(**shared))
    return out / PAGE


def lines(audit: AuditResult) -> list[str]:
    """Return the lines for a terminal: each method's figures, the gains and the answer."""
    sentences: list[str] = []
    if (methods := method_table(audit)) is not None:
        sentences += [f"{name}: {figures}" for name, figures in _figures(methods)]
    if audit.study.demonstration:
        sentences.append(
            "! A model below 1 billion parameters took part, which answers at chance: these "
            "figures say nothing about any method."
        )
    return [*sentences, *gains(audit), audit.sentence]


def _figures(methods: Table) -> list[tuple[str, str]]:
    names = [*map(str, methods.frame)]
    method_lines: list[tuple[str, str]] = []
    for cells in format_table_rows(methods):
        title, *figures = (in_brackets(*cell) for cell in cells)
        pairs = zip(names[1:], figures, strict=True)
        parts = [f"{name} {figure}" for name, figure in pairs if figure != NOTHING]
        method_lines.append((title, ", ".join(parts)))
    return method_lines


def data(audit: AuditResult) -> dict[str, Any]:
    """Return the audit as plain data, for ``--json``: shares and gains are up to 1, marks up to 100."""
    methods = method_table(audit)
    return {
        "answer": audit.answer,
        "sentence": audit.sentence,
        "questions": audit.asked,
        "questions_needed": audit.needed if audit.answer == "cannot be told" else None,
        "points": audit.points,
        "at_chance": audit.study.demonstration,
        "methods": [] if methods is None else [*map(_plain, methods.frame.to_dict("records"))],
        "comparisons": [
            {
                "debate": comparison.debate,
                "beside": comparison.rival,
                "gain": comparison.intervals[0]._asdict(),
                "gain_among_as_many": comparison.intervals[1]._asdict() if comparison.intervals[1:] else None,
                "holm": comparison.test.holm,
                "better": comparison.better,
                "no_gain": comparison.no_gain(audit.least),
                "tokens_ratio": comparison.test.ratio,
            }
            for comparison in audit.beside
        ],
        "left_out": audit.layout.left_out,
    }


def _plain(line: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the cells of a line, with each share or figure as a mapping of its parts."""
    parts = (Figure, Proportion)
    return {str(name): cell._asdict() if isinstance(cell, parts) else cell for name, cell in line.items()}
