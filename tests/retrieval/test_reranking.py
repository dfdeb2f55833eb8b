"""A cross-encoder puts what was found in order; a drop moves no other, and a run keeps it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import numpy as np
import pytest

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import read_settings
from dialectree.retrieval import reranking
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Material
from dialectree.retrieval.sources import Document
from tests.retrieval.test_retriever import find, made, material, opened

LENGTHS = (4, 9, 2, 7, 7, 1)
NOTES = [
    Document.from_blocks(f"{n}.txt", [Block(f"The sea is {'very ' * length}deep.")])
    for n, length in enumerate((*LENGTHS, 9), 1)
]


class ByLength:
    """Scores a text by its length; of those alike, the first stands first."""

    asked: list[list[tuple[str, str]]]

    def __init__(self) -> None:
        self.asked = []

    def predict(self, pairs: Sequence[tuple[str, str]], **_: Any) -> Any:
        self.asked.append([*pairs])
        return np.array([len(text) for _, text in pairs], dtype=np.float32)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ByLength:
    """Let every name stand for this model."""
    by_length = ByLength()
    monkeypatch.setattr(reranking, "load", lambda place, kind: by_length)
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(CrossEncoder=None))
    reranking.reranker.cache_clear()
    return by_length


def test_the_best_by_the_model_stand_first_and_a_drop_moves_no_other(model: ByLength, tmp_path: Path) -> None:
    context = made(rerank="some/model")
    found: Material = material(opened(tmp_path, context), context, *NOTES)
    order = ["s2:1", "s4:1", "s1:1", "s3:1", "s6:1"]  # s5 is s4's text, and s7 that of s2
    assert find(found, "deep sea") == order and find(found, "deep sea", count=2) == order[:2]
    assert find(found, "deep sea", ["s2"]) == ["s7:1", *order[1:]]
    assert find(found, "deep sea", ["s4:1", "s5"]) == ["s2:1", *order[2:]]
    assert find(found, "sky") == [] and len(model.asked) == 1 and len(model.asked[0]) == 5
    assert found.sources["s3"].name == "3.txt" and found.sentence("s6:1.1").endswith("very deep.")
    [near] = asyncio.run(found.near("deep sea", 1))
    assert found.segment(near.id) == near
    recorded = {"rerank": "some/model", "embeddings": "bm25"}
    again = read_settings(GroundedSettings, recorded, "a run")
    found = material(opened(tmp_path, again), again, *NOTES)
    assert find(found, "deep sea") == order and len(model.asked) == 1
    with pytest.raises(SettingsError, match=r"`rerank`: .* name some/model again"):
        find(found, "very deep")


def test_a_model_that_is_none_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unusable(*_: object, **options: object) -> Any:
        raise OSError("no weights") if options["local_files_only"] else OSError("no network")

    module = SimpleNamespace(CrossEncoder=unusable)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    reranking.reranker.cache_clear()
    (tmp_path / "config.json").write_text("{}")
    for name, kind, why in (
        ("./nowhere", SettingsError, "`rerank`: there is no model at './nowhere'"),
        (str(tmp_path), SettingsError, "is no cross-encoder that can be used: no weights"),
        ("small", ModelUnavailable, "the cross-encoder cross-encoder/small is not available.*leave"),
    ):
        context = made(rerank=name)
        with pytest.raises(kind, match=why):
            find(material(opened(tmp_path, context), context, *NOTES), "deep sea")
