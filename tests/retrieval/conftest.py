"""Fixtures of the tests of retrieval: empty shelves, and an encoder that can be watched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialectree.retrieval import embedders, library
from tests.retrieval.watched import WatchedEncoder


@pytest.fixture(autouse=True)
def empty_shelves() -> None:
    """Drop shelves and corpora of other tests; a model that is loaded stays loaded."""
    library.clear()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[WatchedEncoder]:
    """Let every name stand for this encoder."""
    encoder = WatchedEncoder()
    monkeypatch.setattr(embedders, "_encoder", lambda name, base_url: encoder)
    embedders._embedder.cache_clear()
    yield encoder
    embedders._embedder.cache_clear()
