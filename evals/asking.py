"""How a scorer asks a model: for one word or for a JSON reply, and once more if it cannot be read.

The way to ask is given from outside, so that a run can supply its door to the models and a test a
judge of its own. A model that cannot be reached raises, and whoever runs the evaluation decides.
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
    """One question to a judge, rendered, with the document it comes from."""

    prompt: prompts.Prompt
    """Its name and version, for the ledger; its temperature, for the call."""
    system: str
    user: str


Ask = Callable[[Words], Awaitable[str]]
"""The judge: gets the words, returns what it says."""


class Scorer(Protocol):
    """One answer in, one score out."""

    async def __call__(
        self, *, inputs: Fields, outputs: Fields, reference_outputs: Fields
    ) -> Score: ...


class Comparer(Protocol):
    """Two answers to the same inputs in, one score out."""

    async def __call__(
        self, *, inputs: Fields, outputs: Sequence[Fields], reference_outputs: Fields
    ) -> Score: ...


Word = TypeVar("Word", bound=RootModel[Any])
Reply = TypeVar("Reply", bound=BaseModel)
ASKED = 2
"""How often a judge is asked before its word counts as unreadable."""


async def word(ask: Ask, name: str, kind: type[Word], **values: object) -> tuple[Word | None, str]:
    """The one word that was asked for, or None and what was said instead."""
    prompt, said = prompts.load(name), ""
    for again in range(ASKED):
        said = await ask(Words(prompt, *prompt.render({**values, "again": bool(again)})))
        try:
            return kind.model_validate(_bare(said)), said
        except ValidationError:
            continue
    return None, repr(said)[:200]


def _bare(said: str) -> str:
    """A word without thinking before it and signs around it."""
    after = said.rpartition("</think>")[2].strip()
    return after.strip("*_`\"'“”‘’.,:;!#()[]{} \t\r\n").upper()


async def reply(
    ask: Ask, name: str, kind: type[Reply], ids: Ids, **values: object
) -> tuple[Reply | None, str]:
    """The reply that was asked for, or None and what was wrong with the last one."""
    prompt, wrong = prompts.load(name), ""
    for _ in range(ASKED):
        said = await ask(Words(prompt, *prompt.render({**values, "fault": wrong})))
        try:
            return read(kind, ids, said, None, None), ""
        except Fault as fault:
            wrong = str(fault)
    return None, f"the judge's reply cannot be read: {wrong}"
