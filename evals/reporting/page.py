"""A report as one web page and as Markdown, both of the same sentences, tables and plots.

The page needs no network and can be sent around. Its one script filters the list of questions. The
page's policy names that script by its digest, so that no other runs, whatever a question or an
answer says. The rating sheet is made the same way.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined, Template
from markupsafe import Markup

from dialectree import text as words
from dialectree.evals.plot_style import COLOURS, DARK, Plot, inline
from dialectree.evals.reporting import questions, setup
from dialectree.evals.reporting.formatting import Table, bracketed, texts
from dialectree.evals.reporting.setup import Sentences
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


def html(
    study: Study, sentences: Sentences, tables: Sequence[Table], plots: Sequence[Plot], out: Path
) -> str:
    """Return the page, for the folder ``out``."""
    return rendered(
        "page",
        "questions.js",
        questions.data(study, out),
        study=study,
        sentences=sentences,
        tables=tables,
        plots=plots,
        pictures=PICTURES,
        setup=setup,
        light=COLOURS,
        dark=DARK,
        cells=texts,
        inline=lambda plot: Markup(inline(plot)),
    )


def markdown(
    study: Study, sentences: Sentences, tables: Sequence[Table], plots: Sequence[Plot]
) -> str:
    """Return the report without its list of questions."""
    return _template("report.md").render(
        study=study,
        sentences=sentences,
        tables=tables,
        plots=plots,
        pictures=PICTURES,
        setup=setup,
        cells=bracketed,
    )


def rendered(template: str, script: str, data: object, **values: Any) -> str:
    """Return a page of this folder with its one script and the data that the script reads."""
    code = (files("dialectree.evals.reporting") / script).read_text("utf-8")
    return _template(f"{template}.html").render(
        script=Markup(code),
        digest=b64encode(sha256(code.encode()).digest()).decode(),
        data=Markup(embedded(data)),
        **values,
    )


def embedded(data: object) -> str:
    """Return JSON that can stand inside a script element: no text in it ends the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@lru_cache
def _template(name: str) -> Template:
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
    environment.filters["escaped"] = escaped
    return environment.get_template(f"evaluation/{name}.jinja")
