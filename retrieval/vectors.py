"""Vectors that were made before, on disk: one file for the texts that were embedded together."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Vectors of length 1, one a row."""

log = logging.getLogger(__name__)


class VectorCache:
    """Vectors by model, kind and content. A file that is torn or does not fit counts as none."""

    def __init__(self, folder: Path, model: str) -> None:
        plain = re.sub(r"[^\w.-]+", "_", model)[:60]
        self._cache = folder
        self._folder = folder / "vectors" / f"{plain}-{_digest([model])[:8]}"

    def get(self, kind: Literal["passages", "query"], texts: Sequence[str]) -> Vectors | None:
        """The vectors of exactly these texts, or None."""
        try:
            vectors = np.load(self._file(kind, texts), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        return vectors if _fits(vectors, len(texts)) else None

    def put(
        self, kind: Literal["passages", "query"], texts: Sequence[str], vectors: Vectors
    ) -> None:
        """Keep vectors, whole or not at all. A disk that takes none costs time, never a debate."""
        path = self._file(kind, texts)
        try:
            self._cache.mkdir(0o700, parents=True, exist_ok=True)
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            _write(path, vectors)
        except OSError as error:
            log.warning("vectors cannot be kept in %s: %s", path.parent, error)

    def _file(self, kind: str, texts: Sequence[str]) -> Path:
        return self._folder / f"{kind}-{_digest(texts)}.npy"


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


def _fits(vectors: object, count: int) -> bool:
    if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32 or vectors.ndim != 2:
        return False
    lengths = np.linalg.norm(vectors, axis=1)
    return len(vectors) == count and bool(np.all(np.abs(lengths - 1) < 1e-3))


def _write(path: Path, vectors: Vectors) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, vectors, allow_pickle=False)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
