"""A small catalogue of models that can be fetched by name and then run as ``local:NAME``.

Each file is pinned by its SHA-256. Files are downloaded only on request.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter

from dialectree.protocols.sources import cache_folder


class CatalogueModel(BaseModel, frozen=True, extra="forbid"):
    """A model of the catalogue."""

    title: str
    licence: str
    parameters: int
    size: int
    """Size of the model's file in bytes."""
    memory_gb: float
    """Memory that the model took in our debates."""
    repository: str
    """The model's repository on the Hugging Face Hub."""
    revision: str
    file: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    hash: Literal["verified here", "stated by the hub, not downloaded here"]
    measured: str = "not measured"
    """Our measurements with the model."""


_CATALOGUE = TypeAdapter(dict[str, CatalogueModel])


@cache
def catalogue() -> Mapping[str, CatalogueModel]:
    """Return the models of the catalogue by name."""
    text = files("dialectree.embedded").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return _CATALOGUE.validate_python(tomllib.loads(text))


def models_folder() -> Path:
    """Return the folder that keeps fetched models; clearing the cache leaves it alone."""
    return cache_folder() / "models"


def locate_model(name: str) -> Path:
    """Return the path for the file of a model of the catalogue; the file may be missing."""
    model = catalogue()[name]
    return models_folder() / f"{model.sha256[:12]}-{model.file}"


def find_model(name: str) -> Path | None:
    """Return the fetched file of a model of the catalogue; None if it is missing or unknown."""
    file = locate_model(name) if name in catalogue() else None
    return file if file is not None and file.is_file() else None
