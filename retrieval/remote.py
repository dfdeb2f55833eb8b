"""Embeddings from an OpenAI-compatible endpoint, by LangChain's OpenAIEmbeddings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import openai

from dialectree.addresses import basic, mark, public, require_address, secrets, veiled
from dialectree.errors import (
    DialectreeError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    SettingsError,
    Unreachable,
)
from dialectree.models.specs import OPENAI, key
from dialectree.retrieval.embeddings import Vectors

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings

ATTEMPTS = 3
"""Failures of one request after which the endpoint counts as unavailable."""
PASSING = (0, 408, 409, 425, *range(500, 600))
"""Status codes of failures that may pass; 0 is no answer at all."""
CONNECT_S = 4.0
"""Seconds for a connection to come about."""
ANSWER_S = 60.0
"""Seconds for one answer."""
PATIENCE_S = 300.0
"""Seconds that one request waits at a rate limit."""


class RemoteEncoder:
    """The embedding model ``model`` at ``url``, or at OpenAI's own address."""

    batch = 256

    def __init__(self, model: str, url: str | None) -> None:
        self._model = model
        self._url = url or OPENAI
        try:
            require_address(self._url)
        except ValueError as error:
            raise SettingsError(f"--embeddings: {error}, not {veiled(self._url)!r}") from None
        self._where = public(self._url)
        way = mark(self._url)
        self.name = f"openai:{model}@{self._where}" + (f"#{way}" if way else "")

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return a vector for each text. Waits at a rate limit, and retries passing failures."""
        failures, waited = 0, 0.0
        while True:
            try:
                return _normalised(self._client().embed_documents(list(texts)), len(texts))
            except openai.APIError as error:
                limited = _status(error) == 429 and error.code != "insufficient_quota"
                failures += not limited
                pause = _retry_after(error) if limited else float(failures)
                waited += pause
                passing = limited or (_status(error) in PASSING and failures < ATTEMPTS)
                if not passing or waited > PATIENCE_S:
                    raise self._failure(error) from error
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise RequestError(f"{self._where} gives no embeddings: {error}") from error
            sleep(pause)

    def _client(self) -> OpenAIEmbeddings:
        secret = key()
        if not secret and self._url == OPENAI:
            raise KeyRefused(f"{OPENAI} needs a key: set OPENAI_API_KEY")
        return _client(self._model, self._url, secret or "none")

    def _failure(self, error: openai.APIError) -> DialectreeError:
        where, status = self._where, _status(error)
        text = " ".join(str(error.__cause__ or error.message).split())
        for secret in secrets(self._url, key() or ""):
            text = text.replace(secret, "***")
        text = text[:300]
        if isinstance(error, openai.APIConnectionError):
            return Unreachable(f"nobody answers at {where}: {text}")
        if status in (401, 403):
            hint = "set OPENAI_API_KEY to one that it accepts"
            return KeyRefused(f"{where} refuses the key ({status}): {hint}: {text}")
        if status == 404:
            what = f"has no embeddings of openai:{self._model} (404): check --embeddings"
            return RequestError(f"{where} {what}: {text}")
        if status in (402, 429, *PASSING):
            return ModelUnavailable(f"{where} gives no embeddings: status {status}: {text}")
        return RequestError(f"{where} refuses to embed the texts ({status}): {text}")


@lru_cache(maxsize=8)
def _client(model: str, url: str, secret: str) -> OpenAIEmbeddings:
    """Connect to ``url``, which may hold a user, a password and a query."""
    from langchain_openai import OpenAIEmbeddings

    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    headers = {"Connection": "close"}  # nobody is there to close it later
    if token := basic(url):
        headers["Authorization"] = f"Basic {token}"
    loopback = parts.hostname in ("localhost", "127.0.0.1", "::1")
    settings: dict[str, Any] = {
        "model": model,
        "base_url": f"{parts.scheme}://{place}{parts.path}",
        "api_key": secret,
        "openai_api_type": None,
        "openai_proxy": None,
        "default_headers": headers,
        "default_query": dict(parse_qsl(parts.query)) or None,
        "http_client": openai.DefaultHttpxClient(trust_env=not loopback),  # no proxy before it
        "timeout": openai.Timeout(ANSWER_S, connect=CONNECT_S),
        "max_retries": 0,
        "chunk_size": RemoteEncoder.batch,
        "check_embedding_ctx_length": False,  # else it sends tokens, which few endpoints read
        "model_kwargs": {"encoding_format": "float"},
    }
    return OpenAIEmbeddings(**settings)


def _status(error: openai.APIError) -> int:
    """Return the status of the answer; 0 where none came."""
    return error.status_code if isinstance(error, openai.APIStatusError) else 0


def _retry_after(error: openai.APIError) -> float:
    """Return the seconds that the endpoint asks to wait; 1 where it asks for none."""
    assert isinstance(error, openai.APIStatusError)
    try:
        return max(0.1, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return 1.0


def _normalised(rows: list[list[float]], count: int) -> Vectors:
    vectors = np.array(rows, dtype=np.float32).reshape(len(rows), -1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = int(np.sum(np.isfinite(lengths) & (lengths > 0)))
    if not count == usable == len(rows):
        raise ValueError(f"{count} texts were sent, {usable} usable vectors came back")
    normalised: Vectors = vectors / lengths
    return normalised
