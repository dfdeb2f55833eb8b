"""A run as Markdown: the same content as the page, for an issue, a notebook or a paper's appendix.

The templates hold the only markup. Every text that they print is escaped unless a filter marks it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from dialectree.records import Call, Node, RunRecord, Turn
from dialectree.report import (
    arguments,
    contested,
    exchange,
    markdown_text,
    topics,
    view,
    words,
)


def markdown(record: RunRecord, calls: Sequence[Call]) -> str:
    """Return the run as Markdown; ``calls`` are the lines of its ledger."""
    report = _environment().get_template("report.md.jinja")
    return _tidy(report.render(record=record, calls=calls, linked=True))


def macros(template: str, record: RunRecord) -> Callable[..., str]:
    """Return a function that renders one macro of a template, by name, without links."""
    module = _environment().get_template(template).make_module({"record": record, "linked": False})
    return lambda name, *values: _tidy(getattr(module, name)(*values))


def _tidy(text: str) -> str:
    """Remove blank space that means nothing."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" +\n", "\n", text)).strip() + "\n"


def tags(record: RunRecord, node: Node, turns: Sequence[Turn]) -> str:
    """Return the names by which ``turns`` can be contested."""
    return "; ".join(filter(None, (contested.tag(record, node, turn) for turn in turns)))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dialectree", "report"),
        autoescape=True,  # so that what a macro returns is marked as markup
        finalize=markdown_text.finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = ("block_quote", "bold", "strong", "cell", "fields")
    places = ("node_place", "segment_place", "claim_place")
    environment.filters |= {name: getattr(markdown_text, name) for name in (*filters, *places)}
    environment.globals |= {
        "arguments": arguments,
        "contested": contested,
        "exchange": exchange,
        "tags": tags,
        "topics": topics,
        "view": view,
        "words": words,
    }
    return environment
