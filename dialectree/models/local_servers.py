"""Find model servers that run on this machine, by asking their usual ports for their models."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, Field, ValidationError

if TYPE_CHECKING:
    import httpx

PORTS = (11434, 1234, 8000, 8080)
"""The usual ports of Ollama, LM Studio, vLLM and llama.cpp."""
KINDS = {
    "library": "Ollama",
    "organization_owner": "LM Studio",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
}
"""The programs by what they write as the owner of a model."""


class LocalServer(NamedTuple):
    """A model server that answers on this machine."""

    kind: str
    base_url: str
    models: tuple[str, ...]

    @property
    def flags(self) -> str:
        """What to add to a command to use the first model; empty if there is none."""
        if not self.models:
            return ""
        spec = shlex.quote(f"openai:{self.models[0]}")
        return f"--model {spec} --base-url {shlex.quote(self.base_url)}"


class ListedModel(BaseModel):
    """A model in the list of a server."""

    id: str = Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$")
    owned_by: str = ""
    meta: object = None
    """What llama.cpp tells of the model."""


class ModelList(BaseModel):
    """The reply of ``GET /v1/models``."""

    data: list[ListedModel] | None  # an Ollama without models writes null


async def local_servers(ports: Iterable[int] = PORTS, timeout_s: float = 1.0) -> list[LocalServer]:
    """Return the servers that list their models on ``ports`` in time; others are left out."""
    import httpx

    async with httpx.AsyncClient(trust_env=False, timeout=timeout_s) as client:
        replies = await asyncio.gather(*(_server(client, port, timeout_s) for port in ports))
    return [server for server in replies if server is not None]


async def _server(client: httpx.AsyncClient, port: int, timeout_s: float) -> LocalServer | None:
    import httpx

    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        async with asyncio.timeout(timeout_s):
            response = await client.get(f"{base_url}/models")
        models = ModelList.model_validate_json(response.content).data or []
    except (httpx.HTTPError, TimeoutError, ValidationError):
        return None
    owners = {model.owned_by for model in models}
    kind = KINDS.get(owners.pop(), "") if len(owners) == 1 else ""
    return LocalServer(kind or "OpenAI-compatible", base_url, tuple(model.id for model in models))
