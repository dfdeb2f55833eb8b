"""What a person may wish to change in a finished run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from dialectree.errors import InputError
from dialectree.protocols.settings import ProtocolSettings
from dialectree.protocols.sources import known
from dialectree.records import Stance


class Set(NamedTuple):
    """``--set ID=0.3``: another intrinsic strength; None (``none``): it has none."""

    node: str
    tau: float | None


class Drop(NamedTuple):
    """``--drop ID``: an argument or a part takes no part, nor what hangs below it; or a turn."""

    node: str


class Flip(NamedTuple):
    """``--flip ID:ID``: the other one won."""

    one: str
    other: str


class Void(NamedTuple):
    """``--void ID:ID``: a comparison counts for nobody."""

    one: str
    other: str


class Restore(NamedTuple):
    """``--restore ID`` or ``ID:ID``: takes a change back; ``other`` is for a comparison only."""

    one: str
    other: str = ""


class Add(NamedTuple):
    """``--add support:PARENT TEXT``: an argument of one's own."""

    stance: Stance
    parent: str
    text: str


class Replace(NamedTuple):
    """``--replace ID TEXT``: a turn says something else."""

    turn: str
    text: str


class Rule(NamedTuple):
    """``--verdict ID TEXT``: another verdict of a node, an answer or a label."""

    node: str
    text: str


Wish = Set | Drop | Flip | Void | Restore | Add | Replace | Rule
CHANGES = ("replace", "verdict", "drop", "restore", "set", "flip", "void", "add")
"""What a person can do to a run, by the flags of ``dialectree contest``."""
_SEGMENT = re.compile(r"[A-Za-z]:[0-9]+")
"""A piece of a paper; the two sides of a pair are paths such as ``0.1``."""


class Change(BaseModel):
    """A change as a client of a server sends it: ``{"change": "drop", "where": "0.1"}``."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    change: str = Field(json_schema_extra={"enum": [*CHANGES]})
    """`replace` what a turn says, set another `verdict`, `drop` an argument, a part or a turn,
    `restore` what was changed; `set` a strength, `flip` or `void` a comparison, `add` an argument
    where arguments are weighed."""
    where: str
    """What is changed: 0/A1 (a turn), 0.1 (a node), 0.1=0.3 (`set`), 0.0:0.1 (a comparison),
    support:0 or attack:0 (`add`)."""
    text: str = ""
    """The new text of `replace`, `verdict` and `add`."""

    def wish(self) -> Wish:
        """Return the wish that the change stands for."""
        return parse(self.change, self.where, self.text)


def parse(change: str, where: str, text: str = "") -> Wish:
    """Return the wish that a person writes; ``change`` names it as a flag does, without dashes.

    Raises InputError where there is no such change, or no such place can be.
    """
    where = where.strip()
    match change:
        case "replace":
            return Replace(where, text)
        case "verdict":
            return Rule(where, text)
        case "drop":
            return Drop(where)
        case "restore":
            pair = ":" in where and _SEGMENT.fullmatch(where) is None
            return Restore(*_pair(change, where)) if pair else Restore(where)
        case "set":
            return _set(where)
        case "flip":
            return Flip(*_pair(change, where))
        case "void":
            return Void(*_pair(change, where))
        case "add":
            return _add(where, text)
        case _:
            known = ", ".join(CHANGES)
            raise InputError(f"{change}: there is no such change; known: {known}")


def _set(where: str) -> Wish:
    """Return the wish of one ``--set``."""
    name, _, number = (part.strip() for part in where.partition("="))
    try:
        tau = None if number == "none" else float(number)
    except ValueError:
        tau = -1.0
    if not name or not (tau is None or 0 <= tau <= 1):
        raise InputError(f"--set {where}: write ID=STRENGTH with a strength in 0 to 1: 0.1=0.3")
    return Set(name, tau)


def _pair(change: str, where: str) -> tuple[str, str]:
    """Return the two ids of ``ID:ID``."""
    one, sign, other = (part.strip() for part in where.partition(":"))
    if not (one and sign and other) or ":" in other:
        raise InputError(f"--{change} {where}: write ID:ID, such as 0.0:0.1")
    return one, other


def _add(where: str, text: str) -> Wish:
    """Return the wish of ``--add``."""
    stance, _, parent = (part.strip() for part in where.partition(":"))
    if stance not in ("support", "attack") or not parent:
        raise InputError(f"--add {where}: write support:ID or attack:ID, then the text")
    return Add("support" if stance == "support" else "attack", parent, text)


def listed(wishes: Iterable[Wish]) -> list[Wish]:
    """Return ``wishes``; InputError if it is no list of them, or a part has another type."""
    names = ", ".join(kind.__name__ for kind in get_args(Wish))
    if isinstance(wishes, Wish) or not isinstance(wishes, Iterable):
        raise InputError(f"{wishes!r:.200} is no list of wishes: give a list of {names}")
    found = [*wishes]
    for wish in found:
        if not isinstance(wish, Wish):
            raise InputError(f"{wish!r:.200} is no wish: give a list of {names}")
        try:
            TypeAdapter(type(wish)).validate_python(tuple(wish), strict=True)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            part = wish._fields[int(fault["loc"][0])]
            raise InputError(f"{wish!r:.200}: {part}: {fault['msg']}") from None
    return found


def only_models_and_limits(given: Mapping[str, Any], what: str = "a contest is reckoned") -> None:
    """Raise InputError for a setting that would make another debate of it."""
    own = known() - {*ProtocolSettings.model_fields} | {"seed"}
    if found := sorted(given.keys() & own):
        flag = found[0].replace("_", "-")
        raise InputError(f"--{flag}: {what} with the settings of its run")
