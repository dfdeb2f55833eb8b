"""The cache of vectors: nothing is embedded twice, and no bad file is believed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dialectree.retrieval.encoders import Vectors, cached

TEXTS = ["one", "two", "three"]


class Counted:
    """An encoder of three dimensions that counts its texts."""

    batch = 2

    def __init__(self, name: str = "a/model") -> None:
        self.name = name
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        self.texts += texts
        return np.array([[len(text), 0.1, 1] for text in texts], dtype=np.float32)


def embed(encoder: Counted, texts: list[str] = TEXTS, *, query: bool = False) -> list[list[float]]:
    return cached(encoder, query=query).embed_documents(texts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_text_is_embedded_once_for_each_model_and_kind(folder: Path) -> None:
    encoder = Counted()
    first = embed(encoder)
    assert embed(encoder, ["three", "four", "one"])[::2] == [first[2], first[0]]
    assert encoder.texts == [*TEXTS, "four"]
    embed(encoder, query=True)
    assert encoder.texts[4:] == TEXTS
    embed(other := Counted("a_model"))
    assert other.texts == TEXTS
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*")} == {0o600, 0o700}


@pytest.mark.parametrize("content", [b"", b"[3.0, 0.1", np.eye(1, 3, dtype="f4").tobytes()])
def test_a_torn_or_foreign_file_counts_as_none(folder: Path, content: bytes) -> None:
    first = embed(Counted())
    for file in filter(Path.is_file, folder.rglob("*")):
        file.write_bytes(content)
    again, warm = Counted(), Counted()
    assert embed(again) == first and again.texts == TEXTS
    assert embed(warm) == first and warm.texts == []


def test_a_folder_that_cannot_be_written_costs_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "vectors").write_text("a file stands where the folder should")
    with caplog.at_level(logging.WARNING):
        assert len(embed(Counted())) == 3
    assert "cannot cache vectors" in caplog.text
