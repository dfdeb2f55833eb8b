"""One corpus of several documents: cut, numbered and indexed together, and cached by content.

Ids are ``s2`` for a source, ``s2:17`` for its segment, ``s2:17.3`` for a sentence of that segment.
They never change: a document added later becomes the last source, and a dropped segment keeps its
number. Of several segments with equal text, a search finds one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dialectree.errors import InputError
from dialectree.protocols.sources import cache_folder
from dialectree.protocols.trust import WITH_KEY, Access
from dialectree.retrieval.corpus_files import Progress, Rows, Rules, locate_corpus, prepare_corpus
from dialectree.retrieval.cut_documents import cut_document
from dialectree.retrieval.embedders import LEXICAL, Embedder, Timing, embedder
from dialectree.retrieval.sources import Document

if TYPE_CHECKING:
    from dialectree.retrieval.index import VectorIndex
    from dialectree.retrieval.sentence_vectors import SentenceVectors

Ranking = Literal["scores", "ranks", "segments"]
"""The order of segments in a search with embeddings. ``scores``: by a blend of two scores, for a
segment's words and for its best sentence. ``ranks``: by two fused ranks, for words and for vectors of
whole segments, as in earlier versions. ``segments``: by vectors of whole segments alone, as in ToD;
it finds all segments of equal text, and searches unstemmed words if there are no embeddings."""
WORDS_WEIGHT = 0.2
"""The weight of the words in a blended score, 0 to 1."""
NEAREST = 256
"""Number of nearest sentences that a search first looks at."""
RANK = 60
"""The constant in 1 / (RANK + rank) (Cormack, Clarke and Büttcher, SIGIR 2009)."""
DEEP = 64
"""Ranks that a search first takes from each index."""
_ID = re.compile(r"s([1-9]\d{0,8})(?::([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?)?")


class Source(NamedTuple):
    """A document of the corpus."""

    id: str
    name: str
    title: str


class CorpusSegment(NamedTuple):
    """A piece of a source to quote, with the places of its sentences."""

    id: str
    source: str
    text: str
    page: int | None
    """The page on which the segment begins; None if the file has no pages."""
    heading: str | None
    sentences: tuple[tuple[int, int], ...]
    """Start and end of each sentence, in characters of the text."""
    offset: int = 0
    """The start of the segment in the text of its source, in characters."""
    place: str = ""
    """Where the segment begins in a file without pages: ``paragraph 12``, ``row 5``."""
    score: float | None = None
    """The score for the query that found the segment; None if ranks were fused."""

    @property
    def number(self) -> int:
        """Return the segment's number in its source, from 1."""
        return int(self.id.rpartition(":")[2])

    def ids(self) -> list[str]:
        """Return the ids of the segment's sentences."""
        return [f"{self.id}.{number}" for number, _ in enumerate(self.sentences, 1)]

    def sentence(self, number: int) -> str:
        """Return the sentence with this number, from 1."""
        start, end = self.sentences[number - 1]
        return self.text[start:end]


class Material(Protocol):
    """Sources with ids that never change, and a search over all of them."""

    @property
    def sources(self) -> Mapping[str, Source]:
        """Return the sources by id, in the order of the ids."""
        ...

    async def search(
        self, queries: Sequence[str], count: int, dropped: Collection[str] = (), timing: Timing | None = None
    ) -> list[list[CorpusSegment]]:
        """Return the ``count`` best segments for each query, without ``dropped`` ones."""
        ...

    async def near(self, text: str, count: int) -> list[CorpusSegment]:
        """Return the ``count`` segments that share most words with ``text``, without any request."""
        ...

    def find_whole(self, tokens: int, sentences: int) -> list[str]:
        """Return the ids of all segments; no ids if these exceed ``tokens`` or ``sentences``."""
        ...

    def neighbours(self, id: str, reach: int) -> list[str]:
        """Return the ids of the ``reach`` segments before and after segment ``id`` in its document."""
        ...

    def count_sentences(self) -> int:
        """Return the number of sentences that debaters can be shown."""
        ...

    def retrieves(self) -> bool:
        """Return whether a search may find texts outside the documents."""
        ...

    def segment(self, id: str) -> CorpusSegment:
        """Return the segment ``s2:17``; raise InputError for an unknown id."""
        ...

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``; raise InputError for an unknown id."""
        ...


class Corpus:
    """Sources with ids that never change, and a search over all of them.

    Example:
        >>> from dialectree.retrieval.blocks import Block
        >>> corpus = Corpus([Document.from_blocks("s.txt", [Block("It is blue. It is high.")])])
        >>> corpus.sentence("s1:1.2")
        'It is high.'
    """

    def __init__(
        self,
        documents: Sequence[Document],
        embeddings: str = LEXICAL,
        base_url: str | None = None,
        access: Access = WITH_KEY,
        *,
        ranking: Ranking = "scores",
        progress: Progress = None,
    ) -> None:
        """Cut and index ``documents``, or load them from the cache. The call blocks meanwhile.

        ``embeddings`` is ``bm25``, or names a model whose vectors are searched as well as the words:
        see :func:`dialectree.retrieval.embedders.embedder`. Raises the errors of that function, and
        InputError if the documents have no text. ``progress`` gets the number of documents cut, and
        then the number of documents embedded.
        """
        self._by: Embedder | None = None
        self._sentences: SentenceVectors | None = None
        self._vectors: VectorIndex | None = None
        if embeddings != LEXICAL:
            self._by = embedder(embeddings, base_url, access)
        titles = [Source(f"s{n}", document.name, document.title) for n, document in enumerate(documents, 1)]
        self.sources: Mapping[str, Source] = {source.id: source for source in titles}
        # Documents that earlier versions recorded are searched as in those versions.
        versions = {document.version for document in documents}
        apart = ranking == "segments"
        self._rules = Rules(distinct=not apart, stemmed=not apart and min(versions, default=2) > 1)
        self._place = locate_corpus(documents, self._rules)
        self._pieces, self._words = prepare_corpus(self._place, documents, self._rules, progress)
        if not len(self) and not apart:
            raise InputError("no text in the sources; give documents with text")
        if self._by is not None and len(self):
            make = self._embed_sentences if ranking == "scores" else self._embed_segments
            self._by.thread.submit(make, self._by, documents, progress).result()

    def __len__(self) -> int:
        """Return the number of segments, including those of equal text."""
        return len(self._pieces.row)

    def __iter__(self) -> Iterator[CorpusSegment]:
        """Yield the segments in the order of their ids."""
        return map(self._segment, range(len(self)))

    def segment(self, id: str) -> CorpusSegment:
        """Return the segment ``s2:17``. Raises InputError for an unknown id."""
        source, number, sentence = self._parse_id(id)
        if not number or sentence:
            raise InputError(f"{id!r} is not the id of a segment, such as s2:17")
        return self._segment(self._pieces.starts[source - 1] + number - 1)

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``, byte for byte as the source was read.

        Raises InputError for an unknown id.
        """
        segment_id, _, number = id.rpartition(".")
        if not self._parse_id(id)[2]:
            raise InputError(f"{id!r} is not the id of a sentence, such as s2:17.3")
        return self.segment(segment_id).sentence(int(number))

    async def search(
        self, queries: Sequence[str], count: int, dropped: Collection[str] = (), timing: Timing | None = None
    ) -> list[list[CorpusSegment]]:
        """Return the ``count`` best segments for each query, best first; equal scores in the order of ids.

        Without embeddings, only segments that share a word with the query are found; see
        :data:`Ranking` for the order. Scores are computed over the whole corpus, so that leaving out
        ``dropped`` sources and segments keeps the order of the others. Raises InputError for an unknown id in
        ``dropped``. Adds the time of embedding the queries to ``timing``.
        """
        out = self._rows(dropped)
        vectors: Sequence[list[float]] = [[] for _ in queries]
        if self._by is not None and queries:
            vectors = await self._by.queries(queries, timing or Timing())

        def find() -> list[list[CorpusSegment]]:
            both = zip(queries, vectors, strict=True)
            return [self._best(query, vector, count, out) for query, vector in both]

        return await asyncio.to_thread(find)

    async def near(self, text: str, count: int) -> list[CorpusSegment]:
        """Return the segments that share most words with ``text``, by BM25 alone."""
        scores = await asyncio.to_thread(self._words.scores, text)
        return [self._segment(int(self._pieces.first[row])) for row, _ in _top(scores, count)]

    def find_whole(self, tokens: int, sentences: int) -> list[str]:
        """Return the ids of all segments; no ids if these exceed ``tokens`` or ``sentences``.

        Of several segments with equal text, only the first counts and is returned. Four characters
        count as a token, as in estimates.
        """
        ids: list[str] = []
        characters = 0
        for segment in map(self._segment, self._pieces.first.tolist()) if tokens else ():
            ids.append(segment.id)
            characters += len(segment.text)
            sentences -= len(segment.sentences)
            if characters > 4 * tokens or sentences < 0:
                return []
        return ids

    def neighbours(self, id: str, reach: int) -> list[str]:
        """Return the ids of the ``reach`` segments before and after segment ``id`` in its source."""
        source, number, _ = self._parse_id(id)
        size = int(self._pieces.starts[source] - self._pieces.starts[source - 1])
        around = range(max(1, number - reach), min(size, number + reach) + 1)
        return [f"s{source}:{neighbour}" for neighbour in around if neighbour != number]

    def count_sentences(self) -> int:
        """Return the number of sentences in all sources; equal segments count once."""
        return int(self._pieces.last[-1]) if len(self) else 0

    def retrieves(self) -> bool:
        """Return False: a search finds only the documents."""
        return False

    def _best(
        self, query: str, vector: list[float], count: int, dropped: Collection[int]
    ) -> list[CorpusSegment]:
        """Return the best segments: rank deeper until ``count`` remain; earlier ones keep their order."""
        scores = self._words.scores(query)
        order: dict[int, None] = {}
        best: list[tuple[int, float | None]] = []
        deep = DEEP
        while True:
            rows, is_all = self._rank(scores, vector, deep)
            for row, score in rows:
                if row not in order:
                    order[row] = None
                    allowed_places = (at for at in self._pieces.alike(row) if at not in dropped)
                    if (at := next(allowed_places, None)) is not None:
                        best.append((at, score))
            if len(best) >= count or is_all:
                return [self._segment(at)._replace(score=score) for at, score in best[:count]]
            deep *= 4

    def _rank(
        self, scores: npt.NDArray[np.floating[Any]], vector: list[float], deep: int
    ) -> tuple[list[tuple[int, float | None]], bool]:
        """Return the best rows with their scores, and whether the search finds no more rows."""
        by_words: list[tuple[int, float | None]] = [*_top(scores, deep)]
        if self._sentences is not None:
            return self._blend(self._sentences, scores, vector, deep)
        if self._vectors is None:
            return by_words, len(by_words) < deep
        near = self._vectors.search(vector, deep)
        by_vectors = [(text.metadata["number"], text.metadata["score"]) for text in near]
        if not self._rules.distinct:
            return by_vectors, len(by_vectors) < deep
        ranks = [[row for row, _ in by_words], [row for row, _ in by_vectors]]
        return [(row, None) for row in fuse_ranks(ranks)], all(len(rank) < deep for rank in ranks)

    def _blend(
        self,
        sentences: SentenceVectors,
        scores: npt.NDArray[np.floating[Any]],
        vector: list[float],
        deep: int,
    ) -> tuple[list[tuple[int, float | None]], bool]:
        """Return rows by the blended scores of their words and of their nearest sentence.

        Both scores are 1 for the best row. The score for words is 0 for a row without a word of the
        query. The score for sentences is 0 at the mean cosine of all sentences, so that models can be
        compared.
        """
        look_at, query = NEAREST * deep // DEEP, np.asarray(vector, dtype=np.float32)
        rows, cosines = sentences.nearest(query, look_at)
        by_words = np.array([row for row, _ in _top(scores, deep)], dtype=np.int64)
        word_rows = np.setdiff1d(by_words, rows)
        rows = np.concatenate([rows, word_rows])
        cosines = np.concatenate([cosines, sentences.cosines(query, word_rows)])
        mean = sentences.mean_cosine(query)
        width = max(float(cosines.max(initial=0.0)) - mean, 1e-6)
        top = float(scores.max(initial=0.0)) or 1.0
        blended = WORDS_WEIGHT * scores[rows] / top + (1 - WORDS_WEIGHT) * (cosines - mean) / width
        order = np.lexsort((rows, -blended))
        best = zip(rows[order].tolist(), blended[order].tolist(), strict=True)
        return [*best], look_at >= len(sentences)

    def _embed_sentences(self, by: Embedder, documents: Sequence[Document], progress: Progress) -> None:
        """Embed each sentence, or load its vector from the cache."""
        from dialectree.retrieval.sentence_vectors import SentenceVectors, embed_sentences

        owners: list[int] = []
        starts, pieces = self._pieces.starts.tolist(), self._pieces
        folder = vectors_folder() / by.folder / "sentences"

        def embed() -> Iterator[npt.NDArray[np.float16]]:
            new = 0
            for number, document in enumerate(documents):
                vectors = embed_sentences(self._texts(document), by, folder)
                sentence_numbers: list[int] = []
                at_sentence = 0
                for at in range(starts[number], starts[number + 1]):
                    row = int(pieces.row[at])
                    count = len(pieces.spans(row))
                    if row == new:
                        sentence_numbers += range(at_sentence, at_sentence + count)
                        owners.extend([row] * count)
                        new += 1
                    at_sentence += count
                yield vectors[sentence_numbers] if len(sentence_numbers) < len(vectors) else vectors
                if progress is not None:
                    progress(number + 1, len(documents))

        parts = [*embed()]
        self._sentences = SentenceVectors(parts, owners)

    def _texts(self, document: Document) -> list[str]:
        """Return the sentences of a document."""
        segments = cut_document(document, stemmed=self._rules.stemmed).segments
        return [*chain.from_iterable(segment.list_sentences() for segment in segments)]

    def _embed_segments(self, by: Embedder, documents: Sequence[Document], progress: Progress) -> None:
        """Embed whole segments."""
        from dialectree.retrieval.index import VectorIndex

        name = blake2b(by.name.encode(), digest_size=8).hexdigest()
        file = self._place / f"vectors-{name}.npy" if self._place.is_dir() else None
        self._vectors = VectorIndex(Rows(self._pieces), by.passages(), file)

    def _segment(self, at: int) -> CorpusSegment:
        pieces = self._pieces
        source = int(np.searchsorted(pieces.starts, at, side="right"))
        row, page, heading = int(pieces.row[at]), int(pieces.page[at]), int(pieces.heading[at])
        return CorpusSegment(
            id=f"s{source}:{at - int(pieces.starts[source - 1]) + 1}",
            source=f"s{source}",
            text=pieces.text(row),
            page=page or None,
            heading=pieces.headings[heading],
            sentences=pieces.spans(row),
            offset=int(pieces.offset[at]),
            place=pieces.places[int(pieces.place[at])],
        )

    def _rows(self, dropped: Collection[str]) -> set[int]:
        """Return the places of dropped segments; an id in ``dropped`` names a segment or a whole source."""
        starts = self._pieces.starts
        places: set[int] = set()
        for id in dropped:
            source, number, _ = self._parse_id(id)
            first, end = int(starts[source - 1]), int(starts[source])
            places |= {first + number - 1} if number else {*range(first, end)}
        return places

    def _parse_id(self, id: str) -> tuple[int, int, int]:
        """Return the numbers of source, segment and sentence in an id, 0 for a missing one."""
        match = _ID.fullmatch(id)
        source, number, sentence = (int(digits or 0) for digits in match.groups()) if match else (0, 0, 0)
        starts = self._pieces.starts
        exists = 0 < source < len(starts) and number <= starts[source] - starts[source - 1]
        if exists and sentence:
            row = int(self._pieces.row[starts[source - 1] + number - 1])
            exists = sentence <= len(self._pieces.spans(row))
        if not exists:
            raise InputError(f"the sources have no {id!r}; they are s1 to s{len(starts) - 1}")
        return source, number, sentence


def fuse_ranks(ranks: Sequence[Sequence[int]]) -> list[int]:
    """Return rows by the sum of 1 / (RANK + rank), greatest first; rows with equal sums by number."""
    sums: dict[int, float] = {}
    for rows in ranks:
        for rank, row in enumerate(rows, 1):
            sums[row] = sums.get(row, 0.0) + 1 / (RANK + rank)
    return sorted(sums, key=lambda row: (-sums[row], row))


def _top(scores: npt.NDArray[np.floating[Any]], count: int) -> list[tuple[int, float]]:
    """Return the rows with the best scores above 0, best first; rows with equal scores by number."""
    rows = np.flatnonzero(scores > 0)
    if len(rows) > count:
        lowest_score = np.partition(scores[rows], -count)[-count]
        rows = rows[scores[rows] >= lowest_score]
    top = rows[np.argsort(-scores[rows], kind="stable")][:count]
    return [*zip(top.tolist(), scores[top].tolist(), strict=True)]


def vectors_folder() -> Path:
    """Return the folder of the cache that keeps vectors, by model."""
    return cache_folder() / "vectors"
