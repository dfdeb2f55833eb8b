"""The packages of examples/, installed as a person installs them, for these tests alone."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialectree.protocols import plugins

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def installed(target: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let this process, and those that it starts, find the examples."""
    for name in ("audit", "evaluate", "gate"):  # they keep flags of the protocols that are there
        importlib.import_module(f"dialectree.interfaces.cli.{name}")
    monkeypatch.syspath_prepend(target)
    monkeypatch.setenv("PYTHONPATH", str(target))
    plugins.load_declarations.cache_clear()
    yield target
    monkeypatch.undo()
    importlib.invalidate_caches()
    plugins.load_declarations.cache_clear()
