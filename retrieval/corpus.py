"""Documents as one corpus: cut, numbered and indexed as one, and kept on disk by their content.

A source is ``s2``, a segment of it ``s2:17`` and a sentence of that ``s2:17.3``. These ids stay for
good: a document added later is the last source, and what a person drops keeps its numbers. Segments
of equal text are one to a search.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import tempfile
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import bm25s
import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document as Text

from dialectree.errors import InputError
from dialectree.protocols.sources import cache_folder
from dialectree.protocols.trust import WITH_KEY, Access
from dialectree.retrieval.library import LEXICAL, Embedder, Timing, embedder
from dialectree.retrieval.search_words import search_words
from dialectree.retrieval.segments import cut, language_of
from dialectree.retrieval.sources import Document, readers
from dialectree.retrieval.words import words
from dialectree.system import clock

if TYPE_CHECKING:
    from dialectree.retrieval.index import VectorIndex

RANK = 60
"""Added to a rank before its reciprocal is taken (Cormack, Clarke and Büttcher, SIGIR 2009)."""
KEPT_DAYS = 60
"""Days after which a corpus that nobody used is removed from the cache."""
DEEP = 64
"""Ranks of each index that are fused at once."""
SEGMENTS = 200_000
"""Segments of one corpus, some 2,500 documents of ten pages; more are the work of an engine."""
_ID = re.compile(r"s([1-9]\d{0,8})(?::([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?)?")

Progress: TypeAlias = Callable[[int, int], None] | None
"""Is told how many documents of how many are done."""

log = logging.getLogger(__name__)


class Source(NamedTuple):
    """A document of the corpus."""

    id: str
    name: str
    title: str


class Segment(NamedTuple):
    """A quotable piece of a source, with the places of its sentences as they were cut."""

    id: str
    source: str
    text: str
    page: int | None
    """The page on which it begins; None where the file has no pages."""
    heading: str | None
    sentences: tuple[tuple[int, int], ...]
    """Where each sentence begins and ends, in characters of the text."""

    def ids(self) -> list[str]:
        """Return the ids of its sentences."""
        return [f"{self.id}.{number}" for number, _ in enumerate(self.sentences, 1)]

    def sentence(self, number: int) -> str:
        """Return a sentence, from 1."""
        start, end = self.sentences[number - 1]
        return self.text[start:end]


class Material(Protocol):
    """Sources under lasting ids, and a search over all of them."""

    @property
    def sources(self) -> Mapping[str, Source]:
        """Return the sources by id, in the order of the ids."""
        ...

    async def search(
        self,
        queries: Sequence[str],
        count: int,
        dropped: Collection[str] = (),
        timing: Timing | None = None,
    ) -> list[list[Segment]]:
        """Return for each query the ``count`` best segments, without ``dropped`` ones."""
        ...

    async def near(self, text: str, count: int) -> list[Segment]:
        """Return the ``count`` segments that share most words with ``text``, and ask nobody."""
        ...

    def segment(self, id: str) -> Segment:
        """Return the segment ``s2:17``; raise InputError where there is none."""
        ...

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``; raise InputError where there is none."""
        ...


class Corpus:
    """Sources under lasting ids, and a search over all of them.

    Example:
        >>> from dialectree.retrieval.blocks import Block
        >>> corpus = Corpus([Document.of("sky.txt", [Block("The sky is blue. It is high.")])])
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
        progress: Progress = None,
    ) -> None:
        """Cut and index ``documents``, or load what was kept of the same ones; blocks meanwhile.

        ``embeddings`` is ``bm25``, or names a model whose vectors are searched beside the words:
        see :func:`dialectree.retrieval.library.embedder`, whose errors it raises. InputError where
        the documents have no text.
        """
        self._by: Embedder | None = None
        self._vectors: VectorIndex | None = None
        if embeddings != LEXICAL:
            self._by = embedder(embeddings, base_url, access)
        titles = [Source(f"s{n}", one.name, one.title) for n, one in enumerate(documents, 1)]
        self.sources: Mapping[str, Source] = {source.id: source for source in titles}
        self._place = _place(documents)
        self._pieces, self._words = _prepared(self._place, documents, progress)
        if not len(self):
            raise InputError("no text in the sources; give documents that have some")
        if self._by is not None:
            self._vectors = self._by.thread.submit(self._vector_index, self._by).result()

    def __len__(self) -> int:
        """Return the number of segments, those of equal text included."""
        return len(self._pieces.row)

    def __iter__(self) -> Iterator[Segment]:
        """Yield the segments in the order of their ids."""
        return map(self._segment, range(len(self)))

    def segment(self, id: str) -> Segment:
        """Return the segment ``s2:17``. Raises InputError for an id that the corpus has not."""
        source, number, sentence = self._parsed(id)
        if not number or sentence:
            raise InputError(f"{id!r} is not the id of a segment, such as s2:17")
        return self._segment(self._pieces.starts[source - 1] + number - 1)

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``, byte for byte as the source was read.

        Raises InputError for an id that the corpus does not have.
        """
        whole, _, number = id.rpartition(".")
        if not self._parsed(id)[2]:
            raise InputError(f"{id!r} is not the id of a sentence, such as s2:17.3")
        return self.segment(whole).sentence(int(number))

    async def search(
        self,
        queries: Sequence[str],
        count: int,
        dropped: Collection[str] = (),
        timing: Timing | None = None,
    ) -> list[list[Segment]]:
        """Return for each query the ``count`` best segments, the best first; of equals, the first.

        Words alone find only segments that share one with the query. With embeddings, the ranks by
        words and by vectors are fused by reciprocal rank. Ranks are of the whole corpus: leaving
        out ``dropped`` sources and segments moves no other. Raises InputError for an unknown id in
        ``dropped``; ``timing`` grows by what embedding the queries took.
        """
        out = self._rows(dropped)
        vectors: Sequence[list[float]] = [[] for _ in queries]
        if self._by is not None and queries:
            vectors = await self._by.queries(queries, timing or Timing())
        both = zip(queries, vectors, strict=True)
        return [await self._best(query, vector, count, out) for query, vector in both]

    async def near(self, text: str, count: int) -> list[Segment]:
        """Return the segments that share most words with ``text``, by BM25 alone."""
        scores = await asyncio.to_thread(self._words.scores, text)
        return [self._segment(int(self._pieces.first[row])) for row in _top(scores, count)]

    async def _best(
        self, query: str, vector: list[float], count: int, dropped: Collection[int]
    ) -> list[Segment]:
        """Rank deeper until enough segments remain; the order of those before stays the same."""
        scores = await asyncio.to_thread(self._words.scores, query)
        order: dict[int, None] = {}
        best: list[int] = []
        deep = DEEP
        while True:
            ranks = [_top(scores, deep)]
            if self._vectors is not None:
                [near] = await self._vectors.search([vector], deep)
                ranks.append([one.metadata["number"] for one in near])
            for row in fused(ranks):
                if row not in order:
                    order[row] = None
                    kept = (at for at in self._pieces.alike(row) if at not in dropped)
                    if (at := next(kept, None)) is not None:
                        best.append(at)
            if len(best) >= count or all(len(one) < deep for one in ranks):
                return [self._segment(at) for at in best[:count]]
            deep *= 4

    def _vector_index(self, by: Embedder) -> VectorIndex:
        from dialectree.retrieval.index import VectorIndex

        name = blake2b(by.name.encode(), digest_size=8).hexdigest()
        file = self._place / f"vectors-{name}.npy" if self._place.is_dir() else None
        return VectorIndex(_Rows(self._pieces), by.passages(), file)

    def _segment(self, at: int) -> Segment:
        pieces = self._pieces
        source = int(np.searchsorted(pieces.starts, at, side="right"))
        row, page, heading = int(pieces.row[at]), int(pieces.page[at]), int(pieces.heading[at])
        return Segment(
            id=f"s{source}:{at - int(pieces.starts[source - 1]) + 1}",
            source=f"s{source}",
            text=pieces.text(row),
            page=page or None,
            heading=pieces.headings[heading],
            sentences=pieces.spans(row),
        )

    def _rows(self, dropped: Collection[str]) -> set[int]:
        """Return the places of segments that are dropped, alone or with their source."""
        starts = self._pieces.starts
        places: set[int] = set()
        for id in dropped:
            source, number, _ = self._parsed(id)
            first, end = int(starts[source - 1]), int(starts[source])
            places |= {first + number - 1} if number else {*range(first, end)}
        return places

    def _parsed(self, id: str) -> tuple[int, int, int]:
        """Return the numbers in an id of the corpus, 0 where it has none."""
        match = _ID.fullmatch(id)
        source, number, sentence = (int(one or 0) for one in match.groups()) if match else (0, 0, 0)
        starts = self._pieces.starts
        known = 0 < source < len(starts) and number <= starts[source] - starts[source - 1]
        if known and sentence:
            row = int(self._pieces.row[starts[source - 1] + number - 1])
            known = sentence <= len(self._pieces.spans(row))
        if not known:
            raise InputError(f"the sources have no {id!r}; they are s1 to s{len(starts) - 1}")
        return source, number, sentence


def fused(ranks: Sequence[Sequence[int]]) -> list[int]:
    """Return rows by the sum of 1 / (RANK + rank), the greatest first; of equals, the first row."""
    sums: dict[int, float] = {}
    for rows in ranks:
        for rank, row in enumerate(rows, 1):
            sums[row] = sums.get(row, 0.0) + 1 / (RANK + rank)
    return sorted(sums, key=lambda row: (-sums[row], row))


def _top(scores: npt.NDArray[np.floating[Any]], count: int) -> list[int]:
    """Return the rows with the best scores above 0, the best first; of equals, the first."""
    rows = np.flatnonzero(scores > 0)
    if len(rows) > count:
        least = np.partition(scores[rows], -count)[-count]
        rows = rows[scores[rows] >= least]
    top: list[int] = rows[np.argsort(-scores[rows], kind="stable")][:count].tolist()
    return top


# The corpus on disk


class _Pieces:
    """The segments: their distinct texts one after another, and numbers that point into them.

    ``first`` and ``ends`` are by row, which is a distinct text; all else is by segment.
    """

    def __init__(self, texts: bytes | mmap, numbers: Mapping[str, npt.NDArray[Any]]) -> None:
        self._texts = texts
        self.starts = numbers["starts"]
        """By source, the place of its first segment, and the end of all."""
        self.row = numbers["row"]
        self.page = numbers["page"]
        self.heading = numbers["heading"]
        self.first = numbers["first"]
        """By row, the place of the first segment with its text."""
        self._ends = numbers["ends"]
        """By row, where its text ends, in bytes."""
        self._marks = numbers["marks"]
        """Where sentences begin and end in their text, in pairs."""
        self._last = numbers["last"]
        """By row, the end of its pairs among all of them."""
        self.headings: list[str | None] = json.loads(numbers["headings"].tobytes())
        self.languages: list[str] = json.loads(numbers["languages"].tobytes())
        """The languages in which its words are stemmed; none where they are not."""

    def text(self, row: int) -> str:
        """Return the text of a row."""
        start = int(self._ends[row - 1]) if row else 0
        return self._texts[start : int(self._ends[row])].decode()

    def spans(self, row: int) -> tuple[tuple[int, int], ...]:
        """Return the places of the sentences in the text of a row."""
        start = int(self._last[row - 1]) if row else 0
        return tuple((int(a), int(b)) for a, b in self._marks[start : int(self._last[row])])

    def alike(self, row: int) -> list[int]:
        """Return the places of the segments that have the text of a row, in order."""
        return self._more.get(row) or [int(self.first[row])]

    @cached_property
    def _more(self) -> dict[int, list[int]]:
        """Return the places by row, of texts that stand in several segments."""
        counts = np.bincount(self.row, minlength=len(self.first))
        several: dict[int, list[int]] = {}
        for at in np.flatnonzero(counts[self.row] > 1).tolist():
            several.setdefault(int(self.row[at]), []).append(at)
        return several


class _Rows(Sequence[Text]):
    """The distinct texts, each made when it is looked at."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces

    def __len__(self) -> int:
        return len(self._pieces.first)

    def __getitem__(self, row: Any) -> Any:
        if row >= len(self):
            raise IndexError(row)
        return Text(self._pieces.text(row), metadata={"number": row})


class _Words:
    """BM25 scores of all rows."""

    def __init__(self, bm25: bm25s.BM25 | None, size: int, languages: Sequence[str]) -> None:
        """Take an index of words stemmed in ``languages``; of words as they are, without any."""
        self._bm25, self._size, self._languages = bm25, size, languages

    def scores(self, query: str) -> npt.NDArray[np.floating[Any]]:
        """Return the score of each row; 0 where it shares no word with the query."""
        split = words(query)
        if self._languages:
            stems = (search_words(query, language) for language in self._languages)
            split = [*dict.fromkeys(chain.from_iterable(stems))]
        if self._bm25 is None or not split:
            return np.zeros(self._size, dtype=np.float32)
        scores: npt.NDArray[np.floating[Any]] = self._bm25.get_scores(split)
        return scores


_Parts: TypeAlias = tuple[_Pieces, _Words]
_NUMBERS = ("starts", "row", "page", "heading", "first", "ends", "marks", "last")


def _place(documents: Sequence[Document]) -> Path:
    """Return the folder that keeps the corpus of these documents."""
    hashed = blake2b(digest_size=16, key=readers())
    for document in documents:
        hashed.update(document.digest.encode())
    return cache_folder() / "corpora" / hashed.hexdigest()


def _prepared(place: Path, documents: Sequence[Document], progress: Progress) -> _Parts:
    """Load the corpus in ``place``, or make it of these documents and keep it there."""
    if place.is_dir():
        try:
            parts = _loaded(place)
            with suppress(OSError):
                os.utime(place)
            return parts
        except (OSError, ValueError, LookupError) as error:
            log.warning("the corpus in %s is damaged and made anew: %s", place, error)
            shutil.rmtree(place, ignore_errors=True)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_unused(place.parent)
        draft = Path(tempfile.mkdtemp(dir=place.parent))
    except OSError as error:
        log.warning("cannot keep the corpus in %s: %s", place.parent, error)
        return _made(documents, None, progress)
    try:
        made = _made(documents, draft, progress)
        draft.rename(place)
        return _loaded(place)
    except OSError as error:  # another process was first, or the disk is full
        log.warning("cannot keep the corpus in %s: %s", place, error)
        return _loaded(place) if place.is_dir() else made
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_unused(folder: Path) -> None:
    """Remove corpora that nobody used for long: each can be made again."""
    with suppress(OSError):
        for place in folder.iterdir():
            if clock.now().timestamp() - place.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(place, ignore_errors=True)


def _made(documents: Sequence[Document], folder: Path | None, progress: Progress) -> _Parts:
    """Cut and index documents; write what comes out into a folder, if there is one."""
    lists: dict[str, array[int]] = {name: array("q") for name in _NUMBERS}
    row, page, heading = lists["row"], lists["page"], lists["heading"]
    marks, starts = lists["marks"], lists["starts"]
    texts, rows, vocabulary = bytearray(), dict[bytes, int](), dict[str, int]()
    headings: dict[str | None, int] = {}
    split: list[array[int]] = []
    starts.append(0)
    # What earlier versions recorded is found as they found it.
    stemmed = all(document.version > 1 for document in documents)
    languages: set[str] = set()
    for done, document in enumerate(documents, 1):
        language = language_of(document.passages)
        languages.add(language)
        for piece, sentences in cut(document.passages, language, version=document.version):
            encoded = piece.text.encode()
            key = blake2b(encoded, digest_size=16).digest()
            if key not in rows:
                rows[key] = len(rows)
                lists["first"].append(len(row))
                texts += encoded
                lists["ends"].append(len(texts))
                marks.extend(chain.from_iterable(sentences))
                lists["last"].append(len(marks) // 2)
                text = f"{piece.heading or ''}\n{piece.text}"
                found = search_words(text, language) if stemmed else words(piece.text)
                ids = (vocabulary.setdefault(word, len(vocabulary)) for word in found)
                split.append(array("i", ids))
            row.append(rows[key])
            page.append(piece.page or 0)
            heading.append(headings.setdefault(piece.heading, len(headings)))
        starts.append(len(row))
        if len(row) > SEGMENTS:
            raise InputError(
                f"the sources have more than {SEGMENTS:,} segments: give fewer of them, or let an "
                "engine search them and name it by `retriever` (docs/sources.md)"
            )
        if progress is not None:
            progress(done, len(documents))
    numbers: dict[str, Any] = {name: np.array(one, dtype=np.int64) for name, one in lists.items()}
    numbers["marks"] = numbers["marks"].reshape(-1, 2)
    numbers["headings"] = np.frombuffer(json.dumps([*headings]).encode(), dtype=np.uint8)
    known = json.dumps(sorted(languages) if stemmed else []).encode()
    numbers["languages"] = np.frombuffer(known, dtype=np.uint8)
    bm25 = bm25s.BM25(backend="numpy") if vocabulary else None
    if bm25 is not None:
        bm25.index((split, vocabulary), show_progress=False)
    if folder is not None:
        (folder / "texts").write_bytes(texts)
        np.savez(folder / "numbers.npz", **numbers)
        if bm25 is not None:
            bm25.save(folder / "words")
    pieces = _Pieces(bytes(texts), numbers)
    return pieces, _Words(bm25, len(rows), pieces.languages)


def _loaded(place: Path) -> _Parts:
    """Map what was kept, so that only what is looked at is read."""
    with (place / "texts").open("rb") as file:
        texts = (
            mmap(file.fileno(), 0, access=ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
        )
    with np.load(place / "numbers.npz") as numbers:
        pieces = _Pieces(texts, dict(numbers))
    words_at = place / "words"
    bm25 = bm25s.BM25.load(words_at, mmap=True) if words_at.is_dir() else None
    return pieces, _Words(bm25, len(pieces.first), pieces.languages)
