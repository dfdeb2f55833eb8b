"""Settings of grounded debates: what retrieves is decided once, by what is on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from dialectree.protocols import grounded
from dialectree.protocols.grounded import VECTORS, GroundedSettings, embeddings_at_hand
from dialectree.protocols.settings import build_settings


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the Hub an empty folder."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    embeddings_at_hand.cache_clear()
    yield tmp_path
    embeddings_at_hand.cache_clear()


def test_vectors_are_used_beside_words_where_packages_and_model_are_at_hand(
    hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(**named: str) -> str:
        embeddings_at_hand.cache_clear()
        return build_settings(GroundedSettings, **named).embeddings

    assert chosen() == chosen(embeddings="auto") == "bm25"
    snapshot = hub / "models--BAAI--bge-small-en-v1.5" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (snapshot / "modules.json").touch()
    assert chosen() == "bm25"  # a download that broke off
    (snapshot / "model.safetensors").touch()
    assert chosen() == chosen(embeddings="auto") == VECTORS
    assert chosen(embeddings="bm25") == "bm25" and chosen(embeddings="some/model") == "some/model"
    monkeypatch.setenv("DIALECTREE_EMBEDDINGS", "bm25")
    assert chosen() == "bm25"
    monkeypatch.delenv("DIALECTREE_EMBEDDINGS")
    monkeypatch.setattr(grounded, "missing", lambda requirement: ["faiss-cpu"])
    assert chosen() == "bm25"
