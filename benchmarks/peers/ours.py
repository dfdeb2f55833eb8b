"""Drive a protocol of ours: ``python -m benchmarks.peers.ours NAME SETTING=VALUE ...``."""

from __future__ import annotations

import sys
from typing import Any

import dialectree
from benchmarks.peers.driver import MODELS, URL, serve

values: dict[str, Any] = dict(word.split("=") for word in sys.argv[2:])
if "options" in values:
    values["options"] = values["options"].split(",")


async def verdict(question: str) -> object:
    """Debate with the default settings."""
    record = await dialectree.arun(
        sys.argv[1], question=question, model=f"openai:{MODELS[0]}", base_url=URL, **values
    )
    return record.verdict.answer or "undecided" if record.verdict else ""


serve(verdict)
