"""Fetch models of the catalogue, or copy a user's file of one; every file is checked by SHA-256."""

from __future__ import annotations

import errno
import os
import shutil
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from dialectree.embedded.catalogue import CatalogueModel, catalogue, find_model, locate_model, models_folder
from dialectree.errors import DiskFull, InputError, ModelUnavailable
from dialectree.system.packages import require
from dialectree.text import line, suggest_nearest

_BLOCK = 1 << 22


def choose_model(name: str) -> CatalogueModel:
    """Return a model of the catalogue; raise InputError with the known names for an unknown name."""
    model = catalogue().get(name)
    if model is None:
        suggestion, names = suggest_nearest(name, catalogue()) or ";", ", ".join(catalogue())
        raise InputError(f"no model {name!r:.100} in the catalogue{suggestion} it has {names}")
    return model


def fetch_model(name: str) -> Path:
    """Return the file of a model of the catalogue; fetch it from the Hub if it is missing.

    An interrupted fetch continues. Raises InputError for an unknown name, and if the fetched file is
    not the pinned one (it is deleted then); ModelUnavailable if the Hub cannot be reached; DiskFull
    if the disk is full; MissingPackage without the extra ``embedded``.
    """
    model = choose_model(name)
    if (file := find_model(name)) is not None:
        return file
    require("fetching a model", "dialectree[embedded]")
    parts = models_folder() / f".{name}.part"
    try:
        parts.mkdir(0o700, parents=True, exist_ok=True)
        _require_room(model, parts)
        fetched = _download(model, parts)
        _require_pinned(name, fetched)
        os.replace(fetched, locate_model(name))
    except OSError as error:
        raise _describe(error, model) from error
    shutil.rmtree(parts, ignore_errors=True)
    return locate_model(name)


def take_model(name: str, file: Path) -> Path:
    """Copy ``file`` as the file of a model of the catalogue; return the copy.

    Raises InputError for an unknown name, or if ``file`` is not the pinned one; DiskFull if the disk
    is full.
    """
    model = choose_model(name)
    if not file.is_file():
        raise InputError(f"{file}: no such file; give the file of {model.file}")
    target = locate_model(name)
    try:
        _require_pinned(name, file, keep=True)
        target.parent.mkdir(0o700, parents=True, exist_ok=True)
        _require_room(model, target.parent)
        with TemporaryDirectory(dir=target.parent) as folder:
            os.replace(shutil.copyfile(file, Path(folder, target.name)), target)
    except OSError as error:
        raise _describe(error, model) from error
    return target


def remove_model(name: str) -> int:
    """Remove a model's file, even an incomplete one; return the bytes of a complete file, else 0.

    Raises InputError for a name that is not in the catalogue.
    """
    choose_model(name)
    file, size = locate_model(name), 0
    if file.is_file():
        size = file.stat().st_size
        file.unlink()
    shutil.rmtree(models_folder() / f".{name}.part", ignore_errors=True)
    return size


def _download(model: CatalogueModel, parts: Path) -> Path:
    """Fetch the file of a model into the folder ``parts``, continuing an interrupted fetch."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url = hf_hub_url(
        model.repository, model.file, revision=model.revision, endpoint=os.environ.get("HF_ENDPOINT") or None
    )
    path = parts / model.file
    with path.open("ab") as file:
        part_size = file.tell()
        if part_size >= model.size:  # whole, or another file: its hash decides
            return path
        try:
            http_get(
                url,
                file,
                resume_size=part_size,
                headers=build_hf_headers(),
                expected_size=model.size,
                displayed_filename=model.file,
            )
        except HfHubHTTPError as error:
            raise ModelUnavailable(
                f"the Hub gives no {model.file} of {model.repository}: {line(str(error), 200)}; "
                "take a file that you have: --from FILE"
            ) from error
        except Exception as error:  # each version of the Hub's client has another HTTP library
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ModelUnavailable(
                f"{model.file} was not fetched: {line(str(error) or type(error).__name__, 200)}; "
                "the same command goes on where it stopped; or take a file that you have: "
                "--from FILE"
            ) from error
    return path


def _require_room(model: CatalogueModel, folder: Path) -> None:
    """Raise DiskFull unless the missing part of a model's file fits into ``folder``."""
    part = folder / model.file
    part_size = part.stat().st_size if part.is_file() else 0
    free = shutil.disk_usage(folder).free
    if free + part_size < model.size:
        raise DiskFull(
            f"no room for {model.file}: it has {_gigabytes(model.size)}, and {folder} has "
            f"{_gigabytes(free)} free; free some, or point DIALECTREE_CACHE_DIR elsewhere"
        )


def _require_pinned(name: str, file: Path, *, keep: bool = False) -> None:
    """Raise InputError unless ``file`` is the pinned one; delete a wrong file unless ``keep``."""
    digest = sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() == choose_model(name).sha256:
        return
    if not keep:
        file.unlink()
    raise InputError(
        f"{file.name} is not the file that the catalogue names: its SHA-256 begins with "
        f"{digest.hexdigest()[:12]}, not with {choose_model(name).sha256[:12]}; nothing was kept"
    )


def _describe(error: OSError, model: CatalogueModel) -> DiskFull | InputError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"no room left for {model.file} ({_gigabytes(model.size)}): free some, or point "
            "DIALECTREE_CACHE_DIR elsewhere; the same command goes on where it stopped"
        )
    why = (error.strerror or str(error)).lower()
    return InputError(f"{error.filename or models_folder()}: {why}; check the folder")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
