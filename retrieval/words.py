"""Words of a text, and an index of segments by words (BM25), which needs no model."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise
from typing import Any

import bm25s
import numpy as np
import numpy.typing as npt
from bm25s.stopwords import STOPWORDS_EN
from langchain_core.documents import Document

_WIDE = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
"""A character of Chinese or Japanese, which are written without blanks."""
_WIDE_SIGN = re.compile(_WIDE)
_WORD = re.compile(rf"{_WIDE}+|(?:(?!{_WIDE})\w)+")
_ANY_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(STOPWORDS_EN)


class WordIndex:
    """Segments by the words that they share with the query: BM25, which needs no model."""

    def __init__(
        self, segments: Mapping[int, Document], texts: Sequence[str], amended: Container[int]
    ) -> None:
        """Index ``segments`` by their places among ``texts``, the segments before amendments.

        A segment that was not amended scores as it did before, and an amended one as if no other
        were amended.
        """
        corpus = [words(text) for text in texts]
        self._segments = list(segments.values())
        self._places = list(segments)
        self._before = _Scorer(corpus)
        self._amended = {
            place: _Scorer([*corpus[:place], words(segment.page_content), *corpus[place + 1 :]])
            for place, segment in segments.items()
            if place in amended
        }

    def search(self, queries: Sequence[str], count: int) -> list[list[Document]]:
        """Return for each query the ``count`` best segments; of equals, the first ones.

        Segments that share no word with the query are left out.
        """
        return [self._best(words(query), count) for query in queries]

    def _best(self, query: list[str], count: int) -> list[Document]:
        scores = self._before.scores(query)
        for place, scorer in self._amended.items():
            scores[place] = scorer.scores(query)[place]
        scores = scores[self._places]
        best: list[int] = np.argsort(-scores, kind="stable")[:count].tolist()
        return [scored(self._segments[row], scores[row]) for row in best if scores[row] > 0]


class _Scorer:
    """BM25 scores of texts that are split into words."""

    def __init__(self, corpus: Sequence[list[str]]) -> None:
        self._size = len(corpus)
        self._bm25 = bm25s.BM25(backend="numpy") if any(corpus) else None
        if self._bm25 is not None:
            self._bm25.index(corpus, show_progress=False)

    def scores(self, query: list[str]) -> npt.NDArray[np.floating[Any]]:
        """Return the score of each text; 0 where it shares no word with ``query``."""
        if self._bm25 is None or not query:
            return np.zeros(self._size)
        scores: npt.NDArray[np.floating[Any]] = self._bm25.get_scores(query)
        return scores


def words(text: str) -> list[str]:
    """Split ``text`` into words in lower case, without stop words.

    Chinese and Japanese, which have no blanks, are split into pairs of characters.
    """
    text = text.lower()
    if not _WIDE_SIGN.search(text):
        return [word for word in _ANY_WORD.findall(text) if word not in _STOP_WORDS]
    split: list[str] = []
    for word in _WORD.findall(text):
        if len(word) > 1 and _WIDE_SIGN.match(word):
            split += map("".join, pairwise(word))
        elif word not in _STOP_WORDS:
            split.append(word)
    return split


def scored(segment: Document, score: float) -> Document:
    """Return a segment with the score that a query gave it."""
    return Document(
        page_content=segment.page_content, metadata={**segment.metadata, "score": float(score)}
    )
