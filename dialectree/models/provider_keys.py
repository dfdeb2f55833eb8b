"""Find the keys of providers in the environment, and say how to use them."""

from __future__ import annotations

import os

from dialectree.system.platform_internals import on_a_server

_PROVIDERS = {
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


def specs() -> dict[str, str]:
    """Return ``{"OPENAI_API_KEY": "openai:NAME"}`` for each key that is set.

    Nothing on a server: its clients see errors, and the operator's keys are not their affair.
    """
    found: dict[str, str] = {}
    for variable, provider in _PROVIDERS.items():
        spec = f"{provider}:NAME"
        if os.environ.get(variable) and spec not in found.values() and not on_a_server():
            found[variable] = spec
    return found


def advice() -> list[str]:
    """Return ``OPENAI_API_KEY is set: --model openai:NAME`` for each key that is set."""
    return [f"{variable} is set: --model {spec}" for variable, spec in specs().items()]
