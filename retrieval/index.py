"""Index segments by vectors (FAISS).

Only this file imports langchain-community, which is being sunset and warns on import.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeAlias

import faiss
import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from langchain_community.docstore.base import Docstore
    from langchain_community.vectorstores import FAISS
    from langchain_community.vectorstores.utils import DistanceStrategy

Vectors: TypeAlias = npt.NDArray[np.float32]
BATCH = 1024
"""Texts to embed at a time: vectors come as lists, which take ten times the memory of arrays."""
DEEP = 64
"""Segments to rank for a query; ranking all of a large corpus takes seconds."""


log = logging.getLogger(__name__)


class VectorIndex:
    """Segments, searched by the cosine of the query's vector and theirs. FAISS compares all segments."""

    def __init__(
        self, segments: Sequence[Document], embeddings: Embeddings, file: Path | None = None
    ) -> None:
        """Embed ``segments``; call this in the embedder's thread.

        The vectors are kept in ``file``. If the file has them already, they are loaded from it.
        """
        self._size = len(segments)
        vectors = _load_vectors(file, self._size)
        if vectors is None:
            vectors = _embed_texts([segment.page_content for segment in segments], embeddings)
            _keep(file, vectors)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        self._store = FAISS(
            embeddings,
            index,
            _Segments(segments),
            {place: str(place) for place in range(self._size)},
            distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
        )

    def search(self, vector: list[float], count: int) -> list[Document]:
        """Return the ``count`` best segments for a query's vector; those with equal scores in order."""
        ranked = self._rank(vector, count)
        ranked.sort(key=lambda match: (-match[1], match[0].metadata["number"]))
        return [_with_score(*match) for match in ranked[:count]]

    def _rank(self, vector: list[float], count: int) -> list[tuple[Document, float]]:
        """Return the best ``count`` segments, and all others that score as high as the last."""
        deep = max(DEEP, count + 1)  # one more, to see if the last has equals
        while True:
            ranked = self._store.similarity_search_with_score_by_vector(vector, k=deep)
            if deep >= self._size or ranked[-1][1] < ranked[count - 1][1]:
                return ranked
            deep *= 4


def _with_score(segment: Document, score: float) -> Document:
    metadata = {**segment.metadata, "score": float(score)}
    return Document(page_content=segment.page_content, metadata=metadata)


class _Segments(Docstore):
    """Segments by their place, each read on access."""

    def __init__(self, segments: Sequence[Document]) -> None:
        self._segments = segments

    def search(self, search: str) -> Document:
        return self._segments[int(search)]


def _embed_texts(texts: Sequence[str], embeddings: Embeddings) -> Vectors:
    """Return a vector for each text; equal texts have equal vectors."""
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    distinct_texts = [*distinct]
    parts = [distinct_texts[at : at + BATCH] for at in range(0, len(distinct_texts), BATCH)]
    rows = [np.array(embeddings.embed_documents(part), dtype=np.float32) for part in parts]
    vectors: Vectors = np.concatenate(rows)[[distinct[text] for text in texts]]
    return vectors


def _load_vectors(file: Path | None, count: int) -> Vectors | None:
    """Return the vectors in a file; None unless the file has ``count`` vectors."""
    if file is not None:
        with suppress(OSError, ValueError, EOFError):
            vectors: Vectors = np.load(file, mmap_mode="r")
            if vectors.dtype == np.float32 and vectors.ndim == 2 and len(vectors) == count:
                return vectors
    return None


def _keep(file: Path | None, vectors: Vectors) -> None:
    """Write vectors whole or not at all; warn if the folder cannot be written."""
    if file is None:
        return
    try:
        with NamedTemporaryFile(dir=file.parent, suffix=".draft", delete=False) as draft:
            np.save(draft, vectors)
        os.replace(draft.name, file)
    except OSError as error:
        log.warning("cannot keep vectors in %s: %s", file, error)
