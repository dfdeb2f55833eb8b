"""Find available models: servers that run on this machine, and keys in the environment."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Iterable
from typing import NamedTuple

import httpx2

from dialectree.models.error_mapping import SERVERS
from dialectree.models.sizes import KINDS, UNREADABLE, read_models
from dialectree.system.platform_internals import on_a_server

KEY_VARIABLES = {
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GOOGLE_API_KEY": "google_genai",
    "GEMINI_API_KEY": "google_genai",
    "MISTRAL_API_KEY": "mistralai",
    "OPENROUTER_API_KEY": "openrouter",
    "AZURE_OPENAI_API_KEY": "azure_openai",
    "BASETEN_API_KEY": "baseten",
    "COHERE_API_KEY": "cohere",
    "DEEPSEEK_API_KEY": "deepseek",
    "FIREWORKS_API_KEY": "fireworks",
    "GROQ_API_KEY": "groq",
    "NVIDIA_API_KEY": "nvidia",
    "PERPLEXITY_API_KEY": "perplexity",
    "PPLX_API_KEY": "perplexity",
    "TOGETHER_API_KEY": "together",
    "UPSTAGE_API_KEY": "upstage",
    "XAI_API_KEY": "xai",
}
"""Variables that LangChain's packages read, each with its provider as a spec names it."""
PORTS = tuple(SERVERS)
"""The usual ports of Ollama, LM Studio, vLLM and llama.cpp."""


class LocalServer(NamedTuple):
    """A model server that answers on this machine."""

    kind: str
    base_url: str
    models: tuple[str, ...]

    @property
    def flags(self) -> str:
        """Return the flags that make a command use the server's first model; "" without models."""
        if not self.models:
            return ""
        spec = shlex.quote(f"openai:{self.models[0]}")
        return f"--model {spec} --base-url {shlex.quote(self.base_url)}"


async def local_servers(ports: Iterable[int] = PORTS, timeout_s: float = 1.0) -> list[LocalServer]:
    """Return the servers that list their models on ``ports`` in time; others are left out."""
    async with httpx2.AsyncClient(trust_env=False, timeout=timeout_s) as client:
        replies = await asyncio.gather(*(_server(client, port, timeout_s) for port in ports))
    return [server for server in replies if server is not None]


async def _server(client: httpx2.AsyncClient, port: int, timeout_s: float) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        async with asyncio.timeout(timeout_s):
            models = read_models((await client.get(f"{base_url}/models")).json())
    except UNREADABLE:
        return None
    owners = {str(model.get("owned_by")) for model in models}
    kind = KINDS.get(owners.pop(), "") if len(owners) == 1 else ""
    return LocalServer(kind or "OpenAI-compatible", base_url, tuple(m["id"] for m in models))


def list_specs_with_keys() -> dict[str, str]:
    """Return ``{"OPENAI_API_KEY": "openai:NAME"}`` for each key that is set.

    Return no key on a server: its clients see errors, and must not learn which keys the operator has.
    """
    specs: dict[str, str] = {}
    for variable, provider in KEY_VARIABLES.items():
        spec = f"{provider}:NAME"
        if os.environ.get(variable) and spec not in specs.values() and not on_a_server():
            specs[variable] = spec
    return specs


def key_advice() -> list[str]:
    """Return ``OPENAI_API_KEY is set: `model` openai:NAME`` for each key that is set."""
    return [f"{variable} is set: `model` {spec}" for variable, spec in list_specs_with_keys().items()]
