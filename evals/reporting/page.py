"""A report as one web page: a file that needs no network and can be sent around.

Its one script filters the list of questions. The page's policy names that script by its digest, so
that no other runs, whatever a question or an answer says. The rating sheet is made the same way.
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

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from dialectree.evals.plot_style import COLOURS, Plot, inline
from dialectree.evals.reporting import questions, setup
from dialectree.evals.reporting.formatting import Table, shown
from dialectree.evals.reporting.markdown import PICTURES
from dialectree.evals.reporting.study import Study
from dialectree.report import words

DARK = ("#6db3ef", "#f0995a", "#4fc3a1", "#d99ac6", "#d9b64a", "#b0b5bb")
"""The colours of the plots on dark ground, in the order of those on light."""


def html(
    study: Study,
    sentences: setup.Sentences,
    tables: Sequence[Table],
    plots: Sequence[Plot],
    out: Path,
) -> str:
    """Return the page, for the folder ``out``."""
    return rendered(
        "page",
        "questions.js",
        questions.data(study, out),
        study=study,
        tables=tables,
        plots={plot.key: plot for plot in plots},
        pictures=PICTURES,
        sentences=sentences,
        setup=setup,
        light=COLOURS,
        dark=DARK,
        cell=shown,
        inline=lambda plot: Markup(inline(plot)),
    )


def rendered(template: str, script: str, data: object, **values: Any) -> str:
    """Return a page of this folder with its one script and the data that the script reads."""
    code = (files("dialectree.evals.reporting") / script).read_text("utf-8")
    return (
        _environment()
        .get_template(f"evaluation/{template}.html.jinja")
        .render(
            script=Markup(code),
            digest=b64encode(sha256(code.encode()).digest()).decode(),
            data=Markup(embedded(data)),
            **values,
        )
    )


def embedded(data: object) -> str:
    """Return JSON that can stand inside a script element: no text in it ends the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loaders = {
        "run": PackageLoader("dialectree", "report"),
        "evaluation": PackageLoader("dialectree.evals", "reporting"),
    }
    return Environment(
        loader=PrefixLoader(loaders),
        autoescape=True,
        finalize=lambda value: words.clean(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
