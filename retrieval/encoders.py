"""Encoders: models that turn texts into vectors, local or behind an endpoint, and their cache."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import numpy.typing as npt
import openai
from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.storage import LocalFileStore
from langchain_core.embeddings import Embeddings
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from dialectree.errors import KeyRefused, ModelUnavailable, RequestError, SettingsError, Unreachable
from dialectree.models.error_mapping import describe_silence, map_error
from dialectree.models.specs import Spec
from dialectree.protocols.sources import cache_folder
from dialectree.protocols.trust import OPENAI, WITH_KEY, key
from dialectree.system.addresses import basic, is_loopback, public, redact_passwords, require_address
from dialectree.text import line

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings
    from sentence_transformers import SentenceTransformer

Model = TypeVar("Model")
Vectors: TypeAlias = npt.NDArray[np.float32]
"""Vectors of length 1, one per row."""

BGE_QUERY = "Represent this sentence for searching relevant passages: "
"""The text before a query in the training of English BGE models. The models' settings lack this text."""
PROBE_S = 8.0
"""Seconds in which the Hub must answer before a download."""

_BGE = re.compile(r"bge-(?:small|base|large)-en\b", re.IGNORECASE)
_HUB_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
RETRIES = 2
"""Retries of a request after a failure that may pass."""
CONNECT_S = 4.0
"""Seconds for connecting."""
ANSWER_S = 60.0
"""Seconds for one answer."""
PATIENCE_S = 300.0
"""Most seconds that one request waits at a rate limit."""


class SentenceEncoder:
    """A model of sentence-transformers; its first use loads it, which takes seconds."""

    batch = None

    def __init__(self, name: str) -> None:
        self._place = place_of(name)
        self.name = self._place.name
        self._model: SentenceTransformer | None = None

    def load(self) -> SentenceTransformer:
        """Load the model, once."""
        if self._model is None:
            from sentence_transformers import SentenceTransformer

            self._model = load(self._place, SentenceTransformer)
        return self._model

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return a vector for each text, encoded with the model's own instruction."""
        model = self.load()
        encode = model.encode_query if query else model.encode_document
        instruct = query and not model.prompts.get("query") and _BGE.search(self.name)
        vectors = encode(
            list(texts),
            prompt=BGE_QUERY if instruct else None,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


class ModelPlace(NamedTuple):
    """The place of a model, and its name in caches."""

    where: str
    name: str
    setting: str
    """The setting that names the model."""
    on_hub: bool = False


def place_of(name: str, setting: str = "embeddings") -> ModelPlace:
    """Return the place of a model: a folder, an installed package with a model, or a Hub name.

    Packages are never imported. Raises SettingsError for any other name.
    """
    folder = Path(name).expanduser().resolve()
    if name and any((folder / file).is_file() for file in ("modules.json", "config.json")):
        return ModelPlace(str(folder), f"{folder.name}@{_state(folder)}", setting)
    if not _HUB_NAME.fullmatch(name) or name.startswith("."):
        accepted_names = "a model of the Hub, its folder or package"
        accepted_names += ", openai:NAME@URL, or bm25" if setting == "embeddings" else ""
        raise SettingsError(f"`{setting}`: there is no model at {name!r}; give {accepted_names}")
    if "/" in name:
        return ModelPlace(name, name, setting, on_hub=True)
    return _find_packaged_model(name, setting) or place_of(_HOMES[setting] + name, setting)


_HOMES = {"embeddings": "sentence-transformers/", "rerank": "cross-encoder/"}
"""By setting, the owner on the Hub of a model whose name has no owner."""


def _find_packaged_model(name: str, setting: str) -> ModelPlace | None:
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    for file in package.files or ():
        if file.name == "modules.json":
            folder = Path(str(package.locate_file(file))).parent
            return ModelPlace(str(folder), f"{name}=={package.version}", setting)
    return None


def _state(folder: Path) -> str:
    """Return a text that changes with the files of the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = [(str(path.relative_to(folder)), path.stat()) for path in files]
    state = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return hashlib.blake2b(repr(state).encode(), digest_size=6).hexdigest()


def load(place: ModelPlace, kind: Callable[..., Model]) -> Model:
    """Load the model as a ``kind``. The network is used only if the model is not on this machine."""
    from transformers.utils import logging

    load = partial(kind, place.where, trust_remote_code=False)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return load(local_files_only=True)
    except Exception as error:
        if not (place.on_hub and isinstance(error, OSError)):
            raise _unusable(place, error) from error
    finally:
        logging.enable_progress_bar()  # type: ignore[no-untyped-call]
    _require_hub(place)
    try:
        return load(local_files_only=False)
    except OSError as error:
        raise _missing(place, f"the download failed: {line(str(error), 300)}") from error
    except Exception as error:
        raise _unusable(place, error) from error


def _unusable(place: ModelPlace, error: Exception) -> SettingsError:
    name = place.where
    if "trust_remote_code" in str(error):
        return SettingsError(f"{name} needs code of its own, which is never run; choose another")
    problem = f"no {_KINDS[place.setting]} that can be used"
    return SettingsError(f"{name} is {problem}: {line(str(error), 300)}")


_KINDS = {"embeddings": "embedding model", "rerank": "cross-encoder"}


def _require_hub(place: ModelPlace) -> None:
    """Raise ModelUnavailable unless the Hub answers in time, SettingsError for an unknown model.

    The Hub's own client would try for a minute.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        HfApi().model_info(place.name, timeout=PROBE_S)
    except (RepositoryNotFoundError, HFValidationError) as error:
        problem = f"the Hub has no public model {place.name}"
        raise SettingsError(f"`{place.setting}`: {problem}") from error
    except Exception as error:
        raise _missing(place, f"the Hub does not answer ({line(str(error), 300)})") from error


def _missing(place: ModelPlace, why: str) -> ModelUnavailable:
    alternative = "leave `rerank` out"
    if place.setting == "embeddings":
        alternative = "use `embeddings` bm25 or `embeddings` openai:NAME@URL"
    return ModelUnavailable(
        f"the {_KINDS[place.setting]} {place.name} is not available: {why}; download it on a "
        f"machine with a network (hf download {place.name}), or {alternative}"
    )


class RemoteEncoder:
    """The embedding model ``model`` at ``url``, by default at OpenAI."""

    batch = 256

    access = WITH_KEY
    """The credentials for the address."""

    def __init__(self, model: str, url: str | None) -> None:
        url = url or OPENAI
        try:
            require_address(url)
        except ValueError as error:
            raise SettingsError(f"`embeddings`: {error}, not {redact_passwords(url)!r}") from None
        self._url = url
        self._spec = Spec("openai", model, public(url), url)
        self._instruction = BGE_QUERY if _BGE.search(model) else ""
        # A cache under the plain name may have vectors of queries without the instruction.
        instructed = "instructed" if self._instruction else ""
        self.name = "#".join(filter(None, [self._spec.address, self._spec.mark, instructed]))

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return a vector for each text. Waits at a rate limit, and retries if a failure may pass.

        A query is sent with the model's own instruction.
        """
        if self.access.refusal:
            raise SettingsError(self.access.refusal)
        inputs = [self._instruction + text if query else text for text in texts]
        patient = Retrying(
            retry=retry_if_exception(_is_limited),
            wait=wait_exponential(max=30),
            stop=stop_after_delay(PATIENCE_S),
            reraise=True,
        )
        try:
            return patient(lambda: _normalise_vectors(self._client().embed_documents(inputs), len(inputs)))
        except openai.APIError as error:
            call_spec = replace(self._spec, keyless=self.access.keyless)
            fault = map_error(error, call_spec)
            if fault.kind == "lost":
                raise Unreachable(describe_silence(self._spec, fault.text)) from error
            passing = fault.kind in ("again", "late", "wait", "down", "broken")
            failure = ModelUnavailable if passing else RequestError
            raise failure(f"{self._spec.where} gives no embeddings: {fault.text}") from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise RequestError(f"{self._spec.where} gives no embeddings: {error}") from error

    def _client(self) -> OpenAIEmbeddings:
        secret = None if self.access.keyless else key()
        if not secret and self._url == OPENAI:
            raise KeyRefused(f"{OPENAI} needs a key: set OPENAI_API_KEY")
        return _client(self._spec.model, self._url, secret or "none")


@lru_cache(maxsize=8)
def _client(model: str, url: str, secret: str) -> OpenAIEmbeddings:
    """Connect to ``url``, which may contain a user, a password and a query."""
    from langchain_openai import OpenAIEmbeddings

    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    headers = {"Connection": "close"}  # no later step closes it
    if token := basic(url):
        headers["Authorization"] = f"Basic {token}"
    settings: dict[str, Any] = {
        "model": model,
        "base_url": f"{parts.scheme}://{place}{parts.path}",
        "api_key": secret,
        "openai_api_type": None,
        "openai_proxy": None,
        "default_headers": headers,
        "default_query": dict(parse_qsl(parts.query)) or None,
        # Requests to this machine itself use no proxy.
        "http_client": openai.DefaultHttpxClient(trust_env=not is_loopback(url)),
        "timeout": openai.Timeout(ANSWER_S, connect=CONNECT_S),
        "max_retries": RETRIES,
        "chunk_size": RemoteEncoder.batch,
        "check_embedding_ctx_length": False,  # else it sends tokens, which few endpoints read
        "model_kwargs": {"encoding_format": "float"},
    }
    return OpenAIEmbeddings(**settings)


def _is_limited(error: BaseException) -> bool:
    return isinstance(error, openai.RateLimitError) and error.code != "insufficient_quota"


def _normalise_vectors(rows: list[list[float]], count: int) -> Vectors:
    vectors = np.array(rows, dtype=np.float32).reshape(len(rows), -1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = int(np.sum(np.isfinite(lengths) & (lengths > 0)))
    if not count == usable == len(rows):
        raise ValueError(f"{count} texts were sent, {usable} usable vectors came back")
    normalised: Vectors = vectors / lengths
    return normalised


log = logging.getLogger(__name__)

Encoder: TypeAlias = "SentenceEncoder | RemoteEncoder"
"""A model that turns texts into vectors of length 1; its calls block while it works.

``name`` names the model in caches. ``batch`` is the number of texts to encode and cache at a time; None
stands for all texts.
"""


def folder_of(encoder: Encoder) -> str:
    """Return the name of the folder that keeps the vectors of an encoder."""
    readable = re.sub(r"[^\w.-]+", "_", encoder.name)[:60]
    return f"{readable}-{blake2b(encoder.name.encode(), digest_size=4).hexdigest()}"


def cache_embeddings(encoder: Encoder, *, query: bool) -> CacheBackedEmbeddings:
    """Return ``encoder`` as LangChain's embeddings of queries or of passages, behind its cache."""
    files = _Files(
        cache_folder() / "vectors" / folder_of(encoder) / ("queries" if query else "passages"),
        chmod_file=0o600,
        chmod_dir=0o700,
    )
    return CacheBackedEmbeddings.from_bytes_store(
        _EncoderEmbeddings(encoder, query), files, batch_size=encoder.batch, key_encoder="blake2b"
    )


class _EncoderEmbeddings(Embeddings):
    """An encoder as LangChain's embeddings."""

    def __init__(self, encoder: Encoder, query: bool) -> None:
        self._encoder, self._query = encoder, query

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self._encoder.encode(texts, query=self._query).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class _Files(LocalFileStore):
    """Files in a folder. A folder that cannot be read or written costs time, but ends no debate."""

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the vectors in the files; None for a file that is missing or damaged."""
        try:
            return [text if text and text.endswith(b"]") else None for text in super().mget(keys)]
        except OSError:
            return [None] * len(keys)

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        try:
            super().mset(key_value_pairs)
        except OSError as error:
            log.warning("cannot cache vectors in %s: %s", self.root_path, error)
