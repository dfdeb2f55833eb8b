"""Run the script of the committed page in Node, and compare what it makes of runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialectree.records import Event, RunRecord, fold_run

PAGE = Path(__file__).parents[2] / "dialectree" / "page" / "page.html"
NEAR = 1e-12
"""How far two figures may lie apart: the page adds them up in another order."""


def told(record: RunRecord, events: Sequence[Event]) -> dict[str, Any]:
    """Return what the page is given of a run."""
    return {
        "protocol": record.protocol,
        "settings": record.settings,
        "declared": {name: one.model_dump(mode="json") for name, one in record.declared.items()},
        "events": [event.model_dump(mode="json") for event in events],
    }


def folded(record: RunRecord, events: Sequence[Event]) -> dict[str, Any]:
    """Return what Python folds ``events`` into, nodes and segments in their order."""
    run = fold_run(events, record.order())
    tree = run.tree.model_dump(mode="json")
    return {
        "nodes": [*map(list, tree["nodes"].items())],
        "segments": [*map(list, tree["segments"].items())],
        "verdict": run.verdict and run.verdict.model_dump(mode="json"),
        "usage": run.usage.model_dump(mode="json"),
        "status": run.status,
        "notices": run.notices,
    }


def answers(asked: Sequence[Mapping[str, Any]], folder: Path) -> Any:
    """Return what the page's script makes of all that is ``asked``, in one Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node runs the page's script; there is none here")
    (folder / "asked.json").write_text(json.dumps(asked))
    script = Path(__file__).parent / "conform.mjs"
    paths = [script, PAGE, folder / "asked.json", folder / "answered.json"]
    subprocess.run([node, *map(str, paths)], check=True)
    return json.loads((folder / "answered.json").read_text())


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield where two structures differ; figures may lie 1e-12 apart."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differences(one[name], other[name], f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}[{n}]")
    elif isinstance(one, int | float) and isinstance(other, int | float):
        if abs(one - other) > NEAR:
            yield f"{path}: {one!r} is not {other!r}"
    elif one != other:
        yield f"{path}: {one!r} is not {other!r}"
