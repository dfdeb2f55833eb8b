"""The papers of the debates that are under way, ready to be searched.

Debates name a paper by its digest. One shelf a process holds each paper for one way of embedding,
and all debates share it, whatever their threads and event loops.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from pydantic import BaseModel

from dialectree.addresses import public, whole
from dialectree.errors import DialectreeError, InputError
from dialectree.retrieval import segments as cutting
from dialectree.retrieval.embeddings import Embedder, embedder
from dialectree.retrieval.embeddings import Timing as Timing
from dialectree.retrieval.papers import Paper
from dialectree.retrieval.segments import Segment
from dialectree.threads import Threads

BGE = "BAAI/bge-small-en-v1.5"
"""The default embeddings of a debate."""
LEXICAL = "bm25"
"""The name for words instead of vectors."""
SPARE = 4
"""Shelves that stay for the next debate when no debate uses them."""


class Source(BaseModel, frozen=True):
    """A paper, and what a person changed in it."""

    paper: Paper
    amended: Mapping[int, str | None] = {}
    """By number of a segment, another text for it, or None where it is dropped."""

    @property
    def digest(self) -> str:
        """Name the paper as amended; the paper's own digest where nothing is."""
        if not self.amended:
            return self.paper.digest
        changes = repr((self.paper.digest, sorted(self.amended.items())))
        return hashlib.blake2b(changes.encode(), digest_size=16).hexdigest()

    def segments(self) -> tuple[list[Segment], dict[int, str | None]]:
        """Return the segments of the paper, and by place among them the new text, or None.

        A segment that is given its own text counts as unchanged. Raises InputError for an amended
        number that the paper does not have.
        """
        segments = cutting.segments(self.paper)
        if unknown := set(self.amended) - {segment.number for segment in segments}:
            has = f"it has 1 to {len(segments)}" if segments else "it has none"
            raise InputError(f"{self.paper.name} has no segment {min(unknown)}: {has}")
        return segments, {
            place: self.amended[segment.number] or None
            for place, segment in enumerate(segments)
            if self.amended.get(segment.number, segment.text) != segment.text
        }


class Hit(NamedTuple):
    """A segment that a query retrieved."""

    number: int
    text: str
    page: int | None
    offset: int
    heading: str | None
    score: float


class _Shelf:
    """The segments of one source, indexed."""

    def __init__(self, source: Source, by: Embedder | None) -> None:
        from langchain_core.documents import Document

        from dialectree.retrieval.index import Index, VectorIndex, WordIndex

        original, amended = source.segments()
        segments = {
            place: Document(
                page_content=amended.get(place) or segment.text,
                metadata=segment.model_dump(exclude={"text"}),
            )
            for place, segment in enumerate(original)
            if amended.get(place, "") is not None
        }
        self.texts = {one.metadata["number"]: one.page_content for one in segments.values()}
        self.index: Index | None = None
        if segments and by is None:
            self.index = WordIndex(segments, [segment.text for segment in original], amended)
        elif segments and by is not None:
            self.index = VectorIndex(list(segments.values()), by)

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[Hit]]:
        if self.index is None:
            return [[] for _ in queries]
        searches = (self.index.search(query, count, timing) for query in queries)
        return [
            [Hit(text=segment.page_content, **segment.metadata) for segment in segments]
            for segments in await asyncio.gather(*searches)
        ]


_Key: TypeAlias = tuple[str, str, str | None]

_shelves: MutableMapping[_Key, Future[_Shelf]] = WeakValueDictionary()
"""All shelves that a debate uses, and the spare ones."""
_spare: deque[Future[_Shelf]] = deque(maxlen=SPARE)
_lock = threading.Lock()
_thread = Threads(1, "shelving")


@asynccontextmanager
async def shelved(
    sources: Sequence[Source], embeddings: str = BGE, base_url: str | None = None
) -> AsyncIterator[None]:
    """Keep ``sources`` ready: each is cut, embedded and indexed once, however many use it.

    ``embeddings`` names a model, ``openai:NAME@URL`` or ``bm25``; ``base_url`` is the address of
    an ``openai:NAME`` without one. Raises SettingsError for a name that is no model,
    ModelUnavailable where the model cannot be had, InputError for an amended segment that the
    paper does not have.
    """
    by = None
    if embeddings != LEXICAL:
        by = await asyncio.to_thread(embedder, whole(embeddings), base_url and whole(base_url))
    # While this list exists, so do its shelves: the table of shelves refers to them weakly.
    shelves = [_take(_key(one.digest, embeddings, base_url), one, by) for one in sources]
    for shelf in shelves:
        await _filled(shelf)
    yield


async def find(
    paper: str,
    embeddings: str,
    queries: Sequence[str],
    count: int,
    base_url: str | None = None,
    timing: Timing | None = None,
) -> list[list[Hit]]:
    """Return for each query the ``count`` best segments of the source whose digest is ``paper``.

    The best stands first; of equals, the one that the paper has first. ``bm25`` finds only segments
    that share a word with the query. ``timing`` grows by what embedding the queries took.
    """
    shelf = await _filled(_shelf(paper, embeddings, base_url))
    return await shelf.search(queries, count, timing or Timing())


def texts(
    paper: str, embeddings: str, numbers: Sequence[int], base_url: str | None = None
) -> dict[int, str]:
    """Return the texts of the segments with these numbers, as far as the source has them."""
    known = _shelf(paper, embeddings, base_url).result(timeout=0).texts
    return {number: known[number] for number in numbers if number in known}


def clear() -> None:
    """Drop the shelves that no debate uses, as at the start of a process."""
    _spare.clear()


def _take(key: _Key, source: Source, by: Embedder | None) -> Future[_Shelf]:
    """Return the shelf of ``key``, and begin to fill it where there is none, or it failed."""
    with _lock:
        shelf = _shelves.get(key)
        if shelf is None or (shelf.done() and shelf.exception()):
            thread = _thread if by is None else by.thread
            shelf = _shelves[key] = thread.submit(_Shelf, source, by)
        if shelf in _spare:
            _spare.remove(shelf)
        _spare.append(shelf)
        return shelf


def _shelf(paper: str, embeddings: str, base_url: str | None) -> Future[_Shelf]:
    if (shelf := _shelves.get(_key(paper, embeddings, base_url))) is None:
        raise DialectreeError(f"no paper {paper} is shelved for {public(embeddings)}")
    return shelf


async def _filled(shelf: Future[_Shelf]) -> _Shelf:
    """Wait for a shelf; a caller that is cancelled does not stop it for others."""
    return await asyncio.shield(asyncio.wrap_future(shelf))


def _key(paper: str, embeddings: str, base_url: str | None) -> _Key:
    return paper, whole(embeddings), base_url and whole(base_url)
