"""Embeddings from an OpenAI-compatible endpoint, through the project's own clients.

The rules are those of the other calls: one attempt by the client, retries here, no proxy between
this machine and itself, and the errors of the family.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import aiohttp
import numpy as np
import openai

from dialectree import chance, clock
from dialectree.addresses import public, require_address, veiled
from dialectree.context import endpoint_from_environment
from dialectree.errors import KeyRefused, ModelUnavailable, RequestError, SettingsError, Unreachable
from dialectree.models.clients import clients
from dialectree.models.endpoints import CONNECT_S, UNREACHABLE_AFTER_S
from dialectree.models.specs import OPENAI, Spec, key
from dialectree.models.troubles import OPTIONAL, Garbled, Trouble, one_line, trouble
from dialectree.retrieval.vectors import Vectors

BATCH = 256
"""Texts of one request."""
AT_ONCE = 4
"""Requests under way at once."""
ATTEMPTS = 4
"""Failures of one request after which the endpoint counts as unavailable."""
LARGEST_ANSWER = 64 * 2**20
"""Bytes of one answer: the vectors of a batch take up to 30 MB."""
ANSWER_S = 60.0
"""Seconds for one answer."""
PATIENCE_S = 300.0
"""Seconds for which one request puts up with a rate limit."""


class RemoteEncoder:
    """The embedding model ``model`` at ``url``, else at the address of the OpenAI convention."""

    def __init__(self, model: str, url: str | None) -> None:
        self._spec = _spec(model, url)
        self.name = self._spec.address + (f"#{self._spec.mark}" if self._spec.mark else "")

    def load(self) -> None:
        """Nothing to load."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """A vector for each passage."""
        return asyncio.run(self._all(texts))

    queries = passages

    async def _all(self, texts: Sequence[str]) -> Vectors:
        slots = asyncio.Semaphore(AT_ONCE)
        batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        return np.concatenate(await asyncio.gather(*(self._embed(b, slots) for b in batches)))

    async def _embed(self, texts: Sequence[str], slots: asyncio.Semaphore) -> Vectors:
        began, failed = clock.seconds(), 0
        while True:
            try:
                async with slots, asyncio.timeout(ANSWER_S):
                    return _vectors(await self._send(texts), len(texts))
            except Garbled as error:
                raise RequestError(f"{self._spec.where} gives no embeddings: {error}") from error
            except (openai.OpenAIError, TimeoutError) as error:
                met = self._trouble(error)
                failed += met.kind != "wait"
                await clock.sleep(self._pause(met, failed, clock.seconds() - began))

    def _trouble(self, error: Exception) -> Trouble:
        if isinstance(error, openai.NotFoundError):
            where, text = self._spec.where, one_line(str(error))
            raise RequestError(
                f"{where} has no embeddings of {self._spec.name} (404): check --embeddings: {text}"
            ) from error
        return trouble(error, self._spec, OPTIONAL)

    def _pause(self, met: Trouble, failed: int, spent_s: float) -> float:
        """Seconds until the next attempt; raises when there is none."""
        where = self._spec.where
        if met.kind == "lost" and spent_s >= UNREACHABLE_AFTER_S:
            raise Unreachable(f"nobody answers at {where}: {met.text}")
        if met.kind in ("hopeless", "format", "parameter"):
            raise RequestError(met.text)
        if spent_s >= PATIENCE_S or (met.kind != "lost" and failed >= ATTEMPTS):
            raise ModelUnavailable(f"{where} gives no embeddings: {met.text}")
        if met.kind == "wait":
            return max(0.05, 1.0 if met.wait_s is None else met.wait_s)
        most = min(2.0, 0.25 * 2.0**failed)
        return max(met.wait_s or 0.0, most / 2 + chance.jitter(most / 2))

    async def _send(self, texts: Sequence[str]) -> Any:
        spec, sent = self._spec, key()
        if not sent and spec.url == OPENAI:
            raise KeyRefused(f"{OPENAI} needs a key: set OPENAI_API_KEY")
        assert spec.whole_url is not None
        line = (await clients()).line(spec.whole_url, sent or "none")
        body = {"model": spec.model, "input": list(texts), "encoding_format": "float"}
        patience = aiohttp.ClientTimeout(
            sock_read=ANSWER_S, sock_connect=CONNECT_S, connect=CONNECT_S
        )
        return await line.post("/embeddings", body, patience, LARGEST_ANSWER)


def _spec(model: str, url: str | None) -> Spec:
    whole = url or endpoint_from_environment()[1] or OPENAI
    try:
        require_address(whole)
    except ValueError as error:
        raise SettingsError(f"--embeddings: {error}, not {veiled(whole)!r}") from None
    return Spec("openai", model, public(whole), whole)


def _vectors(answer: Any, count: int) -> Vectors:
    """The vectors of an answer, in the order of the texts and of length 1."""
    try:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        vectors = vectors.reshape(len(rows), -1) if rows else np.zeros((0, 1), np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        usable = int(np.sum(np.isfinite(lengths) & (lengths > 0)))
    except (LookupError, TypeError, ValueError) as error:
        raise Garbled(one_line(f"{type(error).__name__} in {answer}", 120)) from error
    if usable != count or len(vectors) != count:
        raise Garbled(f"{count} texts were sent, {usable} usable vectors came back")
    normalised: Vectors = vectors / lengths
    return normalised
