"""Segments by the words that they share with a query: BM25, which needs no model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dialectree import clock
from dialectree.retrieval.embeddings import Timing
from dialectree.retrieval.index import Match

_WORD = re.compile(r"\w+")


class LexicalIndex:
    """BM25 over words in lower case, without those that stand in every text."""

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s

        words = [_words(text) for text in texts]
        self._scorer = bm25s.BM25(backend="numpy") if any(words) else None
        if self._scorer is not None:
            self._scorer.index(words, show_progress=False)

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[Match]]:
        """For each query the ``count`` rows that fit best; none that shares no word with it."""

        def every() -> list[list[Match]]:
            began = clock.seconds()
            found = [self.nearest(query, count) for query in queries]
            timing.add(Timing(clock.seconds() - began))
            return found

        return await asyncio.to_thread(every)

    def nearest(self, query: str, count: int) -> list[Match]:
        """The same for one query; blocks."""
        words = _words(query)
        if self._scorer is None or not words:
            return []
        scores = self._scorer.get_scores(words)
        order = np.argsort(-scores, kind="stable")[:count]
        return [Match(int(row), float(scores[row])) for row in order if scores[row] > 0]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _everywhere()]


@lru_cache(maxsize=1)
def _everywhere() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)
