"""Segments by the cosine of their vectors with a query's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dialectree.retrieval.embeddings import Embedder, Timing
from dialectree.retrieval.vectors import Vectors

NARROW = 1e-4
"""Scores in single precision that lie so close together may stand in the wrong order."""


class Match(NamedTuple):
    """A row of what is searched, and how well it fits."""

    row: int
    score: float


class Index(Protocol):
    """What finds the rows that fit a query best; of equals, the first."""

    async def search(
        self, queries: Sequence[str], count: int, timing: Timing
    ) -> list[list[Match]]: ...


class VectorIndex:
    """An exact index: every vector is compared with the query's."""

    def __init__(self, embedder: Embedder, vectors: Vectors) -> None:
        import faiss

        self._embedder, self._vectors = embedder, vectors
        self._flat = faiss.IndexFlatIP(vectors.shape[1])
        self._flat.add(vectors)

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[Match]]:
        """For each query the ``count`` rows with the greatest cosine."""
        if not queries:
            return []
        made = await self._embedder.queries(queries)
        timing.add(made.spent)
        return await asyncio.to_thread(self.nearest, made.vectors, count)

    def nearest(self, queries: Vectors, count: int) -> list[list[Match]]:
        """The same for vectors.

        The index ranks in single precision; those about the last place are compared again in
        double, so that the order is the cosine's, and equal texts stand in their own order.
        """
        ranked, rows = self._flat.search(queries, self._flat.ntotal)
        last = ranked[:, min(count, self._flat.ntotal) - 1]
        return [
            self._exact(query, np.sort(near[scores >= least - NARROW]))[:count]
            for query, near, scores, least in zip(queries, rows, ranked, last, strict=True)
        ]

    def _exact(self, query: Vectors, rows: npt.NDArray[np.int64]) -> list[Match]:
        products = self._vectors[rows].astype(np.float64) * query.astype(np.float64)
        scores = products.sum(axis=1)
        order = np.argsort(-scores, kind="stable")
        return [Match(int(rows[i]), float(scores[i])) for i in order]
