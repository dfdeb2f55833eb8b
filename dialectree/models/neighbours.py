"""Model servers that already run on this machine, on their usual ports, and how to use them.

Only the loopback address is asked, and never for longer than a second. Whatever answers is not
trusted: an answer that is too long, too slow or no list of models is as good as none.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import unicodedata
from collections.abc import Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

PORTS = {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}
"""Where each kind listens unless told otherwise; the answer tells the kind, and not the port."""

OTHER = "OpenAI-compatible"
"""The kind of a server that lists models and does not say whose it is."""

_MOST_BYTES = 1 << 20
_MOST_MODELS = 200
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Neighbour:
    """One model server that answers on this machine."""

    kind: str
    base_url: str
    models: tuple[str, ...]
    """What it can serve, as it says itself."""
    flags: str
    """What to add to a command to use the first of them; empty if there is none."""


async def neighbours(
    ports: Iterable[int] | None = None, *, timeout_s: float = 1.0
) -> list[Neighbour]:
    """The model servers that answer on ``ports`` within the time; it never raises for a bad one."""
    asked = tuple(dict.fromkeys(PORTS.values() if ports is None else ports))
    async with _client(timeout_s) as client:
        deadline = asyncio.get_running_loop().time() + timeout_s
        found = await asyncio.gather(*(_at(client, port, deadline) for port in asked))
    return [neighbour for neighbour in found if neighbour is not None]


def flags(model: str, base_url: str) -> str:
    """What to add to a command to use this model, safe to paste into a shell."""
    return f"--model {shlex.quote(f'openai:{model}')} --base-url {shlex.quote(base_url)}"


@asynccontextmanager
async def _client(timeout_s: float) -> AsyncIterator[httpx.AsyncClient]:
    """A client that goes through no proxy and follows nobody away from this machine."""
    import httpx

    headers = {"accept": "application/json", "accept-encoding": "identity"}
    async with httpx.AsyncClient(
        trust_env=False, follow_redirects=False, timeout=timeout_s, headers=headers
    ) as client:
        yield client


async def _at(client: httpx.AsyncClient, port: int, deadline: float) -> Neighbour | None:
    """The model server on one port, if there is one."""
    root = f"http://127.0.0.1:{port}"
    cards = _cards(await _json(client, f"{root}/v1/models", deadline))
    if cards is None:
        return None
    kind, embedders = await _kind(client, root, cards, deadline)
    names = (_plain(card["id"]) for card in cards if card["id"] not in embedders)
    models = tuple(dict.fromkeys(name for name in names if name))[:_MOST_MODELS]
    if kind == OTHER and not models:
        return None
    base_url = f"{root}/v1"
    return Neighbour(kind, base_url, models, flags(models[0], base_url) if models else "")


async def _kind(
    client: httpx.AsyncClient, root: str, cards: list[dict[str, Any]], deadline: float
) -> tuple[str, set[str]]:
    """Whose server it is, and which of its models only embed.

    llama.cpp and vLLM sign their models. The others are known by an endpoint of their own; those
    answer anything with JSON too, so that what the answer holds decides, and not that there is one.
    """
    owners = {str(card.get("owned_by")) for card in cards}
    if owners == {"llamacpp"}:
        return "llama.cpp", set()
    if owners == {"vllm"}:
        return "vLLM", set()
    paths = ("/api/version", "/api/v0/models", "/props", "/version")
    answers = await asyncio.gather(*(_json(client, root + path, deadline) for path in paths))
    ollama, lm_studio, llama, vllm = answers
    if _is_lm_studio(studio := _cards(lm_studio) or []):
        return "LM Studio", {card["id"] for card in studio if card["type"] == "embeddings"}
    if isinstance(ollama, dict) and isinstance(ollama.get("version"), str):
        return "Ollama", set()
    if isinstance(llama, dict) and "default_generation_settings" in llama:
        return "llama.cpp", set()
    signed = any("max_model_len" in card for card in cards)
    if signed and isinstance(vllm, dict) and isinstance(vllm.get("version"), str):
        return "vLLM", set()
    return OTHER, set()


def _is_lm_studio(cards: list[dict[str, Any]]) -> bool:
    return bool(cards) and all("state" in card and "type" in card for card in cards)


def _cards(answer: Any) -> list[dict[str, Any]] | None:
    """The models of an OpenAI-style list; None if it is no such list."""
    if not isinstance(answer, dict) or answer.get("object") != "list":
        return None
    data = answer.get("data") or []  # an Ollama without models says null
    if not isinstance(data, list):
        return None
    cards = [card for card in data if isinstance(card, dict) and isinstance(card.get("id"), str)]
    return cards if len(cards) == len(data) else None


async def _json(client: httpx.AsyncClient, url: str, deadline: float) -> Any:
    """What a server answers to a question, read as JSON; None for anything else."""
    import httpx

    try:
        async with asyncio.timeout_at(deadline), client.stream("GET", url) as response:
            if response.status_code != 200:
                return None
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _MOST_BYTES:
                    return None
            return json.loads(body)
    except (httpx.HTTPError, TimeoutError, ValueError, RecursionError):
        return None


def _plain(name: str) -> str:
    """A name that shows what it is: one line, no control or invisible characters, not too long."""
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    shown = (char for char in name if unicodedata.category(char) not in hidden)
    return "".join(shown).strip()[:_LONGEST_NAME]
