"""A report as one web page and as Markdown, both with the same sentences, tables and plots.

The page needs no network and can be sent around. Its one script filters the list of questions. The
page's policy allows only this script, by its digest, so a question or an answer cannot run code.
The rating sheet has the same policy.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined, Template
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from dialectree import text as words
from dialectree.evals.plots import COLOURS, DARK, Plot, inline
from dialectree.evals.reporting.answers import Answers, answer, format_question, gold
from dialectree.evals.reporting.formatting import Table, render_table
from dialectree.evals.reporting.study import Study, models, tails
from dialectree.evals.results import PAGE
from dialectree.evals.results_file import replace_file
from dialectree.evals.tasks import TASKS
from dialectree.report.figures import format_moment
from dialectree.report.markdown_text import escape_markdown
from dialectree.text import count, format_list

RECORD = "run.json"
_TEXTS = 3_000_000
"""The approximate limit on the characters of questions, and of answers, on a page."""


@dataclass(frozen=True, kw_only=True)
class ReportPage:
    """The content of a page of an evaluation: a report, an audit or a route."""

    name: str
    """The name of the page's files, without their endings."""
    answer: str
    """The answer in one sentence, which is the first line of the page."""
    title: str
    kicker: str
    """A line with the kind of page and the start of the evaluation."""
    details: Sequence[str] = ()
    """Sentences that belong to the answer, such as its price."""
    demonstration: bool = False
    """True if a model took part that answers at chance."""
    cautions: Sequence[str] = ()
    findings: Sequence[str] = ()
    """A sentence on each comparison."""
    tables: Sequence[Table]
    plots: Mapping[str, Sequence[Plot]] = field(default_factory=dict[str, Sequence[Plot]])
    """The plots above each table, by the table's key."""
    notes: Sequence[str] = ()
    """Sentences on how the answer was reached."""
    pairs: Sequence[tuple[str, str]] = ()
    """Names and values that describe the set-up."""
    names: Sequence[str] = ()
    """The names of the methods: the columns of the list of questions, and headings that may break."""
    questions: Mapping[str, object] | None = None
    """The data of the list of questions; None for a page without the list and without a script."""
    paper: Mapping[str, str] = field(default_factory=dict[str, str])
    """The table that a paper needs, by form: ``md``, ``csv`` and ``latex``."""


def write_page(page: ReportPage, out: Path) -> Path:
    """Write the page as HTML and Markdown into a folder, and return the path of the web page."""
    shared: dict[str, Any] = {
        "page": page,
        "tables": [(table, render_table(table, long=page.names)) for table in page.tables],
    }
    look = {"light": COLOURS, "dark": DARK, "inline": lambda plot: Markup(inline(plot))}
    if page.questions is None:
        html = template("page.html").render(**shared, **look, script=None)
    else:
        html = render_page("page", "page.js", {**page.questions, "paper": page.paper}, **shared, **look)
    put(out / f"{page.name}.html", html)
    put(out / f"{page.name}.md", template("page.md").render(**shared))
    return out / f"{page.name}.html"


def put(path: Path, data: str | bytes) -> None:
    """Replace a file of the report atomically."""
    replace_file(path, data, "write the report again")


def as_sentence(text: str) -> str:
    """Return a clause with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def render_page(name: str, script: str, data: object, **values: Any) -> str:
    """Return the page of the template ``name``, with its one script and the data for the script."""
    code = (files("dialectree.evals.reporting") / script).read_text("utf-8")
    return template(f"{name}.html").render(
        script=Markup(code),
        digest=b64encode(sha256(code.encode()).digest()).decode(),
        data=htmlsafe_json_dumps(data, ensure_ascii=False, separators=(",", ":")),
        **values,
    )


@lru_cache
def template(name: str) -> Template:
    """Return a template of this folder by its name, such as ``report.md``."""
    loaders = {
        "run": PackageLoader("dialectree", "report"),
        "evaluation": PackageLoader("dialectree.evals", "reporting"),
    }
    environment = Environment(
        loader=PrefixLoader(loaders),
        autoescape=lambda name: name is not None and name.endswith(".html.jinja"),
        finalize=lambda value: words.clean(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["escaped"] = escape_markdown
    return environment.get_template(f"evaluation/{name}.jinja")


# Heads and foot


def title(study: Study) -> str:
    """Return the matrices' titles, the name of the data set, and the numbers of rows and items."""
    items = count(study.questions, TASKS[study.task].singular, TASKS[study.task].many)
    name = words.line(study.evaluations[0].data.name, 80)
    rows = count(len(study.rows), "method")
    titles = dict.fromkeys(words.line(e.title, 120) for e in study.evaluations if e.title)
    prefix = "".join(f"{title} · " for title in titles)
    return f"{prefix}{name}: {rows} on {items}"


def kicker(study: Study) -> str:
    """Return the line below the title: the kind of question and the start."""
    start = min(evaluation.started for evaluation in study.evaluations)
    return f"{TASKS[study.task].items} · {format_moment(start)}"


def one_model(study: Study) -> str:
    """Return the one model of all rows; empty if there are several."""
    distinct = {models(row.row) for row in study.rows.values()}
    return distinct.pop() if len(distinct) == 1 else ""


def pairs(study: Study) -> Iterator[tuple[str, str]]:
    """Yield names and values that describe the data, the runs and the rows."""
    first = study.evaluations[0]
    yield "Data set", first.data.name
    yield "SHA-256 of the data", first.data.sha256
    yield "Questions", f"{study.questions:,} of {first.data.count:,}"
    for text in dict.fromkeys(text for e in study.evaluations for text in e.missing):
        yield "Not in this table", words.line(text, 300)
    for tail, evaluation in zip(tails(study.folders), study.evaluations, strict=True):
        values = {
            "Shard": evaluation.shard,
            "Seed": str(evaluation.seed),
            "Questions drawn by the seed": evaluation.sample,
            "Clusters of questions by": evaluation.cluster,
            "Times that each question was asked": evaluation.repeats if evaluation.repeats > 1 else None,
            "Begun": format_moment(evaluation.started),
            "Ended": format_moment(evaluation.ended),
            "Judge of the answers": evaluation.judge,
            "Scorers": format_list(evaluation.scorers),
            "Answers for the vote before a debate": evaluation.vote_first,
            "Versions": ", ".join(f"{name} {version}" for name, version in evaluation.versions.items()),
        }
        for name, value in values.items():
            if value:
                yield f"{name} of {tail}" if len(study.folders) > 1 else name, str(value)
    for row in study.rows.values():
        parts = [row.row.method, format_list(dict.fromkeys(map(models, row.as_asked)))]
        parts += [f"{setting} {_value(value)}" for setting, value in row.row.settings.items()]
        yield f"Method {row.name}", ", ".join(part for part in parts if part)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# Every question


def build_question_list(study: Study, out: Path) -> dict[str, object]:
    """Return the data of the page's script; texts are shorter if there are very many questions."""
    rows = [*study.rows.values()]
    long = max(24, min(320, _TEXTS // max(len(study.items), 1)))
    short = max(24, min(200, _TEXTS // max(len(study.results), 1)))
    marks = {row.name: row.marks("overall") if study.task == "compare" else {} for row in rows}

    def cell(row: Answers, item: str) -> list[object] | None:
        if (result := row.results.get(item)) is None:
            return None
        sure = result.verdict.confidence if result.verdict else None
        mark = marks[row.name].get(item)
        return [
            row.ends[item],
            words.line(answer(result), short),
            None if sure is None else round(sure, 3),
            None if mark is None else round(mark, 1),
            _link(row.run(item), out),
        ]

    return {
        "rows": [words.line(row.name, 60) for row in rows],
        "questions": [
            [
                words.line(item, 80),
                words.line(study.category(item) or "none", 80),
                words.line(format_question(study.texts.get(item)), long),
                words.line(gold(study.texts.get(item)), short),
                [cell(row, item) for row in rows],
            ]
            for item in study.together()
        ],
    }


def _link(run: Path | None, out: Path) -> str:
    """Return the address of a question's run, relative to the report's folder, or an empty text."""
    for name in (PAGE, RECORD):
        if run and (run / name).is_file():
            return quote(Path(os.path.relpath(run / name, out)).as_posix())
    return ""
