"""A cache of vectors on disk, so that no text is embedded twice by one model."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from hashlib import blake2b

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.storage import LocalFileStore
from langchain_core.embeddings import Embeddings

from dialectree.protocols.sources import cache_folder
from dialectree.retrieval.encoders import Encoder

log = logging.getLogger(__name__)


def cached(encoder: Encoder, *, query: bool) -> CacheBackedEmbeddings:
    """Return ``encoder`` as LangChain's embeddings of queries or of passages, behind its cache."""
    readable = re.sub(r"[^\w.-]+", "_", encoder.name)[:60]
    digest = blake2b(encoder.name.encode(), digest_size=4).hexdigest()
    files = _Files(
        cache_folder() / "vectors" / f"{readable}-{digest}" / ("queries" if query else "passages"),
        chmod_file=0o600,
        chmod_dir=0o700,
    )
    return CacheBackedEmbeddings.from_bytes_store(
        _Encoded(encoder, query), files, batch_size=encoder.batch, key_encoder="blake2b"
    )


class _Encoded(Embeddings):
    """An encoder as LangChain's embeddings."""

    def __init__(self, encoder: Encoder, query: bool) -> None:
        self._encoder, self._query = encoder, query

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self._encoder.encode(texts, query=self._query).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class _Files(LocalFileStore):
    """Files in a folder. A folder that cannot be read or written costs time, never a debate."""

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the lists of numbers in the files; None for a file that is missing or torn."""
        try:
            return [text if text and text.endswith(b"]") else None for text in super().mget(keys)]
        except OSError:
            return [None] * len(keys)

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        try:
            super().mset(key_value_pairs)
        except OSError as error:
            log.warning("cannot cache vectors in %s: %s", self.root_path, error)
