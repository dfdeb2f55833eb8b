"""Drive lemmas: three agents answer, read one another and answer again; one answer is picked."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from benchmarks.peers.driver import MODELS, URL, serve

lemmas: Any = import_module("lemmas")
adapters: Any = import_module("lemmas.adapters")
client: Any = import_module("openai").OpenAI(base_url=URL, api_key="none")
agents = [(name, adapters.openai_complete(client, model=name)) for name in MODELS]


async def verdict(question: str) -> object:
    """Return the answer of a debate of two rounds, which lemmas counts as one revision."""
    debated = await asyncio.to_thread(lemmas.debate, question, agents, rounds=1)
    return debated.final


serve(verdict)
