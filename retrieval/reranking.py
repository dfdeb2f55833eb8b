"""Reorder the segments found for a query by a cross-encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from dialectree.errors import SettingsError
from dialectree.records.journal import RetrievalLine, Retrievals
from dialectree.retrieval.corpus import DEEP, CorpusSegment, Material, Source
from dialectree.retrieval.encoders import load, place_of
from dialectree.system.loop import Threads

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

    from dialectree.retrieval.embedders import Timing


class Reranker:
    """A cross-encoder of sentence-transformers; its first use loads it, in its own thread."""

    def __init__(self, name: str) -> None:
        self._place = place_of(name, "rerank")
        self._thread = Threads(1, "reranker")
        self._model: CrossEncoder | None = None

    async def order(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return the places in ``texts``, best text first; texts with equal scores stay in their order."""
        return await asyncio.wrap_future(self._thread.submit(self._order, query, texts))

    def _order(self, query: str, texts: Sequence[str]) -> list[int]:
        if self._model is None:
            from sentence_transformers import CrossEncoder

            self._model = load(self._place, CrossEncoder)
        pairs = [(query, text) for text in texts]
        scores = self._model.predict(pairs, show_progress_bar=False).reshape(len(texts), -1)
        if scores.shape[1] != 1:
            problem = f"gives {scores.shape[1]} scores to a pair; choose one that gives one"
            raise SettingsError(f"`rerank`: {self._place.name} {problem}")
        return sorted(range(len(texts)), key=lambda at: -float(scores[at, 0]))


@cache
def reranker(name: str) -> Reranker:
    """Return the process's cross-encoder called ``name``; checks files, but loads no model."""
    return Reranker(name)


class RerankedMaterial:
    """A material with a cross-encoder that reorders the best segments for a query."""

    def __init__(self, material: Material, name: str, by: Reranker | None, retrievals: Retrievals) -> None:
        """Take the cross-encoder ``by``, called ``name``; it is None if only a run's record names one."""
        self._material, self._name, self._by = material, name, by
        self._retrievals = retrievals

    @property
    def sources(self) -> Mapping[str, Source]:
        """Return the material's sources by id."""
        return self._material.sources

    def segment(self, id: str) -> CorpusSegment:
        """Return the segment ``s2:17``. Raises InputError for an unknown id."""
        return self._material.segment(id)

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``. Raises InputError for an unknown id."""
        return self._material.sentence(id)

    async def near(self, text: str, count: int) -> list[CorpusSegment]:
        """Return the ``count`` segments that share most words with ``text``."""
        return await self._material.near(text, count)

    def find_whole(self, tokens: int, sentences: int) -> list[str]:
        """Return the ids of all segments; no ids if these exceed ``tokens`` or ``sentences``."""
        return self._material.find_whole(tokens, sentences)

    def neighbours(self, id: str, reach: int) -> list[str]:
        """Return the ids of the ``reach`` segments before and after segment ``id`` in its document."""
        return self._material.neighbours(id, reach)

    def count_sentences(self) -> int:
        """Return the number of sentences that debaters can be shown."""
        return self._material.count_sentences()

    def retrieves(self) -> bool:
        """Return whether a search may find texts outside the documents."""
        return self._material.retrieves()

    async def search(
        self, queries: Sequence[str], count: int, dropped: Collection[str] = (), timing: Timing | None = None
    ) -> list[list[CorpusSegment]]:
        """Return for each query the ``count`` best of the first segments that the material's search finds.

        Leaving out ``dropped`` segments keeps the order of the others. Raises SettingsError or
        ModelUnavailable if the cross-encoder cannot be used.
        """
        all_rows = await self._material.search(queries, DEEP, (), timing)
        allowed_rows = all_rows
        if dropped:
            allowed_rows = await self._material.search(queries, max(DEEP, count), dropped, timing)
        best: list[list[CorpusSegment]] = []
        for query, row, rest in zip(queries, all_rows, allowed_rows, strict=True):
            ids = await self._ids(query, row)
            ranks = {self._material.segment(id).text: rank for rank, id in enumerate(ids)}
            rest = sorted(rest, key=lambda segment: ranks.get(segment.text, len(ranks)))
            best.append(rest[:count])
        return best

    async def _ids(self, query: str, segments: Sequence[CorpusSegment]) -> list[str]:
        """Return the ids of ``segments`` in the run's recorded order, or else in the cross-encoder's."""
        by, ids = f"rerank {self._name}", [segment.id for segment in segments]
        recorded_ids = self._retrievals.ids(by, query)
        if recorded_ids is not None and {*recorded_ids} == {*ids}:
            return recorded_ids
        if self._by is None:
            raise SettingsError(
                f"`rerank`: the run has no recorded order for {query!r:.200}, and its record must "
                f"not choose a model: name {self._name} again"
            )
        places = await self._by.order(query, [segment.text for segment in segments]) if ids else []
        line = RetrievalLine(by=by, query=query, ids=[ids[at] for at in places])
        await self._retrievals.keep(line)
        return line.ids
