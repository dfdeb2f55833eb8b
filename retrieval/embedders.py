"""Embedders: encoders under the names in settings, each with a cache and a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dialectree.errors import SettingsError
from dialectree.protocols.sources import endpoint_from_environment
from dialectree.protocols.trust import WITH_KEY, Access
from dialectree.system import clock
from dialectree.system.addresses import redact_passwords, require_spec
from dialectree.system.loop import Threads

if TYPE_CHECKING:
    from langchain_classic.embeddings import CacheBackedEmbeddings

    from dialectree.retrieval.encoders import Encoder, Vectors

BGE = "BAAI/bge-small-en-v1.5"
"""The default embeddings of a debate."""
LEXICAL = "bm25"
"""The name of a search by words, without vectors."""


@dataclass
class Timing:
    """The time that a caller spent on embedding."""

    seconds: float = 0.0


class Embedder:
    """An encoder with a cache and one thread for all heavy work."""

    def __init__(self, encoder: Encoder) -> None:
        self.thread = Threads(1, "embedder")
        self.name = encoder.name
        """The encoder's name, under which its vectors are cached."""
        self._encoder = encoder

    @property
    def folder(self) -> str:
        """Return the name of the folder that keeps the embedder's vectors."""
        from dialectree.retrieval.encoders import folder_of

        return folder_of(self._encoder)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each passage; call it in ``thread``."""
        import numpy as np

        size = self._encoder.batch or len(texts)
        parts = [texts[at : at + size] for at in range(0, len(texts), size)]
        return np.concatenate([self._encoder.encode(part, query=False) for part in parts])

    def passages(self) -> CacheBackedEmbeddings:
        """Return LangChain's embeddings of passages; call it in ``thread``."""
        return self._cache(query=False)

    async def queries(self, texts: Sequence[str], timing: Timing) -> list[list[float]]:
        """Embed queries in one batch; add the time that the model took to ``timing``."""

        def embed() -> list[list[float]]:
            began = clock.seconds()
            vectors = self._cache(query=True).embed_documents([*texts])
            timing.seconds += clock.seconds() - began
            return vectors

        return await asyncio.wrap_future(self.thread.submit(embed))

    def _cache(self, *, query: bool) -> CacheBackedEmbeddings:
        from dialectree.retrieval.encoders import cache_embeddings

        return cache_embeddings(self._encoder, query=query)


_lock = threading.Lock()


def embedder(name: str, base_url: str | None = None, access: Access = WITH_KEY) -> Embedder:
    """Return the process's embedder called ``name``. Checks files, but loads no model.

    ``name`` is a model of sentence-transformers (its Hub name, its folder, or the PyPI package that
    contains it) or ``openai:NAME@URL``. ``base_url`` is the address if ``openai:NAME`` has none, and
    ``access`` has the credentials for this address. Raises SettingsError for any other name.
    """
    with _lock:
        return _embedder(name, base_url or endpoint_from_environment()[1], access)


@cache
def _embedder(name: str, base_url: str | None, access: Access) -> Embedder:
    encoder = _encoder(name, base_url)
    if access != WITH_KEY:
        from dialectree.retrieval.encoders import RemoteEncoder

        assert isinstance(encoder, RemoteEncoder)  # only this kind has an address
        encoder.access = access
    return Embedder(encoder)


def _encoder(name: str, base_url: str | None) -> Encoder:
    from dialectree.retrieval.encoders import RemoteEncoder, SentenceEncoder

    if not name.startswith("openai:"):
        return SentenceEncoder(name)
    try:
        spec = require_spec(name)
    except ValueError as error:
        raise SettingsError(f"`embeddings`: {error}, not {redact_passwords(name)!r}") from None
    return RemoteEncoder(spec["model"], spec["url"] or base_url)
