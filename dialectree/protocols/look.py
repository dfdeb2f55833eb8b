"""Declare how reports show the debates of a protocol, in addition to its view.

A look is plain data, so that reports need no code for a single protocol.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pydantic import BaseModel, ConfigDict


class Score(BaseModel):
    """The sign for one score of a node, and the meaning of the score."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sign: str
    meaning: str
    above: str = ""
    """The meaning at a node with children, if it differs from ``meaning``."""
    at_root: tuple[str, str] | None = None
    """Sign and meaning at a root, if they differ from those at other nodes."""
    reckoned: bool = False
    """True if the score is computed from the scores listed before it."""
    beside: str = ""
    """The score that has to be shown with this one, because this one means little alone."""


class Look(BaseModel):
    """The words and the layout with which reports show a protocol's debates."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    facing: tuple[str, ...] = ()
    """The speakers who face each other, each in a column. Speakers of one role always face each other."""
    together: tuple[str, ...] = ()
    """Phases that alternate round by round, such as a debate and its moderation: shown as one phase."""
    captions: dict[str, str] = {}
    """The name, for a reader, of each field of a reply, phase and role that does not explain itself.
    The page leaves out a field with an empty name."""
    side: str = "speaker"
    """The noun for one of the facing speakers: ``advocate``."""
    purposes: tuple[str, ...] = ()
    """Speakers that are named by their task."""
    tasks: dict[str, str] = {}
    """What a speaker defends, in words, for each ``Turn.side`` that is a code and not a text."""
    stops: dict[str, str] = {}
    """Words for why a node is not split, by the reason that the protocol gives."""
    gaps: bool = False
    """True if the notes of a verdict say what the question leaves open."""
    scores: dict[str, Score] = {}
    """The scores by name, in the order in which they are computed."""
    signs: str = ""
    """The meaning of the signs, in one line."""
    weighing: tuple[str, ...] = ()
    """How strengths are computed: ``DF-QuAD semantics``, ``weighted mean``."""
    comparing: tuple[str, ...] = ()
    """How comparisons of arguments count; shown if a debate has comparisons."""


PLAIN = Look()
"""The look of a protocol that declares no look."""


def join_looks(looks: Iterable[Look]) -> Look:
    """Return one look for the protocols of a run; where the looks differ, the first one counts."""
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
