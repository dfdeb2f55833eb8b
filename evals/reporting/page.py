"""A report as one web page: a file that needs no network and can be sent around.

Its one script filters the list of questions. The page's policy names that script by its digest, so
that no other runs, whatever a question or an answer says.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined, Template
from markupsafe import Markup

from dialectree.evals.drawing import COLOURS, Plot, inline
from dialectree.evals.reporting import questions, setup, tabled
from dialectree.evals.reporting.findings import Said
from dialectree.evals.reporting.markdown import PICTURES
from dialectree.evals.reporting.tabled import Table
from dialectree.report import words

DARK = ("#6db3ef", "#f0995a", "#4fc3a1", "#d99ac6", "#d9b64a", "#b0b5bb")
"""The colours of the plots on dark ground, in the order of those on light."""


def html(said: Said, tables: Sequence[Table], plots: Sequence[Plot], out: Path) -> str:
    """The page, for the folder ``out``."""
    script = _script()
    return _page().render(
        study=said.study,
        tables=tables,
        plots={plot.key: plot for plot in plots},
        pictures=PICTURES,
        opening=said.opening,
        findings=said.findings,
        warnings=said.warnings,
        setup=setup,
        light=COLOURS,
        dark=DARK,
        script=Markup(script),
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        data=Markup(embedded(questions.data(said.study, out))),
    )


def embedded(data: object) -> str:
    """JSON that can stand inside a script element: no text in it ends the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _script() -> str:
    return (files("dialectree.evals.reporting") / "questions.js").read_text("utf-8")


@lru_cache(maxsize=1)
def _page() -> Template:
    environment = Environment(
        loader=PrefixLoader(
            {
                "run": PackageLoader("dialectree", "report"),
                "evaluation": PackageLoader("dialectree.evals", "reporting"),
            }
        ),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": _cell, "drawn": _drawn}
    return environment.get_template("evaluation/page.html.jinja")


def _shown(value: object) -> object:
    """Every text passes here on its way into the page, before it is escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return words.clean(value)
    return value


def _cell(value: tabled.Value, kind: tabled.Kind) -> tuple[str, str]:
    """A cell as its figure and its interval."""
    main, _, interval = tabled.shown(kind, value).partition(" [")
    if kind == "text":
        return tabled.shown(kind, value), ""
    return main, interval.rstrip("]").replace(", ", " to ")


def _drawn(plot: Plot) -> Markup:
    return Markup(inline(plot))
