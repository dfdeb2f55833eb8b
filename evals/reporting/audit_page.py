"""Write an audit's two pages: audit.html and audit.md, and its figures as data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dialectree import text as words
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.plots import COLOURS, DARK
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.audited import Audited, gain_table, gains, method_table, rules
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.formatting import NOTHING, Table, in_brackets, shown, written
from dialectree.evals.reporting.page import template
from dialectree.evals.reporting.writing import put
from dialectree.evals.tasks import TASKS
from dialectree.report.figures import format_moment

PAGE = "audit.html"


def write(one: Audited, out: Path) -> Path:
    """Write the pages into a folder, and return the path of the web page."""
    tables = [own for own in (method_table(one), gain_table(one)) if own is not None]
    study = one.study
    items = words.count(one.asked, TASKS[study.task].one, TASKS[study.task].many)
    begun = min(evaluation.started for evaluation in study.evaluations)
    shared: dict[str, Any] = {
        "title": f"Is a debate worth it? {words.line(study.evaluations[0].data.name, 80)}",
        "kicker": f"Audit · {items} · {format_moment(begun)}",
        "demonstration": study.demonstration,
        "cautions": cautions(analysed(study)),
        "tables": [(own, written(own)) for own in tables],
        "gains": gains(one),
        "rules": rules(one),
        "sentence": one.sentence,
    }
    look = {"light": COLOURS, "dark": DARK, "Markup": Markup}
    put(out / PAGE, template("audit.html").render(**shared, **look))
    put(out / "audit.md", template("audit.md").render(**shared))
    return out / PAGE


def lines(one: Audited) -> list[str]:
    """Return what a person at the terminal sees: each method's figures, the gains, the answer."""
    found: list[str] = []
    if (methods := method_table(one)) is not None:
        found += [f"{name}: {figures}" for name, figures in _figures(methods)]
    if one.study.demonstration:
        found.append(
            "! A model below 1 billion parameters took part, which answers at chance: these "
            "figures say nothing about any method."
        )
    return [*found, *gains(one), one.sentence]


def _figures(methods: Table) -> list[tuple[str, str]]:
    names = [*map(str, methods.frame)]
    told: list[tuple[str, str]] = []
    for cells in shown(methods):
        title, *figures = (in_brackets(*cell) for cell in cells)
        pairs = zip(names[1:], figures, strict=True)
        known = [f"{name} {figure}" for name, figure in pairs if figure != NOTHING]
        told.append((title, ", ".join(known)))
    return told


def data(one: Audited) -> dict[str, Any]:
    """Return the audit as plain data, for ``--json``; shares and gains are of 1, marks of 100."""
    methods = method_table(one)
    return {
        "answer": one.answer,
        "sentence": one.sentence,
        "questions": one.asked,
        "questions_needed": one.needed if one.answer == "cannot be told" else None,
        "points": one.points,
        "at_chance": one.study.demonstration,
        "methods": [] if methods is None else [*map(_plain, methods.frame.to_dict("records"))],
        "comparisons": [
            {
                "debate": own.debate,
                "beside": own.rival,
                "gain": own.intervals[0]._asdict(),
                "gain_among_as_many": own.intervals[1]._asdict() if own.intervals[1:] else None,
                "holm": own.test.holm,
                "better": own.better,
                "no_gain": own.no_gain(one.least),
                "tokens_ratio": own.test.ratio,
            }
            for own in one.beside
        ],
        "left_out": one.layout.left_out,
    }


def _plain(line: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the cells of a line; a share or a figure as its parts by name."""
    parts = (Figure, Proportion)
    return {
        str(name): cell._asdict() if isinstance(cell, parts) else cell
        for name, cell in line.items()
    }
