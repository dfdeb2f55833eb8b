"""A run as one web page, and as a card of a notebook.

The page is a file that needs no network, runs no script, and can be sent around.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from dialectree.records import Call, RunRecord
from dialectree.report import arguments, contested, exchange, topics, view, words
from dialectree.report.markdown_page import markdown

__all__ = ["card", "html", "markdown"]


def html(record: RunRecord, calls: Sequence[Call]) -> str:
    """The page of ``record``; ``calls`` are the lines of its ledger."""
    return _template("run.html.jinja").render(record=record, calls=calls, **_ROOMS)


def card(record: RunRecord) -> str:
    """Return ``record`` as a card of a notebook, which shows it among other things."""
    return _template("card.html.jinja").render(record=record, **_ROOMS)


_ROOMS = {
    "view": view,
    "words": words,
    "exchange": exchange,
    "arguments": arguments,
    "contested": contested,
    "topics": topics,
}
"""What the templates call."""


@lru_cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("dialectree", "report"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"anchor": _anchor, "prose": _prose}
    environment.filters |= {"segment_anchor": _segment_anchor, "claim_anchor": _claim_anchor}
    return environment.get_template(name)


def _shown(value: object) -> object:
    """Every text passes here on its way into the page, before it is escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return words.clean(value)
    return value


def _anchor(node: str) -> str:
    return f"node-{quote(node, safe='.')}"


def _segment_anchor(segment: str) -> str:
    return f"segment-{quote(segment, safe=':')}"


def _claim_anchor(claim: str) -> str:
    """Of ``0.1-a2``: the second claim of paper a at topic 0.1."""
    return f"claim-{quote(claim, safe='.')}"


def _prose(text: str) -> str:
    """A text without its outer blanks and without heaps of empty lines."""
    return re.sub(r"\n\s*\n", "\n\n", words.clean(text)).strip() or "–"
