"""An index of segments by vectors (FAISS).

This file alone imports langchain-community, which is being sunset and warns when it is imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from dialectree.retrieval.words import scored

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from langchain_community.vectorstores import FAISS
    from langchain_community.vectorstores.utils import DistanceStrategy

DEEP = 64
"""Segments that are ranked for a query; ranking all of them takes seconds for a large corpus."""


class VectorIndex:
    """Segments by the cosine of their vectors with the query's: FAISS compares them all."""

    def __init__(self, segments: Sequence[Document], embeddings: Embeddings) -> None:
        """Embed ``segments``; to be called in the embedder's thread."""
        texts = [segment.page_content for segment in segments]
        distinct = list(dict.fromkeys(texts))  # equal texts must have equal vectors
        vectors = dict(zip(distinct, embeddings.embed_documents(distinct), strict=True))
        self._size = len(segments)
        self._store = FAISS.from_embeddings(
            [(text, vectors[text]) for text in texts],
            embeddings,
            metadatas=[segment.metadata for segment in segments],
            distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
        )

    async def search(self, vectors: Sequence[list[float]], count: int) -> list[list[Document]]:
        """Return for each query's vector the ``count`` best segments; of equals, the first ones."""
        matches: list[list[Document]] = []
        for vector in vectors:
            ranked = await self._best(vector, count)
            ranked.sort(key=lambda match: (-match[1], match[0].metadata["number"]))
            matches.append([scored(segment, score) for segment, score in ranked[:count]])
        return matches

    async def _best(self, vector: list[float], count: int) -> list[tuple[Document, float]]:
        """Return at least ``count`` segments, and all that are as good as the last of these."""
        deep = max(DEEP, count + 1)  # one more tells whether the last has equals
        while True:
            ranked = await self._store.asimilarity_search_with_score_by_vector(vector, k=deep)
            if deep >= self._size or ranked[-1][1] < ranked[count - 1][1]:
                return ranked
            deep *= 4
