"""Drive duelyst-ai-core: two debaters, two rounds, and a judge who sums up."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from benchmarks.peers.driver import URL, serve

os.environ |= {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": "none"}
core: Any = import_module("duelyst_ai_core")
# With a name that it knows, the client sends a schema. The endpoint takes any name.
model = core.ModelConfig(provider="openai", model_id="gpt-4.1")


async def verdict(question: str) -> object:
    """Return the judge's conclusion."""
    config = core.DebateConfig(topic=question, model_a=model, model_b=model, judge_model=model, max_rounds=2)
    async for event in core.DebateOrchestrator(config).arun_with_events():
        if event.event == "debate_error":
            raise RuntimeError(f"{event.error_type}: {event.error_message}")
        if event.event == "debate_completed":
            return event.result.synthesis.conclusion
    return ""


serve(verdict)
