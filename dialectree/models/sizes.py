"""Tell how large a model is: a file by its header, a local server by asking it."""

from __future__ import annotations

import asyncio
import re
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx2
from pydantic import BaseModel, Field, ValidationError

from dialectree.models import embedded
from dialectree.models.bounds import Oversized, bounded
from dialectree.models.gguf import read_header
from dialectree.models.local_servers import KINDS, ListedModel, ModelList
from dialectree.models.specs import Spec
from dialectree.protocols.trust import key
from dialectree.system.addresses import is_loopback

TIMEOUT_S = 1.0
"""Seconds in which a server has to tell the size of its model."""

AT_CHANCE_BELOW = 10**9
"""Parameters below which a model answers at chance."""

_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_asking = threading.Lock()


class _Meta(BaseModel):
    n_params: int


class _Details(BaseModel):
    parameter_size: str = ""


class _ModelInfo(BaseModel):
    parameter_count: int = Field(0, alias="general.parameter_count")


class _Shown(BaseModel):
    """What Ollama shows of a model."""

    details: _Details = _Details()
    model_info: _ModelInfo | None = None


class _Instance(BaseModel):
    id: str


class _Stored(BaseModel):
    key: str
    params_string: str | None = None
    loaded_instances: list[_Instance] = []


class _Stock(BaseModel):
    """The models that LM Studio has."""

    models: list[_Stored]


def file_parameters(file: Path) -> int | None:
    """Return the number of parameters of a GGUF file; None where its header does not tell it."""
    try:
        return read_header(file).parameters
    except (OSError, ValueError):
        return None


async def parameters(spec: Spec) -> int | None:
    """Return the number of parameters of a model, or None where nobody tells it.

    A ``local:`` model is looked up in its file. Of other models only those of a server at a
    loopback address are asked for, once in a process; nothing is sent to any other address.
    """
    if spec.provider == "local":
        return await asyncio.to_thread(local_parameters, spec.model)
    if spec.provider == "openai" and spec.whole_url and is_loopback(spec.whole_url):
        secret = None if spec.keyless else key()
        return await asyncio.to_thread(_told_once, spec.whole_url, secret or "", spec.model)
    return None


def local_parameters(model: str) -> int | None:
    """Return the number of parameters of ``smollm2`` or of a .gguf file; None if it is unknown."""
    if embedded.is_demonstration(model):
        return embedded.PARAMETERS
    return file_parameters(Path(model).expanduser())


def at_chance(spec: Spec) -> bool:
    """Return whether the answers of a ``local:`` model are no better than chance.

    Terminal, records and reports must say so. This may read the header of the model's file.
    """
    if spec.provider != "local":
        return False
    size = local_parameters(spec.model)
    return size is not None and size < AT_CHANCE_BELOW


def _told_once(url: str, secret: str, model: str) -> int | None:
    """Ask a server once, however many threads want to know."""
    with _asking:
        return _told(url, secret, model)


@lru_cache(maxsize=256)
def _told(url: str, secret: str, model: str) -> int | None:
    return asyncio.run(_ask(url, secret, model))


async def _ask(url: str, secret: str, model: str) -> int | None:
    from dialectree.models.clients import HttpClient

    try:
        async with HttpClient(url, secret) as client:
            with bounded():
                async with asyncio.timeout(TIMEOUT_S):
                    return await _answer(client, model)
    except (httpx2.HTTPError, TimeoutError, ValidationError, Oversized):
        return None


async def _answer(client: Any, model: str) -> int | None:
    """Return what the server of ``client`` tells, each program in its own way; see the tests."""
    address = client.address.rstrip("/")
    root = address.removesuffix("/v1")
    response = await client.get(f"{address}/models", follow_redirects=False)
    listed = _listed(ModelList.model_validate_json(response.content).data or [], model)
    if listed is None:
        return None
    if listed.meta is not None:
        return _Meta.model_validate(listed.meta).n_params
    kind = KINDS.get(listed.owned_by)
    if kind == "LM Studio":
        response = await client.get(f"{root}/api/v1/models", follow_redirects=False)
        for stored in _Stock.model_validate_json(response.content).models:
            if model in (stored.key, *(instance.id for instance in stored.loaded_instances)):
                return _count(stored.params_string or "")
    elif kind != "vLLM":  # models of Ollama that are not from its library have other owners
        response = await client.post(
            f"{root}/api/show", json={"model": model}, follow_redirects=False
        )
        shown = _Shown.model_validate_json(response.content)
        told = shown.model_info.parameter_count if shown.model_info else 0
        return told or _count(shown.details.parameter_size)
    return None


def _listed(models: list[ListedModel], name: str) -> ListedModel | None:
    """Return the model that answers to ``name``; llama.cpp's only one answers to any."""
    if len(models) == 1 and models[0].meta is not None:
        return models[0]
    return next((model for model in models if model.id in (name, f"{name}:latest")), None)


def _count(text: str) -> int | None:
    """Return the number that ``134.5M`` or ``7B`` stands for, or None."""
    size = re.fullmatch(r"(\d+(?:\.\d+)?)([KMBT])", text)
    return round(float(size[1]) * _UNITS[size[2]]) if size else None
