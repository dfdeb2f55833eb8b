"""A debate argues from a LanceDB table: ``pip install lancedb`` first, of 350 MB with its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dialectree.models.run import Run
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import build_settings
from dialectree.retrieval.material import material_of
from tests.examples.test_agents import example


def test_a_lancedb_table_is_searched_beside_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lancedb")
    script = example("own_retriever", "lance_retriever")
    texts = {"pilot.md": "The harbour is 12 m deep. It is wide.", "cows.md": "Cows eat grass."}
    script.fill(str(tmp_path), [{"text": text, "source": name} for name, text in texts.items()])
    monkeypatch.setenv("LANCE", str(tmp_path))
    context = build_settings(GroundedSettings, embeddings="bm25", retriever=script.notes())
    found = asyncio.run(material_of([], context, Run("", context)))
    [[best]] = asyncio.run(found.search(["Is the harbour's depth (12 m) enough?"], 8))
    assert found.sources[best.source].name == "pilot.md"
    assert found.sentence(best.ids()[1]) == "It is wide."
