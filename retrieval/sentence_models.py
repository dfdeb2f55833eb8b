"""Models of sentence-transformers, from the Hub's cache, a folder, or an installed package."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.retrieval.vectors import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BGE_QUERY = "Represent this sentence for searching relevant passages: "
"""What the English BGE models were trained to see before a query; their own settings lack it."""
BATCH = 32
PROBE_S = 8.0
"""Seconds for the Hub to answer before a download is tried."""

_BGE = re.compile(r"bge-(?:small|base|large)-en\b", re.IGNORECASE)
_HUB_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


class SentenceEncoder:
    """One model of sentence-transformers; loaded when it is first needed, which takes seconds."""

    def __init__(self, name: str) -> None:
        self._place = _place(name)
        self.name = self._place.name
        self._model: SentenceTransformer | None = None
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the model, once."""
        with self._lock:
            if self._model is None:
                self._model = _load(self._place)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """A vector for each passage; with the model's own prompt for passages, where it has one."""
        return self._encode(texts, query=False)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """A vector for each query, behind the instruction that the model was trained with."""
        return self._encode(texts, query=True)

    def _encode(self, texts: Sequence[str], query: bool) -> Vectors:
        self.load()
        assert self._model is not None
        encode = self._model.encode_query if query else self._model.encode_document
        vectors = encode(
            list(texts),
            prompt=self._instruction() if query else None,
            batch_size=BATCH,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def _instruction(self) -> str | None:
        """What the model's own settings fail to say; None leaves it to them."""
        assert self._model is not None
        own = self._model.prompts.get("query")
        return BGE_QUERY if not own and _is_bge(self._place) else None


class _Place(NamedTuple):
    """Where a model is, and what names it in caches."""

    where: str
    name: str
    on_hub: bool = False


def _place(name: str) -> _Place:
    """A folder, an installed package that carries a model, or else a name of the Hub.

    The package is looked at, never imported. Raises SettingsError for what can be none of them.
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
    """By its own name, else by what the files of its folder say that it is or was made of."""
    folder = Path(place.where)
    found = _BGE.search(place.name)
    if not (found or place.on_hub):
        card = re.match(r"---\n.*?\n---\n", _text(folder / "README.md"), re.DOTALL)
        origin = re.search(r'"_name_or_path":.*', _text(folder / "config.json"))
        found = _BGE.search(" ".join(told[0] for told in (card, origin) if told))
    return found is not None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _packaged(name: str) -> _Place | None:
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    found = [file for file in package.files or () if file.name == "modules.json"]
    if not found:
        return None
    folder = Path(str(package.locate_file(found[0]))).parent
    return _Place(str(folder), f"{name}=={package.version}")


def _state(folder: Path) -> str:
    """Another text once a file of the folder changes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = [(str(path.relative_to(folder)), path.stat()) for path in files]
    known = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return hashlib.blake2b(repr(known).encode(), digest_size=6).hexdigest()


def _load(place: _Place) -> SentenceTransformer:
    """The model, without the network where it is there already."""
    try:
        return _open(place.where, at_hand=True)
    except Exception as error:
        if not (place.on_hub and isinstance(error, OSError)):
            raise _unusable(place.where, error) from error
    _require_hub(place.name)
    try:
        return _open(place.where, at_hand=False)
    except OSError as error:
        raise _missing(place.name, f"the download failed: {_line(error)}") from error
    except Exception as error:
        raise _unusable(place.where, error) from error


def _open(where: str, at_hand: bool) -> SentenceTransformer:
    """Opened with the bar of a download, where there is one, but without that of the weights."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    shows = logging.is_progress_bar_enabled()
    if at_hand:
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(where, local_files_only=at_hand, trust_remote_code=False)
    finally:
        if shows:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _unusable(name: str, error: Exception) -> SettingsError:
    if "trust_remote_code" in str(error):
        return SettingsError(f"{name} brings code of its own, which is never run; choose another")
    return SettingsError(f"{name} is no embedding model that can be used: {_line(error)}")


def _require_hub(name: str) -> None:
    """ModelUnavailable unless the Hub answers soon; SettingsError where it knows no such model.

    The Hub's own client would try again for a minute.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    if HF_HUB_OFFLINE:
        raise _missing(name, "HF_HUB_OFFLINE is set, and it is not in the cache")
    met: list[BaseException | None] = []

    def probe() -> None:
        try:
            HfApi().model_info(name, timeout=PROBE_S)
        except BaseException as error:
            met.append(error)
        else:
            met.append(None)

    thread = threading.Thread(target=probe, daemon=True, name="hub")
    thread.start()
    thread.join(PROBE_S)
    error = met[0] if met else TimeoutError(f"no answer within {PROBE_S:g} s")
    if isinstance(error, RepositoryNotFoundError | HFValidationError):
        raise SettingsError(f"--embeddings: the Hub has no model {name} for everybody") from error
    if error is not None:
        raise _missing(name, f"the Hub does not answer ({_line(error)})") from error


def _missing(name: str, why: str) -> ModelUnavailable:
    others = ["bm25", "openai:NAME@URL", *_installed()]
    return ModelUnavailable(
        f"the embedding model {name} cannot be had: {why}; fetch it on a machine with a network "
        f"(hf download {name}), or use --embeddings {' or --embeddings '.join(others)}"
    )


def _installed() -> list[str]:
    """The installed packages that carry a model."""
    named = {str(package.name) for package in metadata.distributions() if package.name}
    return sorted(name for name in named if _packaged(name))


def _line(error: BaseException) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 200 else words[:199] + "…"
