"""Compare queries with single sentences: the nearest sentence gives a segment's score.

The vector of a whole segment is a mean, which hides the one sentence that answers (`docs/sources.md`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import faiss
import numpy as np
import numpy.typing as npt

from dialectree.retrieval.kept_files import write_whole

if TYPE_CHECKING:
    from dialectree.retrieval.embedders import Embedder

Vector: TypeAlias = npt.NDArray[np.float32]
Vectors: TypeAlias = npt.NDArray[np.float32]
Numbers: TypeAlias = npt.NDArray[np.int64]
log = logging.getLogger(__name__)


class SentenceVectors:
    """The vectors of all sentences, in half precision, and the segment of each sentence."""

    def __init__(self, parts: Iterable[npt.NDArray[np.float16]], owners: Sequence[int]) -> None:
        """Take the vectors in the order of the sentences.

        Args:
            parts: Vectors of length 1 as rows, in any number of arrays.
            owners: By sentence, the number of its segment; these numbers never decrease.
        """
        self._owners = np.asarray(owners, dtype=np.int64)
        self._index: faiss.IndexScalarQuantizer | None = None
        total: Vectors | None = None
        for part in parts:
            vectors = part.astype(np.float32)
            if not len(vectors):
                continue
            if self._index is None:
                fp16 = faiss.ScalarQuantizer.QT_fp16
                self._index = faiss.IndexScalarQuantizer(vectors.shape[1], fp16, faiss.METRIC_INNER_PRODUCT)
                self._index.is_trained = True  # half precision needs no training
                total = np.zeros(vectors.shape[1], dtype=np.float32)
            self._index.add(vectors)
            total += vectors.sum(axis=0)
        count = self._index.ntotal if self._index is not None else 0
        if count != len(self._owners):
            raise ValueError(f"{len(self._owners)} sentences, but {count} vectors")
        self._mean = total / count if total is not None else None

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self._owners)

    def nearest(self, query: Vector, count: int) -> tuple[Numbers, Vector]:
        """Return the segments of the ``count`` nearest sentences, and each segment's best cosine.

        The nearest segment comes first.
        """
        if self._index is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        [scores], [places] = self._index.search(query[np.newaxis], min(count, len(self)))
        owners = self._owners[places]
        _, firsts = np.unique(owners, return_index=True)
        firsts.sort()
        return owners[firsts], scores[firsts]

    def cosines(self, query: Vector, segments: Numbers) -> Vector:
        """Return the cosine of the best sentence of each of ``segments``."""
        if self._index is None or not len(segments):
            return np.zeros(0, dtype=np.float32)
        firsts, ends = (np.searchsorted(self._owners, segments + step) for step in (0, 1))
        places = np.concatenate([np.arange(a, b) for a, b in zip(firsts, ends, strict=True)])
        scores = self._index.reconstruct_batch(places) @ query
        starts = np.cumsum(ends - firsts) - (ends - firsts)
        best: Vector = np.maximum.reduceat(scores, starts)
        return best

    def mean_cosine(self, query: Vector) -> float:
        """Return the mean cosine of all sentences, about that of a sentence unrelated to the query."""
        return 0.0 if self._mean is None else float(self._mean @ query)


def embed_sentences(texts: Sequence[str], by: Embedder, folder: Path) -> npt.NDArray[np.float16]:
    """Return a vector for each text, from ``folder`` if the same texts were embedded before.

    Call this in the embedder's thread.
    """
    if not texts:
        return np.zeros((0, 1), dtype=np.float16)
    hashed = blake2b(digest_size=16)
    for text in texts:
        hashed.update(text.encode() + b"\0")
    file = folder / hashed.hexdigest()[:2] / f"{hashed.hexdigest()}.npy"
    with suppress(OSError, ValueError, EOFError):
        cached_vectors: npt.NDArray[np.float16] = np.load(file)
        if (
            cached_vectors.dtype == np.float16
            and cached_vectors.ndim == 2
            and len(cached_vectors) == len(texts)
        ):
            return cached_vectors
    vectors = by.encode(texts).astype(np.float16)
    try:
        content = BytesIO()
        np.save(content, vectors)
        write_whole(file, content.getvalue())
    except OSError as error:
        log.warning("cannot keep vectors in %s: %s", file.parent, error)
    return vectors
