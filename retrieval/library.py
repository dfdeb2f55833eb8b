"""The door to evidence: papers are put on a shelf once, and whoever debates looks things up there.

One shelf a process for each paper and way of embedding, shared by all who debate at the moment,
whatever their threads and event loops. Queries asked side by side are embedded together.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from pydantic import BaseModel

from dialectree.addresses import public, whole
from dialectree.errors import DialectreeError, InputError
from dialectree.retrieval import segments as cutting
from dialectree.retrieval.embeddings import Embedder, embedder
from dialectree.retrieval.embeddings import Timing as Timing
from dialectree.retrieval.index import Index, VectorIndex
from dialectree.retrieval.lexical import LexicalIndex
from dialectree.retrieval.papers import Paper
from dialectree.retrieval.segments import Segment
from dialectree.threads import Threads

BGE = "BAAI/bge-small-en-v1.5"
"""The embeddings of a debate that names none."""
LEXICAL = "bm25"
"""What asks for words instead of vectors."""
KEPT = 4
"""Shelves that stay for who comes next, when nobody uses them."""


class Source(BaseModel, frozen=True):
    """A paper, and what a person changed in it."""

    paper: Paper
    amended: Mapping[int, str | None] = {}
    """By number of a segment, another text for it, or None where it is dropped."""

    @property
    def digest(self) -> str:
        """Names the paper as amended; the paper's own digest where nothing is."""
        if not self.amended:
            return self.paper.digest
        changes = repr((self.paper.digest, sorted(self.amended.items())))
        return hashlib.blake2b(changes.encode(), digest_size=16).hexdigest()

    def segments(self) -> tuple[list[Segment], dict[int, str | None]]:
        """The segments as they were, and by place among them what is said instead, or None.

        A segment that is given its own text is as it was. Raises InputError where the paper has no
        segment of an amended number.
        """
        found = cutting.segments(self.paper)
        if unknown := set(self.amended) - {segment.number for segment in found}:
            has = f"it has 1 to {len(found)}" if found else "it has none"
            raise InputError(f"{self.paper.name} has no segment {min(unknown)}: {has}")
        amended = self.amended
        return found, {
            place: amended[segment.number] or None
            for place, segment in enumerate(found)
            if amended.get(segment.number, segment.text) != segment.text
        }


class Hit(NamedTuple):
    """A segment that was found."""

    number: int
    text: str
    page: int | None
    offset: int
    heading: str | None
    score: float


_Key: TypeAlias = tuple[str, str, str | None]


@dataclass(frozen=True)
class _Stock:
    """What stands on a shelf."""

    segments: Sequence[Segment]
    index: Index | None
    """None where there is no segment."""
    spent: Timing

    @cached_property
    def texts(self) -> Mapping[int, str]:
        """What the segments say, by number."""
        return {segment.number: segment.text for segment in self.segments}


@dataclass(eq=False)
class _Shelf:
    """A shelf that is filled, or is being filled."""

    stock: Future[_Stock]
    users: int = 0

    def of_use(self) -> bool:
        return not self.stock.done() or self.stock.exception() is None

    async def filled(self) -> _Stock:
        """What stands here; whoever stops waiting for it does not stop it for others."""
        return await asyncio.shield(asyncio.wrap_future(self.stock))


_shelves: dict[_Key, _Shelf] = {}
"""Those that were taken last stand last."""
_lock = threading.Lock()
_lexical_thread = Threads(1, "shelving")


@asynccontextmanager
async def shelved(
    sources: Sequence[Source],
    embeddings: str = BGE,
    base_url: str | None = None,
    timing: Timing | None = None,
) -> AsyncIterator[None]:
    """Keep ``sources`` at hand: each is cut, embedded and indexed once, however many use it.

    ``embeddings`` names a model, ``openai:NAME@URL`` or ``bm25``; ``base_url`` is the address of
    an ``openai:NAME`` that gives none. ``timing`` is told what embedding took. Raises
    SettingsError for a model that is none, ModelUnavailable where it cannot be had, InputError for
    an amended segment that is not there.
    """
    by = None
    if embeddings != LEXICAL:
        by = await asyncio.to_thread(embedder, whole(embeddings), base_url and whole(base_url))
    taken: list[tuple[_Shelf, bool]] = []
    try:
        for source in sources:
            taken.append(_take(_key(source.digest, embeddings, base_url), source, by))
        for shelf, new in taken:
            stock = await shelf.filled()
            if new and timing is not None:
                timing.add(stock.spent)
        yield
    finally:
        for shelf, _ in taken:
            _leave(shelf)


async def find(
    paper: str,
    embeddings: str,
    queries: Sequence[str],
    count: int,
    base_url: str | None = None,
    timing: Timing | None = None,
) -> list[list[Hit]]:
    """For each query the ``count`` best segments of the source whose digest is ``paper``.

    Best first; of equals the one that stands first. ``bm25`` finds only segments that share a
    word with the query. The source must be shelved, by whomever.
    """
    shelf = _shelves.get(_key(paper, embeddings, base_url))
    if shelf is None or not shelf.users:
        raise DialectreeError(f"no paper {paper} is shelved for {public(embeddings)}")
    stock = await shelf.filled()
    if stock.index is None:
        return [[] for _ in queries]
    found = await stock.index.search(queries, count, timing or Timing())
    return [
        [_hit(stock.segments[match.row], match.score) for match in matches] for matches in found
    ]


def texts(
    paper: str, embeddings: str, numbers: Sequence[int], base_url: str | None = None
) -> dict[int, str]:
    """What the segments of these numbers say, as far as the source has them; it is shelved."""
    shelf = _shelves.get(_key(paper, embeddings, base_url))
    if shelf is None or not shelf.stock.done():
        raise DialectreeError(f"no paper {paper} is shelved for {public(embeddings)}")
    said = shelf.stock.result().texts
    return {number: said[number] for number in numbers if number in said}


def clear() -> None:
    """Give up the shelves that nobody uses, as at the start of a process."""
    with _lock:
        for key in [key for key, shelf in _shelves.items() if not shelf.users]:
            del _shelves[key]


def _hit(segment: Segment, score: float) -> Hit:
    return Hit(segment.number, segment.text, segment.page, segment.offset, segment.heading, score)


def _key(paper: str, embeddings: str, base_url: str | None) -> _Key:
    return paper, whole(embeddings), base_url and whole(base_url)


def _take(key: _Key, source: Source, by: Embedder | None) -> tuple[_Shelf, bool]:
    """The shelf for one more user, and whether it is a new one."""
    with _lock:
        shelf = _shelves.pop(key, None)
        new = shelf is None or not shelf.of_use()
        if shelf is None or new:
            thread = _lexical_thread if by is None else by.thread
            shelf = _Shelf(thread.submit(_fill, source, by))
        shelf.users += 1
        _shelves[key] = shelf
        return shelf, new


def _leave(shelf: _Shelf) -> None:
    """One user fewer; of the shelves without any, the last few stay."""
    with _lock:
        shelf.users -= 1
        idle = [key for key, other in _shelves.items() if not other.users]
        kept = [key for key in idle if _shelves[key].of_use()][-KEPT:]
        for key in set(idle) - set(kept):
            del _shelves[key]


def _fill(source: Source, by: Embedder | None) -> _Stock:
    """What a person changed is compared as the rest was before: no other segment moves for it."""
    found, amended = source.segments()
    texts = [segment.text for segment in found]
    said = {place: text for place, text in amended.items() if text is not None}
    kept = [place for place in range(len(found)) if place in said or place not in amended]
    segments = [
        found[place].model_copy(update={"text": said.get(place, texts[place])}) for place in kept
    ]
    if not segments:
        return _Stock(segments, None, Timing())
    if by is None:
        return _Stock(segments, LexicalIndex(texts, said, kept), Timing())
    made = by.passages(texts)
    vectors, spent = made.vectors.copy(), Timing()
    spent.add(made.spent)
    if said:
        anew = by.passages([*said.values()])
        spent.add(anew.spent)
        vectors[[*said]] = anew.vectors
    return _Stock(segments, VectorIndex(by, vectors[kept]), spent)
