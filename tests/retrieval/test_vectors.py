"""Vectors on disk: whole or not at all."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from dialectree.retrieval.vectors import VectorCache, Vectors

TEXTS = ["one", "two", "three"]
VECTORS: Vectors = np.eye(3, 8, dtype=np.float32)


def kept(folder: Path) -> tuple[VectorCache, Path]:
    cache = VectorCache(folder, "a/model")
    cache.put("passages", TEXTS, VECTORS)
    [file] = folder.rglob("*.npy")
    return cache, file


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    cache, _ = kept(tmp_path)
    assert np.array_equal(cache.get("passages", TEXTS), VECTORS)  # type: ignore[arg-type]


def test_other_texts_another_model_and_another_kind_have_none(tmp_path: Path) -> None:
    cache, _ = kept(tmp_path)
    assert cache.get("passages", ["one", "two"]) is None
    assert cache.get("passages", ["onetwo", "", "three"]) is None
    assert cache.get("query", TEXTS) is None
    assert VectorCache(tmp_path, "a_model").get("passages", TEXTS) is None


@pytest.mark.parametrize("length", [0, 5, 60, 130, 200])
def test_a_torn_file_counts_as_none(tmp_path: Path, length: int) -> None:
    cache, file = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:length])
    assert cache.get("passages", TEXTS) is None
    cache.put("passages", TEXTS, VECTORS)
    assert cache.get("passages", TEXTS) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        np.eye(2, 8, dtype=np.float32),
        np.eye(3, 8),
        np.full((3, 8), np.nan, dtype=np.float32),
        np.zeros((3, 8), dtype=np.float32),
        np.ones(3, dtype=np.float32),
    ],
)
def test_vectors_that_do_not_fit_count_as_none(tmp_path: Path, wrong: Vectors) -> None:
    cache, file = kept(tmp_path)
    np.save(file, wrong)
    assert cache.get("passages", TEXTS) is None


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    cache, file = kept(tmp_path)
    np.save(file, np.array([{"a": 1}, None, None]), allow_pickle=True)
    assert cache.get("passages", TEXTS) is None


def test_nothing_half_written_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*args: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with caplog.at_level(logging.WARNING):
        VectorCache(tmp_path, "a/model").put("passages", TEXTS, VECTORS)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert "No space left" in caplog.text
