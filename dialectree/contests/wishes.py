"""Parse the changes that a person wants in a finished run, for every interface."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dialectree.errors import InputError, fault_line
from dialectree.records import Stance

CHANGES = ("replace", "verdict", "drop", "restore", "set", "flip", "void", "add", "add_source")
"""The changes to a run, by the flags of ``dialectree contest``."""
_ID = r"[^:=\s][^:=]*"
_PAIR = re.compile(rf"{_ID}:{_ID}")
_SEGMENT = re.compile(r"[A-Za-z][0-9]*:[0-9]+")
"""A segment of a paper or of a source; the two sides of a pair are paths such as ``0.1``."""
_FORMS = {
    "set": (re.compile(rf"{_ID}=\s*(none|[0-9.eE+-]+)"), "ID=STRENGTH with a strength in 0 to 1: 0.1=0.3"),
    "flip": (_PAIR, "ID:ID, such as 0.0:0.1"),
    "void": (_PAIR, "ID:ID, such as 0.0:0.1"),
    "add": (re.compile(rf"(support|attack):\s*{_ID}"), "support:ID or attack:ID, then the text"),
}
"""The notation of a change's place if it is more than an id."""


class Change(BaseModel):
    """One change, as flags, agents, clients and Python write it: ``drop`` at ``0.1``."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    change: str = Field(json_schema_extra={"enum": [*CHANGES]})
    """`replace` what a turn says, set another `verdict`, `drop` an argument, a part or a turn,
    `restore` what was changed; `set` a strength, `flip` or `void` a comparison, `add` an argument
    where arguments are weighed; `add_source` to a debate that argues from sources."""
    where: str
    """What is changed: 0/A1 (a turn), 0.1 (a node), 0.1=0.3 (`set`), 0.0:0.1 (a comparison),
    support:0 or attack:0 (`add`), s2 (a source), s2:17 (a segment of it), a file (`add_source`)."""
    text: str = ""
    """The new text of `replace`, `verdict` and `add`; of `add_source` the source itself, and the
    file is its name then."""

    @model_validator(mode="after")
    def _be_well_formed(self) -> Self:
        if self.change not in CHANGES:
            raise ValueError(f"{self.change:.80}: unknown change; use one of {', '.join(CHANGES)}")
        form, syntax = _FORMS.get(self.change, (None, ""))
        if form is not None and form.fullmatch(self.where.strip()) is None:
            raise ValueError(f"{self.flag}: write {syntax}")
        if self.change == "set":
            self.strength()
        return self

    @property
    def flag(self) -> str:
        """Return the change as messages name it, its kind in backticks."""
        return f"`{self.change}` {self.where.strip()}"

    @property
    def id(self) -> str:
        """Return the node, turn or segment to change; for a pair, both arguments."""
        where = self.where.strip()
        if self.change == "set":
            return where.partition("=")[0].strip()
        return where.partition(":")[2].strip() if self.change == "add" else where

    @property
    def pair(self) -> tuple[str, str] | None:
        """Return the two arguments of a comparison; None for a change of something else."""
        where = self.where.strip()
        if self.change not in ("flip", "void", "restore") or not _PAIR.fullmatch(where):
            return None
        argument, _, other_argument = where.partition(":")
        return None if _SEGMENT.fullmatch(where) else (argument.strip(), other_argument.strip())

    @property
    def stance(self) -> Stance:
        """Return the side for which an argument is added."""
        return "support" if self.where.strip().startswith("support") else "attack"

    def strength(self) -> float | None:
        """Return the strength that is set; None to leave it unknown."""
        number = self.where.partition("=")[2].strip()
        try:
            strength = None if number == "none" else float(number) + 0.0  # -0 is 0
        except ValueError:
            strength = -1.0
        if strength is not None and not 0 <= strength <= 1:
            raise ValueError(f"{self.flag}: write {_FORMS['set'][1]}")
        return strength


def parse(change: str, where: str, text: str = "") -> Change:
    """Return a person's change; ``change`` is the name of its flag, without dashes.

    Raises InputError for an unknown change or an impossible place.
    """
    try:
        return Change(change=change, where=where, text=text)
    except ValidationError as error:
        raise InputError(fault_line(error)) from None


def Replace(turn: str, text: str) -> Change:
    """Replace the text of a turn or of a segment of evidence."""
    return parse("replace", turn, text)


def Rule(node: str, text: str) -> Change:
    """Give a node another verdict: an answer, or a label."""
    return parse("verdict", node, text)


def Drop(name: str) -> Change:
    """Drop a turn, a segment, or an argument or a part with everything below it."""
    return parse("drop", name)


def Restore(name: str, other_argument: str = "") -> Change:
    """Undo a change; ``other_argument`` is for a comparison only."""
    return parse("restore", f"{name}:{other_argument}" if other_argument else name)


def Set(node: str, strength: float | None) -> Change:
    """Set the own strength of an argument or a claim; None leaves it unknown."""
    return parse("set", f"{node}={'none' if strength is None else strength}")


def Flip(argument: str, other_argument: str) -> Change:
    """Let the loser of a comparison of two arguments win it."""
    return parse("flip", f"{argument}:{other_argument}")


def Void(argument: str, other_argument: str) -> Change:
    """Ignore the comparison of two arguments."""
    return parse("void", f"{argument}:{other_argument}")


def Add(stance: Stance, parent: str, text: str) -> Change:
    """Insert a person's argument below ``parent``."""
    return parse("add", f"{stance}:{parent}", text)


def AddSource(file: str | Path, text: str = "") -> Change:
    """Add a document to the sources of a run, as the last one.

    With a ``text`` no file is read: ``file`` is the name of that text.
    """
    return parse("add_source", str(file), text)
