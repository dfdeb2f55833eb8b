"""Find the size of a model, from its file or from the server on this machine that runs it.

The header of a model's file contains the size; a server is asked for it.
"""

from __future__ import annotations

import asyncio
import re
import threading
from functools import lru_cache
from typing import Any

import aiohttp
import httpx2

from dialectree.models.asking import PromptForm
from dialectree.models.error_mapping import OversizedBody
from dialectree.models.local_models import LOCAL_MODELS
from dialectree.models.specs import Spec
from dialectree.protocols.trust import key

KINDS = {"library": "Ollama", "organization_owner": "LM Studio", "vllm": "vLLM", "llamacpp": "llama.cpp"}
"""The server programs, by the owner that they report for a model."""
TIMEOUT_S = 1.0
"""Seconds in which a server has to tell the size of its model."""
AT_CHANCE_BELOW = 10**9
"""Parameters below which a model answers at chance."""
SMALL_BELOW, MEDIUM_BELOW = 5 * 10**8, 85 * 10**8
"""Parameters below which a model is asked in the form for small models, or for medium ones. Models
sold as 8B have up to 8.2 billion."""

_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,200}")
_NOT_UNDERSTOOD = (ValueError, TypeError, KeyError, AttributeError)
"""Errors in reading a reply of another shape."""
UNREADABLE = (httpx2.HTTPError, aiohttp.ClientError, TimeoutError, OversizedBody, *_NOT_UNDERSTOOD)
"""Errors of a request to a server that does not give the expected answer."""
_asking = threading.Lock()


def read_models(reply: Any) -> list[dict[str, Any]]:
    """Return the models in the reply of ``GET /v1/models``; raise ValueError for an odd name."""
    models = reply["data"] or []  # an Ollama without models writes null
    if not all(_NAME.fullmatch(model["id"]) for model in models):
        raise ValueError("a model has a name that cannot be shown")
    return [*models]


async def find_prompt_form(spec: Spec) -> PromptForm:
    """Return the prompt form for a model, by its size; ``full`` if the size is unknown."""
    size = await parameters(spec) if spec.is_local else None
    if size is None or size >= MEDIUM_BELOW:
        return "full"
    return "small" if size < SMALL_BELOW else "medium"


async def parameters(spec: Spec) -> int | None:
    """Return the number of parameters of a model, or None if it is unknown.

    The size of a ``local:`` model comes from its file. For other models, only servers at a
    loopback address are asked, once in a process; nothing is sent to any other address.
    """
    if not spec.is_local:
        return None
    if spec.provider == "local":
        return await asyncio.to_thread(local_parameters, spec.model)
    secret = "" if spec.keyless else key() or ""
    return await asyncio.to_thread(_fetch_size_once, spec.whole_url or "", secret, spec.model)


def local_parameters(model: str) -> int | None:
    """Return the number of parameters of a model of the catalogue or of a .gguf file, or None."""
    part = LOCAL_MODELS.find()
    return None if part is None else part.count_parameters(model)


def waits_for(spec: Spec) -> str | None:
    """Return the model of ``spec`` with its size, if its server has to start first; else None."""
    return LOCAL_MODELS.require().waits_for(spec.model) if spec.provider == "local" else None


async def start_model(spec: Spec) -> None:
    """Start the server of a ``local:`` model, and wait until it is ready."""
    await LOCAL_MODELS.require().serve(spec.model)


def at_chance(spec: Spec) -> bool:
    """Return whether the answers of a ``local:`` model are no better than chance.

    Terminal, records and reports must say so. This may read the header of the model's file.
    """
    size = local_parameters(spec.model) if spec.provider == "local" else None
    return size is not None and size < AT_CHANCE_BELOW


def _fetch_size_once(url: str, secret: str, model: str) -> int | None:
    """Ask a server once, even if several threads need its answer."""
    with _asking:
        return _fetch_size(url, secret, model)


@lru_cache(maxsize=256)
def _fetch_size(url: str, secret: str, model: str) -> int | None:
    return asyncio.run(_ask(url, secret, model))


async def _ask(url: str, secret: str, model: str) -> int | None:
    from dialectree.models.clients import HttpClient, limit_body_size  # heavy

    try:
        async with HttpClient(url, secret) as client, asyncio.timeout(TIMEOUT_S):
            with limit_body_size():
                size = await _answer(client, model)
    except UNREADABLE:
        return None
    return size if isinstance(size, int) else None


async def _answer(client: Any, model: str) -> Any:
    """Return the size that the server reports; each program has its own way (see the tests)."""
    address = client.address.rstrip("/")
    root = address.removesuffix("/v1")
    models = read_models((await client.get(f"{address}/models", follow_redirects=False)).json())
    matches = [entry for entry in models if entry["id"] in (model, f"{model}:latest")]
    if len(models) == 1 and models[0].get("meta") is not None:
        matches = models  # llama.cpp's only model answers to any name
    if not matches:
        return None
    if (meta := matches[0].get("meta")) is not None:
        return meta["n_params"]
    kind = KINDS.get(matches[0].get("owned_by", ""))
    if kind == "LM Studio":
        response = await client.get(f"{root}/api/v1/models", follow_redirects=False)
        for stored in response.json()["models"]:
            loaded = stored.get("loaded_instances", [])
            if model in (stored["key"], *(instance.get("id") for instance in loaded)):
                return _count(stored["params_string"])
    elif kind != "vLLM":  # models of Ollama that are not from its library have other owners
        response = await client.post(f"{root}/api/show", json={"model": model}, follow_redirects=False)
        model_details = response.json()
        size = model_details.get("model_info", {}).get("general.parameter_count")
        return size or _count(model_details["details"]["parameter_size"])  # older versions have only words
    return None


def _count(text: str) -> int | None:
    """Return the number that ``134.5M`` or ``7B`` stands for, or None."""
    size = re.fullmatch(r"(\d+(?:\.\d+)?)([KMBT])", text)
    return round(float(size[1]) * _UNITS[size[2]]) if size else None
