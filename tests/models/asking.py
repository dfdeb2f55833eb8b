"""Asking one question through the door, without a graph around it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.models.door import Run, ask
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import Call, Place
from dialectree.records.journal import Journal
from dialectree.system import clock


class Rule(BaseModel):
    """What is asked for."""

    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=200)]
    confidence: Annotated[float, Field(ge=0, le=1)]


RULE = Rule(winner="A", answer="So it is.", confidence=0.7)
GOOD = RULE.model_dump_json()
PROMPT = "single_shot/answerer"


def at(url: str, **settings: Any) -> ProtocolSettings:
    """Settings that ask the endpoint at ``url``, without a cache."""
    return build_settings(
        ProtocolSettings, **{"model": "openai:any", "base_url": url, "cache": False, **settings}
    )


async def question(
    context: ProtocolSettings,
    run: Run | None = None,
    node: str = "0",
    question: str = "Is it so?",
    role: str = "judge",
    **more: Any,
) -> Rule:
    """The reply to one question."""
    runtime = Runtime(context=context, control=run or Run("run", context))
    place = Place(node=node, phase="debate", role=role)
    return await ask(runtime, place, PROMPT, Rule, question=question, **more)


class QuickClock:
    """Time that passes at once when somebody sleeps; keeps how long everybody slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._seconds = clock.seconds

    def seconds(self) -> float:
        return self._seconds() + sum(self.slept)

    async def sleep(self, duration_s: float) -> None:
        self.slept.append(duration_s)
        await asyncio.sleep(0)


@contextmanager
def kept(path: Path, context: ProtocolSettings, *, ended_before: bool = False) -> Iterator[Run]:
    """Open a run with a journal at ``path``."""
    journal = Journal(path)
    try:
        yield Run("run", context, journal, ended_before=ended_before)
    finally:
        journal.close()


def lines(path: Path) -> list[Call]:
    """Read the calls in the journal at ``path``."""
    return [Call.model_validate_json(line) for line in path.read_bytes().splitlines()]
