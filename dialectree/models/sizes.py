"""Ask the model servers of this machine for their models, and tell how large a model is.

The size stands in the header of a model's file; a server is asked for it.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from pydantic import AliasPath, BaseModel, Field, ValidationError

from dialectree.models import embedded
from dialectree.models.http_client import Oversized, bounded
from dialectree.models.specs import Spec
from dialectree.protocols.trust import key
from dialectree.system.addresses import is_loopback

PORTS = (11434, 1234, 8000, 8080)
"""The usual ports of Ollama, LM Studio, vLLM and llama.cpp."""
_KINDS = {
    "library": "Ollama",
    "organization_owner": "LM Studio",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
}
"""The programs by what they write as the owner of a model."""
TIMEOUT_S = 1.0
"""Seconds in which a server has to tell the size of its model."""

AT_CHANCE_BELOW = 10**9
"""Parameters below which a model answers at chance."""

_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_asking = threading.Lock()


# Servers that run on this machine


class LocalServer(NamedTuple):
    """A model server that answers on this machine."""

    kind: str
    base_url: str
    models: tuple[str, ...]

    @property
    def flags(self) -> str:
        """Return what to add to a command to use the first model, or nothing."""
        if not self.models:
            return ""
        spec = shlex.quote(f"openai:{self.models[0]}")
        return f"--model {spec} --base-url {shlex.quote(self.base_url)}"


class _Listed(BaseModel):
    """A model in the list of a server."""

    id: str = Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$")
    owned_by: str = ""
    meta: object = None
    """What llama.cpp tells of the model."""


class _List(BaseModel):
    """The reply of ``GET /v1/models``."""

    data: list[_Listed] | None  # an Ollama without models writes null


async def local_servers(ports: Iterable[int] = PORTS, timeout_s: float = 1.0) -> list[LocalServer]:
    """Return the servers that list their models on ``ports`` in time; others are left out."""
    async with httpx2.AsyncClient(trust_env=False, timeout=timeout_s) as client:
        replies = await asyncio.gather(*(_server(client, port, timeout_s) for port in ports))
    return [server for server in replies if server is not None]


async def _server(client: httpx2.AsyncClient, port: int, timeout_s: float) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        async with asyncio.timeout(timeout_s):
            response = await client.get(f"{base_url}/models")
        models = _List.model_validate_json(response.content).data or []
    except (httpx2.HTTPError, TimeoutError, ValidationError):
        return None
    owners = {model.owned_by for model in models}
    kind = _KINDS.get(owners.pop(), "") if len(owners) == 1 else ""
    return LocalServer(kind or "OpenAI-compatible", base_url, tuple(model.id for model in models))


# How large a model is


def file_parameters(file: Path) -> int | None:
    """Return the number of parameters of a GGUF file, or None if it is unknown."""
    try:
        return embedded.read_header(file).parameters
    except (OSError, ValueError):
        return None


async def parameters(spec: Spec) -> int | None:
    """Return the number of parameters of a model, or None if it is unknown.

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
    """Return the number of parameters of ``smollm2`` or of a .gguf file, or None."""
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
    from dialectree.models.http_client import HttpClient

    try:
        async with HttpClient(url, secret) as client:
            with bounded():
                async with asyncio.timeout(TIMEOUT_S):
                    return await _answer(client, model)
    except (httpx2.HTTPError, TimeoutError, ValidationError, Oversized):
        return None


class _Shown(BaseModel):
    """A model as Ollama shows it; older versions give the size only in words."""

    count: int = Field(0, validation_alias=AliasPath("model_info", "general.parameter_count"))
    words: str = Field("", validation_alias=AliasPath("details", "parameter_size"))


class _Stored(BaseModel):
    """A model that LM Studio has."""

    key: str
    params_string: str | None = None
    loaded_instances: list[dict[str, object]] = []


class _Stock(BaseModel):
    models: list[_Stored]


async def _answer(client: Any, model: str) -> int | None:
    """Return what the server of ``client`` tells, each program in its own way; see the tests."""
    address = client.address.rstrip("/")
    root = address.removesuffix("/v1")
    response = await client.get(f"{address}/models", follow_redirects=False)
    listed = _listed(_List.model_validate_json(response.content).data or [], model)
    if listed is None:
        return None
    if listed.meta is not None:
        size = listed.meta.get("n_params") if isinstance(listed.meta, dict) else None
        return size if isinstance(size, int) else None
    kind = _KINDS.get(listed.owned_by)
    if kind == "LM Studio":
        response = await client.get(f"{root}/api/v1/models", follow_redirects=False)
        for stored in _Stock.model_validate_json(response.content).models:
            if model in (stored.key, *(one.get("id") for one in stored.loaded_instances)):
                return _count(stored.params_string or "")
    elif kind != "vLLM":  # models of Ollama that are not from its library have other owners
        response = await client.post(
            f"{root}/api/show", json={"model": model}, follow_redirects=False
        )
        shown = _Shown.model_validate_json(response.content)
        return shown.count or _count(shown.words)
    return None


def _listed(models: list[_Listed], name: str) -> _Listed | None:
    """Return the model that answers to ``name``; llama.cpp's only one answers to any."""
    if len(models) == 1 and models[0].meta is not None:
        return models[0]
    return next((model for model in models if model.id in (name, f"{name}:latest")), None)


def _count(text: str) -> int | None:
    """Return the number that ``134.5M`` or ``7B`` stands for, or None."""
    size = re.fullmatch(r"(\d+(?:\.\d+)?)([KMBT])", text)
    return round(float(size[1]) * _UNITS[size[2]]) if size else None
