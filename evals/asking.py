"""Asks a judge for one word or for a JSON reply, and once more if it cannot be read.

The caller supplies the function that asks: a run its models, a test a judge of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from dialectree import prompts
from dialectree.evals.scorers import Fields, Score
from dialectree.models.forms import Ids
from dialectree.models.replies import Fault, read


class Words(NamedTuple):
    """One question to a judge, rendered, with its prompt."""

    prompt: prompts.Prompt
    """Has the name and version for the ledger, and the temperature for the call."""
    system: str
    user: str


Ask = Callable[[Words], Awaitable[str]]
"""Asks the judge and returns its reply."""


class Scorer(Protocol):
    """Scores one answer."""

    async def __call__(
        self, *, inputs: Fields, outputs: Fields, reference_outputs: Fields
    ) -> Score: ...


class Comparer(Protocol):
    """Scores two answers to the same inputs."""

    async def __call__(
        self, *, inputs: Fields, outputs: Sequence[Fields], reference_outputs: Fields
    ) -> Score: ...


Word = TypeVar("Word", bound=RootModel[Any])
Reply = TypeVar("Reply", bound=BaseModel)
ASKED = 2
"""So often a judge is asked before its reply counts as unreadable."""


async def word(ask: Ask, name: str, kind: type[Word], **values: object) -> tuple[Word | None, str]:
    """Return the word that was asked for and the reply; None and the reply if it is another."""
    prompt, reply = prompts.load(name), ""
    for again in range(ASKED):
        reply = await ask(Words(prompt, *prompt.render({**values, "again": bool(again)})))
        try:
            return kind.model_validate(_bare(reply)), reply
        except ValidationError:
            continue
    return None, repr(reply)[:200]


def _bare(reply: str) -> str:
    """Return a word without thinking before it and signs around it."""
    after = reply.rpartition("</think>")[2].strip()
    return after.strip("*_`\"'“”‘’.,:;!#()[]{} \t\r\n").upper()


async def reply(
    ask: Ask, name: str, kind: type[Reply], ids: Ids, **values: object
) -> tuple[Reply | None, str]:
    """Return the reply that was asked for, or None and the fault of the last one."""
    prompt, wrong = prompts.load(name), ""
    for _ in range(ASKED):
        text = await ask(Words(prompt, *prompt.render({**values, "fault": wrong})))
        try:
            return read(kind, ids, text, None, None), ""
        except Fault as fault:
            wrong = str(fault)
    return None, f"the judge's reply cannot be read: {wrong}"
