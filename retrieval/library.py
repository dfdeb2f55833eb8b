"""A library of the papers that debates search.

Debates name a paper by its digest. All debates of a process share its index, whatever their
threads and event loops.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from pydantic import BaseModel

from dialectree.errors import DialectreeError, InputError
from dialectree.protocols.trust import WITH_KEY, Access
from dialectree.retrieval import segments as cutting
from dialectree.retrieval.embeddings import Embedder, embedder
from dialectree.retrieval.embeddings import Timing as Timing
from dialectree.retrieval.papers import Paper
from dialectree.retrieval.segments import Segment
from dialectree.system.addresses import whole
from dialectree.system.loop import Threads

BGE = "BAAI/bge-small-en-v1.5"
"""The default embeddings of a debate."""
LEXICAL = "bm25"
"""The name for words instead of vectors."""
SPARE = 8
"""Papers that stay indexed for the next debate when no debate uses them."""


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
        from langchain_core.documents import Document

        from dialectree.retrieval.index import VectorIndex, WordIndex

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
        self._index: VectorIndex | WordIndex | None = None
        if segments and by is None:
            self._index = WordIndex(segments, [segment.text for segment in original], amended)
        elif segments and by is not None:
            self._index = VectorIndex(list(segments.values()), by)

    async def search(self, queries: Sequence[str], count: int, timing: Timing) -> list[list[Hit]]:
        if self._index is None or not queries:
            return [[] for _ in queries]
        matches = await self._index.search(queries, count, timing)
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
    an ``openai:NAME`` without one, and ``access`` what is sent there. Raises SettingsError for a
    name that is no model, ModelUnavailable where the model cannot be had, InputError for an amended
    segment that the paper does not have.
    """
    by = await asyncio.to_thread(_embedder, embeddings, base_url, access)
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
    shelf = _shelves.get((paper, _embedder(embeddings, base_url, access)))
    if shelf is None:
        raise DialectreeError(f"no debate under way has the paper {paper}")
    return shelf


def _embedder(embeddings: str, base_url: str | None, access: Access) -> Embedder | None:
    if embeddings == LEXICAL:
        return None
    return embedder(whole(embeddings), base_url and whole(base_url), access)
