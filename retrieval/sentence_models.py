"""Models of sentence-transformers, from the Hub's cache, a folder, or an installed package."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.retrieval.embeddings import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BGE_QUERY = "Represent this sentence for searching relevant passages: "
"""The text that English BGE models were trained to see before a query; their settings lack it."""
PROBE_S = 8.0
"""Seconds for the Hub to answer before a download is tried."""

_BGE = re.compile(r"bge-(?:small|base|large)-en\b", re.IGNORECASE)
_HUB_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


class SentenceEncoder:
    """One model of sentence-transformers; loaded at first use, which takes seconds."""

    batch = None

    def __init__(self, name: str) -> None:
        self._place = _place(name)
        self.name = self._place.name
        self._model: SentenceTransformer | None = None

    def load(self) -> SentenceTransformer:
        """Load the model, once."""
        if self._model is None:
            self._model = _load(self._place)
        return self._model

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return a vector for each text, encoded with the instruction of the model's training."""
        model = self.load()
        encode = model.encode_query if query else model.encode_document
        instruct = query and not model.prompts.get("query") and _is_bge(self._place)
        vectors = encode(
            list(texts),
            prompt=BGE_QUERY if instruct else None,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


class _Place(NamedTuple):
    """Where a model is, and its name in caches."""

    where: str
    name: str
    on_hub: bool = False


def _place(name: str) -> _Place:
    """Find a folder, an installed package that carries a model, or else a name of the Hub.

    Packages are never imported. Raises SettingsError for a name that can be none of them.
    """
    folder = Path(name).expanduser().resolve()
    if name and any((folder / file).is_file() for file in ("modules.json", "config.json")):
        return _Place(str(folder), f"{folder.name}@{_state(folder)}")
    if not _HUB_NAME.fullmatch(name) or name.startswith("."):
        known = "a model of the Hub, its folder or package, openai:NAME@URL, or bm25"
        raise SettingsError(f"--embeddings: there is no model at {name!r}; give {known}")
    if "/" in name:
        return _Place(name, name, on_hub=True)
    return _packaged(name) or _place(f"sentence-transformers/{name}")


def _is_bge(place: _Place) -> bool:
    """Know an English BGE model by its name, or by the name in the settings of its folder."""
    names = place.name
    with suppress(OSError):
        names += (Path(place.where) / "config.json").read_text("utf-8", errors="replace")
    return _BGE.search(names) is not None


def _packaged(name: str) -> _Place | None:
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    for file in package.files or ():
        if file.name == "modules.json":
            folder = Path(str(package.locate_file(file))).parent
            return _Place(str(folder), f"{name}=={package.version}")
    return None


def _state(folder: Path) -> str:
    """Return a text that changes when a file of the folder does."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = [(str(path.relative_to(folder)), path.stat()) for path in files]
    state = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return hashlib.blake2b(repr(state).encode(), digest_size=6).hexdigest()


def _load(place: _Place) -> SentenceTransformer:
    """Load the model, without the network where it is on this machine."""
    try:
        return _open(place.where, local=True)
    except Exception as error:
        if not (place.on_hub and isinstance(error, OSError)):
            raise _unusable(place.where, error) from error
    _require_hub(place.name)
    try:
        return _open(place.where, local=False)
    except OSError as error:
        raise _missing(place.name, f"the download failed: {_line(error)}") from error
    except Exception as error:
        raise _unusable(place.where, error) from error


def _open(where: str, *, local: bool) -> SentenceTransformer:
    """Open the model. Shows the progress of a download, but not that of reading the weights."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    visible = logging.is_progress_bar_enabled()
    if local:
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(where, local_files_only=local, trust_remote_code=False)
    finally:
        if visible:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _unusable(name: str, error: Exception) -> SettingsError:
    if "trust_remote_code" in str(error):
        return SettingsError(f"{name} brings code of its own, which is never run; choose another")
    return SettingsError(f"{name} is no embedding model that can be used: {_line(error)}")


def _require_hub(name: str) -> None:
    """Raise ModelUnavailable unless the Hub answers soon, SettingsError for an unknown model.

    The Hub's own client would try for a minute.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    if HF_HUB_OFFLINE:
        raise _missing(name, "HF_HUB_OFFLINE is set, and it is not in the cache")
    try:
        HfApi().model_info(name, timeout=PROBE_S)
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise SettingsError(f"--embeddings: the Hub has no model {name} for everybody") from error
    except Exception as error:
        raise _missing(name, f"the Hub does not answer ({_line(error)})") from error


def _missing(name: str, why: str) -> ModelUnavailable:
    installed = {str(package.name) for package in metadata.distributions() if package.name}
    packaged = sorted(filter(_packaged, installed))
    others = " or --embeddings ".join(["bm25", "openai:NAME@URL", *packaged])
    return ModelUnavailable(
        f"the embedding model {name} cannot be had: {why}; fetch it on a machine with a network "
        f"(hf download {name}), or use --embeddings {others}"
    )


def _line(error: BaseException) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 200 else words[:199] + "…"
