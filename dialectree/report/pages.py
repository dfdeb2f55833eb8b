"""Render a run as Markdown, and as a card of a notebook.

The templates hold the only markup: a text that they print is escaped unless a filter makes markup of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dialectree import text
from dialectree.records import Call, Node, RunRecord, Turn, turns
from dialectree.report import arguments, contested, exchange, figures, markdown_text, verdicts, view, words
from dialectree.report.grounds import EvidenceUse
from dialectree.report.own_view import OwnView


def card(record: RunRecord) -> str:
    """Return ``record`` as a card of a notebook, in HTML."""
    return str(_template(record, "card.html.jinja").render(record=record))


def markdown(record: RunRecord, calls: Sequence[Call]) -> str:
    """Return the run as Markdown; ``calls`` are the calls in its ledger."""
    return macros(record)("report", calls)


def macros(record: RunRecord) -> Callable[..., str]:
    """Return a function that renders a part of the Markdown by name: ``report``, ``answer`` ..."""
    context = {"record": record, "drawn": EvidenceUse(record)}
    module = _template(record, "run.md.jinja").make_module(context)
    return lambda name, *values: _tidy(getattr(module, name)(*values))


def tags(record: RunRecord, node: Node, turns: Sequence[Turn]) -> str:
    """Return the names by which ``turns`` can be contested."""
    return "; ".join(filter(None, (contested.tag(record, node, turn) for turn in turns)))


_ROOMS = {
    "arguments": arguments,
    "contested": contested,
    "exchange": exchange,
    "formats": figures,
    "say": text,
    "tags": tags,
    "turns": turns,
    "verdicts": verdicts,
    "view": view,
    "words": words,
}
"""The modules that the templates call."""


def _template(record: RunRecord, name: str) -> Any:
    return _environment(words.own_view(record), html="html" in name).get_template(name)


@cache
def _environment(protocol_view: OwnView | None, *, html: bool) -> Environment:
    """Return the templates, with the macros of a protocol's own view."""
    macros = "{% macro appendix() %}{% endmacro %}" + (
        protocol_view.MARKDOWN if protocol_view is not None else ""
    )
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("dialectree", "report"), DictLoader({"own": macros})]),
        autoescape=True,
        finalize=_clean_for_page if html else markdown_text.finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _HTML if html else markdown_text.FILTERS
    environment.globals |= {**_ROOMS, "own": protocol_view}
    return environment


def _tidy(page: str) -> str:
    """Remove trailing spaces and repeated empty lines."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" +\n", "\n", page)).strip() + "\n"


def _clean_for_page(value: object) -> object:
    """Clean a text for the page. The template escapes the text afterwards."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return text.clean(value)
    return value


def _prose(words: str) -> str:
    """Remove the outer blanks of a text and its repeated empty lines."""
    return re.sub(r"\n\s*\n", "\n\n", text.clean(words)).strip() or "–"


_HTML: dict[str, Callable[..., Any]] = {"prose": _prose}
