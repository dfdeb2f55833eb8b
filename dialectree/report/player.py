"""Put a run into the page, which plays it in a browser without a network."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from pydantic_core import to_json

from dialectree.records import Call, Event, RunRecord

_DATA = '<script id="data" type="text/plain">'


@cache
def page() -> str:
    """Return the page as it was built; it holds no run."""
    return files("dialectree").joinpath("page/page.html").read_text(encoding="utf-8")


def player(
    record: RunRecord,
    events: Sequence[Event],
    calls: Sequence[Call] = (),
    prompts: Mapping[str, str] | None = None,
) -> str:
    """Return the page with a run in it.

    The tree stands in it as events alone, which the page folds.

    Args:
        record: The run.
        events: All its events.
        calls: The lines of its ledger.
        prompts: The texts that the calls sent, by hash.
    """
    told = {
        "record": record.model_dump(mode="json", exclude={"tree"}),
        "events": events,
        "calls": calls,
        "prompts": prompts or {},
    }
    deflated = zlib.compress(to_json(told), 9, wbits=-15)
    return page().replace(_DATA, _DATA + base64.b64encode(deflated).decode())
