"""Drive llm-council-core: three models answer and rank one another, a chairman merges."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.peers.driver import MODELS, URL, serve

# Its gateway to OpenRouter takes another address from the file of settings. JSON is YAML, too.
gateway = {"openrouter": {"base_url": f"{URL}/chat/completions", "enabled": True}}
settings = {"council": {"gateways": {"default": "openrouter", "providers": gateway}}}
Path("llm_council.yaml").write_text(json.dumps(settings))
os.environ |= {
    "LLM_COUNCIL_CONFIG": str(Path("llm_council.yaml").resolve()),
    "LLM_COUNCIL_MODELS": ",".join(MODELS),
    "LLM_COUNCIL_CHAIRMAN": MODELS[0],
    "OPENROUTER_API_KEY": "none",
}
council: Any = import_module("llm_council.council")


async def verdict(question: str) -> object:
    """Return the answer that the chairman merges from all answers."""
    done = await council.run_council_with_fallback(question, bypass_cache=True)
    answer = str(done["synthesis"] or "")
    if answer.startswith("Error:"):  # even with the status complete, if the chairman failed
        raise RuntimeError(answer)
    return answer


serve(verdict)
