"""Put a run into the page, which plays it in a browser without a network."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from markdown_it import MarkdownIt
from pydantic_core import to_jsonable_python

from dialectree.records import Call, Event, RunRecord
from dialectree.report.pages import macros

_DATA = '<script id="data" type="text/plain">'
_READERS = 200
"""From this number of nodes on, a page has no text for readers without scripts."""
_LARGEST = 700_000
"""Bytes of a page beyond which it has no text for readers without scripts."""
_PACKED = 300_000
"""Characters of packed data beyond which a page leaves out the prompts, then the replies."""
_UNREAD = "<p>This page needs scripts. The file report.md next to it has the run as text.</p>"
_JOINER = "\u2060"
"""A word joiner: it keeps Markdown readers from making links of addresses. HTML does not need it."""
_ALIGNED = re.compile(' style="text-align:[a-z]+"')
"""The attribute that aligns a table's cell; the page's policy forbids it."""


@cache
def page() -> str:
    """Return the built page, without a run."""
    return files("dialectree").joinpath("page/page.html").read_text(encoding="utf-8")


def html(
    record: RunRecord,
    calls: Sequence[Call],
    events: Sequence[Event] = (),
    texts: Mapping[str, str] | None = None,
) -> str:
    """Return the page of a run: one file that needs no network.

    With scripts, the page plays the events. Without scripts, the page shows the Markdown report.

    Args:
        record: The run.
        calls: The lines of its ledger.
        events: All events of the run; without events the page shows only the run's end.
        texts: The prompts of the calls, by hash. A large page leaves them out.
    """
    payload: dict[str, Any] = {
        "record": record.model_dump(mode="json", exclude={"tree"} if events else None),
        "events": events,
        "calls": [_dump_call(call) for call in calls],
        "prompts": texts or {},
    }
    silent = [{**call, "reply": None} for call in payload["calls"]]
    shorter: list[dict[str, Any]] = [{}, {"prompts": {}}, {"prompts": {}, "calls": silent}]
    text = packed = ""
    for text, less in product(dict.fromkeys((_plain(record, calls), _UNREAD)), shorter):
        packed = _compress_json({**payload, **less})
        if len(packed) <= min(_PACKED, _LARGEST - len((page() + text).encode())):
            break
    document = page().replace("<noscript></noscript>", f"<noscript>{text}</noscript>")
    return document.replace(_DATA, _DATA + packed)


def _dump_call(call: Call) -> dict[str, Any]:
    """Return the fields of a call that the page shows."""
    return call.model_dump(mode="json", exclude={"key", "seed"})


def _compress_json(payload: Mapping[str, Any]) -> str:
    """Return ``payload`` as the page reads it: JSON, deflated, in base64."""
    text = json.dumps(to_jsonable_python(payload, inf_nan_mode="strings"), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9, wbits=-15)).decode()


def _plain(record: RunRecord, calls: Sequence[Call]) -> str:
    """Return the text for readers without scripts."""
    if len(record.tree.nodes) >= _READERS:
        return _UNREAD
    reader = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False})
    reader.enable(["table", "strikethrough"]).disable("image")
    text = reader.render(macros(record)("report", calls)).replace(_JOINER, "")
    return _ALIGNED.sub("", text)
