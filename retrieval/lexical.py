"""Segments by the words that they share with a query: BM25, which needs no model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dialectree import clock
from dialectree.retrieval.embeddings import Timing
from dialectree.retrieval.index import Match
from dialectree.threads import Threads

_thread = Threads(1, "lexical")
"""One search after another: several threads would only wait for each other."""
_WIDE = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
"""A sign of Chinese or Japanese, which are written without blanks."""
_WORD = re.compile(rf"{_WIDE}+|(?:(?!{_WIDE})\w)+")


class LexicalIndex:
    """BM25 over words in lower case, without those that stand in every text.

    ``amended`` says by place what stands there instead of a text, and rows are the places ``kept``.
    A text that stays is scored as it was before, and an amended one as if it alone were amended.
    """

    def __init__(
        self,
        texts: Sequence[str],
        amended: Mapping[int, str] | None = None,
        kept: Sequence[int] | None = None,
    ) -> None:
        self._kept = [*range(len(texts))] if kept is None else [*kept]
        words = [_words(text) for text in texts]
        self._before = _Scorer(words)
        self._now = {
            place: _Scorer([*words[:place], _words(text), *words[place + 1 :]])
            for place, text in (amended or {}).items()
        }

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[Match]]:
        """For each query the ``count`` rows that fit best; none that shares no word with it."""

        def every() -> list[list[Match]]:
            began = clock.seconds()
            found = [self.nearest(query, count) for query in queries]
            timing.add(Timing(clock.seconds() - began))
            return found

        return await asyncio.get_running_loop().run_in_executor(_thread, every)

    def nearest(self, query: str, count: int) -> list[Match]:
        """The same for one query; blocks."""
        words = _words(query)
        scores = self._before.scores(words)
        for place, now in self._now.items():
            scores[place] = now.scores(words)[place]
        scores = scores[self._kept]
        order = np.argsort(-scores, kind="stable")[:count]
        return [Match(int(row), float(scores[row])) for row in order if scores[row] > 0]


class _Scorer:
    """How well texts, given by their words, fit a query."""

    def __init__(self, words: Sequence[list[str]]) -> None:
        import bm25s

        self._count = len(words)
        self._index = bm25s.BM25(backend="numpy") if any(words) else None
        if self._index is not None:
            self._index.index(words, show_progress=False)

    def scores(self, words: list[str]) -> npt.NDArray[np.floating[Any]]:
        """One a text; 0 where it shares no word."""
        if self._index is None or not words:
            return np.zeros(self._count)
        found: npt.NDArray[np.floating[Any]] = self._index.get_scores(words)
        return found


def _words(text: str) -> list[str]:
    """What counts as a word of ``text``; where it has no blanks, every two signs in a row."""
    words: list[str] = []
    for word in _WORD.findall(text.lower()):
        if len(word) > 1 and re.match(_WIDE, word):
            words += map("".join, pairwise(word))
        elif word not in _everywhere():
            words.append(word)
    return words


@lru_cache(maxsize=1)
def _everywhere() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN

    return frozenset(STOPWORDS_EN)
