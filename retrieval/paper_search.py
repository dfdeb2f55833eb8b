"""Search one paper, with a person's changes, for Tree-of-Debate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

import bm25s
import numpy as np

from dialectree.errors import InputError
from dialectree.retrieval.corpus import Corpus, CorpusSegment
from dialectree.retrieval.embedders import Embedder, Timing
from dialectree.retrieval.papers import AmendedPaper, Paper
from dialectree.retrieval.segments import list_passages
from dialectree.retrieval.sources import Document
from dialectree.retrieval.words import words
from dialectree.system import clock


class PaperSearch:
    """The segments of one paper, with a person's changes.

    Changes leave the scores of all other segments as they were. Each changed segment is scored as
    if it were the only change.
    """

    def __init__(self, paper: AmendedPaper, corpus: Corpus, by: Embedder | None) -> None:
        """Search ``corpus``, which contains only the segments of ``paper``.

        Raises InputError if the paper does not have a segment that was changed.
        """
        self._corpus, self._by = corpus, by
        amended = {f"s1:{number}": text or None for number, text in paper.amended.items()}
        if unknown := sorted(n for n in paper.amended if not 0 < n <= len(corpus)):
            has = f"it has 1 to {len(corpus)}" if len(corpus) else "it has none"
            raise InputError(f"{paper.paper.name} has no segment {unknown[0]}: {has}")
        self._amended = {id: text for id, text in amended.items() if text != corpus.segment(id).text}

    def segments(self) -> dict[int, CorpusSegment]:
        """Return the segments by number, without dropped ones."""
        return {
            segment.number: segment._replace(text=self._amended.get(segment.id) or segment.text)
            for segment in self._corpus
            if self._amended.get(segment.id, "") is not None
        }

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[CorpusSegment]]:
        """Return the ``count`` best segments for each query; those with equal scores in the paper's order.

        Without embeddings, a segment that shares no word with the query is not found.
        """
        rows = await self._corpus.search(queries, count, [*self._amended], timing)
        texts = {id: text for id, text in self._amended.items() if text is not None}
        if not texts or not queries:
            return rows
        scores = await self._score(queries, texts, timing)
        best: list[list[CorpusSegment]] = []
        for row, query_scores in zip(rows, scores, strict=True):
            changed = [
                self._corpus.segment(id)._replace(text=texts[id], score=score)
                for id, score in query_scores.items()
            ]
            row = sorted([*row, *changed], key=lambda hit: (-(hit.score or 0.0), hit.number))
            best.append(row[:count])
        return best

    async def _score(
        self, queries: Sequence[str], texts: Mapping[str, str], timing: Timing
    ) -> list[dict[str, float]]:
        """Return for each query the scores of amended segments, by id; a segment may have no score."""
        if self._by is None:
            return await asyncio.to_thread(self._score_words, queries, texts)
        query_vectors = np.array(await self._by.queries(queries, timing), dtype=np.float32)
        embed = partial(self._by.passages().embed_documents, [*texts.values()])
        began = clock.seconds()
        vectors = await asyncio.wrap_future(self._by.thread.submit(embed))
        timing.seconds += clock.seconds() - began
        pairs = [*zip(texts, np.array(vectors, dtype=np.float32), strict=True)]
        return [{id: float(query @ vector) for id, vector in pairs} for query in query_vectors]

    def _score_words(self, queries: Sequence[str], texts: Mapping[str, str]) -> list[dict[str, float]]:
        corpus = [words(segment.text) for segment in self._corpus]
        query_scores: list[dict[str, float]] = [{} for _ in queries]
        for id, text in texts.items():
            place = int(id.rpartition(":")[2]) - 1
            changed = [*corpus[:place], words(text), *corpus[place + 1 :]]
            bm25 = bm25s.BM25(backend="numpy")
            bm25.index(changed, show_progress=False)
            for scores, query in zip(query_scores, queries, strict=True):
                split = words(query)
                score = float(bm25.get_scores(split)[place]) if split and words(text) else 0.0
                if score > 0:
                    scores[id] = score
        return query_scores


def as_document(paper: Paper) -> Document:
    """Return a paper's body as a document, or its abstract and introduction if it has no body."""
    return Document.of_passages(paper.name, paper.title, list_passages(paper), paper.version)
