"""Drive enbanc: an advocate for each of two verdicts, and a judge who may ask them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.peers.driver import MODELS, URL, serve

enbanc: Any = import_module("enbanc")
openai: Any = import_module("pydantic_ai.models.openai")
providers: Any = import_module("pydantic_ai.providers.openai")
provider = providers.OpenAIProvider(base_url=URL, api_key="none")
answers: Any = enbanc.Verdict("Answer", {"YES": "yes", "NO": "no"})


async def verdict(question: str) -> object:
    """Return the ruling of a tribunal of at most two rounds."""
    tribunal = enbanc.Tribunal(
        question=question,
        verdicts=answers,
        statute=enbanc.Statute(text="Answer truthfully."),
        model=openai.OpenAIChatModel(MODELS[0], provider=provider),
        judge=enbanc.Judge(),
        advocates={answer: enbanc.Advocate() for answer in answers},
        max_rounds=2,
    )
    hearing = await tribunal.hear(enbanc.Case())
    return getattr(hearing.outcome, "verdict", "undecided")


serve(verdict)
