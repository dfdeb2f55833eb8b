"""Begin a run by the name of a method, as a command does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialectree.protocols.protocol import method
from dialectree.protocols.settings import build_settings
from dialectree.running.runner import RunHandle, prepare_graph_input
from dialectree.running.runner import begin as begin_run


def begin(name: str, text: str, runs: Path, **values: Any) -> RunHandle:
    """Return a run about ``text``; ``values`` are settings and other parts of the input.

    The reply cache is off unless they say otherwise.
    """
    chosen = method(name)
    fields = chosen.protocol.input.model_fields
    given = {field: values.pop(field) for field in fields if field in values}
    given["topic" if "topic" in fields else next(iter(fields))] = text
    settings = build_settings(chosen.protocol.settings, **{"cache": False, **values})
    return begin_run(chosen, prepare_graph_input(chosen, given, settings), settings, runs)
