"""Defines one row of a data set: the inputs of a method, and the references of scorers.

They are apart on purpose. A gold answer reaches no prompt but those of the ``oracle`` and
``balanced`` debaters, so a method is given ``item.inputs`` and nothing else.
"""

from __future__ import annotations

from string import ascii_uppercase
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from dialectree.protocols.protocol import Task as Task


class Frozen(BaseModel):
    """Has the fields that it names and no other, and none of them changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Paper(Frozen):
    """One of two papers to compare; an unknown part is an empty text."""

    title: Annotated[str, Field(min_length=1)]
    abstract: str = ""
    introduction: str = ""
    body: str = ""
    """The full text, where there is one."""


class Inputs(Frozen):
    """What a method is given: a question (with options or without), a claim, or two papers."""

    question: str | None = None
    options: tuple[str, ...] = ()
    claim: str | None = None
    topic: str | None = None
    papers: tuple[Paper, ...] = ()

    @property
    def task(self) -> Task:
        """The task of the row."""
        if self.claim is not None:
            return "verify"
        if self.topic is not None:
            return "compare"
        return "decide" if self.options else "answer"

    @property
    def text(self) -> str:
        """The question, claim or topic."""
        return self.question or self.claim or self.topic or ""

    @model_validator(mode="after")
    def _one_task(self) -> Self:
        if [self.question, self.claim, self.topic].count(None) != 2:
            raise ValueError("a row is one question, one claim or one topic with two papers")
        if not all(text.strip() for text in (self.text, *self.options)):
            raise ValueError("a question, a claim, a topic or an option is empty")
        if self.options and (self.question is None or not 2 <= len(self.options) <= 26):
            raise ValueError("a question has 2 to 26 options, or none")
        if len({option.strip() for option in self.options}) < len(self.options):
            raise ValueError("two options are the same")
        if len(self.papers) != (0 if self.topic is None else 2):
            raise ValueError("two papers stand beside a topic, and none beside anything else")
        return self


class Reference(Frozen):
    """What a scorer measures an answer by; no method reads it."""

    gold: str | None = None
    """The letter of the right option."""
    label: bool | None = None
    """Whether the claim is true."""
    true: tuple[str, ...] = ()
    """Answers that are right, any of them."""
    false: tuple[str, ...] = ()
    """Answers that are wrong."""
    best: str | None = None
    """The best of the right answers."""
    best_false: str | None = None
    """The most tempting of the wrong ones."""


class Item(Frozen):
    """One row of a data set."""

    id: str
    repeat: int = 0
    """The number of the repeat, from 0; each draws with a seed of its own."""
    cluster: str | None = None
    """Items of one cluster are not independent of one another."""
    category: str | None = None
    inputs: Inputs
    reference: Reference = Reference()

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        letters = ascii_uppercase[: len(self.inputs.options)]
        if self.reference.gold is not None and self.reference.gold not in [*letters]:
            raise ValueError(f"the right option is one of {', '.join(letters) or 'none'}")
        if self.reference.label is not None and self.inputs.claim is None:
            raise ValueError("only a claim is labelled true or false")
        return self

    def example(self) -> dict[str, dict[str, JsonValue]]:
        """Return the row in LangSmith's form: ``inputs``, ``reference_outputs``, ``metadata``."""
        return {
            "inputs": self.inputs.model_dump(mode="json", exclude_defaults=True),
            "reference_outputs": self.reference.model_dump(mode="json", exclude_defaults=True),
            "metadata": {"id": self.id, "category": self.category},
        }
