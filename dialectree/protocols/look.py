"""Declare how the debates of a protocol are shown, beside its view.

A look is plain data. It names what a report would otherwise have to know of a protocol.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pydantic import BaseModel, ConfigDict


class Score(BaseModel):
    """The sign of one of a node's scores, and what it means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sign: str
    meaning: str
    above: str = ""
    """What it means of a node with children, where that is something else."""
    at_root: tuple[str, str] | None = None
    """Sign and meaning at a root, where they are others."""
    reckoned: bool = False
    """True where it is made of the scores before it."""
    beside: str = ""
    """The score beside which alone it says something."""


class Look(BaseModel):
    """What reports say of a protocol's debates."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    facing: tuple[str, ...] = ()
    """The speakers who face each other, each in a column. Those who share a role do so anyway."""
    together: tuple[str, ...] = ()
    """Phases that alternate round by round, such as a debate and its moderation: shown as one."""
    side: str = "speaker"
    """What one of those is called: ``advocate``."""
    purposes: tuple[str, ...] = ()
    """Speakers that are named by what they are asked for."""
    tasks: dict[str, str] = {}
    """What a speaker defends, by ``Turn.side``, where that is no text of its own."""
    stops: dict[str, str] = {}
    """Why a node is not split, in words, by the reason that the protocol gives."""
    gaps: bool = False
    """True where the notes of a verdict say what the question leaves open."""
    scores: dict[str, Score] = {}
    """By name, in the order in which they are reckoned."""
    signs: str = ""
    """What the signs mean, in one line."""
    weighing: tuple[str, ...] = ()
    """How strengths are reckoned: ``DF-QuAD semantics``, ``weighted mean``."""
    comparing: tuple[str, ...] = ()
    """How comparisons count, said where there are some."""


PLAIN = Look()
"""The look of a protocol that declares none."""


def join_looks(looks: Iterable[Look]) -> Look:
    """Return the look of several protocols that take part in one run; the first one counts."""
    return reduce(_join_two_looks, looks, PLAIN)


def _join_two_looks(look: Look, other_look: Look) -> Look:
    update: dict[str, object] = {}
    for name in other_look.model_fields_set:
        before, more = getattr(look, name), getattr(other_look, name)
        if isinstance(more, dict):
            update[name] = {**more, **before}
        elif name in ("weighing", "comparing"):
            update[name] = (*before, *more)
        elif not before or name not in look.model_fields_set:
            update[name] = more
    return look.model_copy(update=update)
