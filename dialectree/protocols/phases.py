"""Declare what a role says in a phase, and the order of the phases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from dialectree.protocols.plugins import load
from dialectree.text import label

SET_BY_PERSON = "A person set this verdict."
"""The rationale of a person's ruling."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Declare the reply of one role in one phase, and the fields that a person may change."""

    role: str
    name: str = ""
    """The phase; "" means all phases in which the role speaks."""
    reply: tuple[str, ...]
    """The classes of the reply (``module:attribute``); a turn's fields tell which class applies."""
    editable: tuple[str, ...] = ()
    """The fields that a person may replace; the first is the main text of the turn."""
    switches: tuple[str, ...] = ()
    """The fields that a person may set to yes or no."""
    optional: bool = False
    """True if the debate can go on without the turn, for example after its call failed for good."""
    withdrawn: Mapping[str, Any] | None = None
    """The reply that replaces a dropped turn, if the debate needs one."""
    ruling: Callable[[str], dict[str, Any]] | None = None
    """Returns the reply fields that make a person's text the verdict; only for a role that rules."""
    labels: Callable[[Any], Collection[str]] | None = None
    """Only for a role that rules by a candidate's label; a person who rules instead gives a label, too.
    Returns the further labels that these settings allow."""
    judges: Callable[[Any], Sequence[Sequence[str]]] | None = None
    """Returns, for each judge of a jury, the judge's names as a speaker, one for each order
    (:func:`jurors`). If one of several rulings is dropped, the others still count."""
    settles: bool = False
    """True if the turn may settle its node without a ruling, as in a vote before the debate. If only
    such turns are changed, a person need not rule again."""
    score: Callable[[float], dict[str, Any]] | None = None
    """Returns the reply fields that give the node a strength; only for a role that scores."""
    scored: str = "strength"
    """The name of the score that ``score`` gives."""
    winner: Callable[[str], dict[str, Any]] | None = None
    """Returns the reply fields that let one of ``winners`` win; only for a role that compares. The
    turn's speaker is named by the ids of both arguments, in the order shown: ``0.0:0.1``."""
    winners: tuple[str, ...] = ()
    """The two possible winners of a comparison."""
    inserts: bool = False
    """True if the reply is a list of arguments. The protocol's nodes add to it the arguments that a person
    inserts (``run_of(runtime).overrides.list_insertions``)."""

    @cached_property
    def captions(self) -> dict[str, str]:
        """Return for each field of the replies the name that a reader sees."""
        return {name: label(name) for reply in self.replies() for name in reply.model_fields}

    def replies(self) -> list[type[BaseModel]]:
        """Return the classes of the reply."""
        return [load(path) for path in self.reply]


@dataclass(frozen=True, kw_only=True)
class PhaseOrder:
    """Declare the order of a protocol's phases, by which a transcript is sorted.

    Phases that are not listed are sorted only by their steps, which then count through the whole node.
    """

    phases: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    """Phases that come after every pass."""
    beside_all: tuple[str, ...] = ()
    """Phases that nothing else at the node waits for."""
    beside_children: tuple[str, ...] = ()
    """Phases that run while the children of the node are debated."""
    beside: Mapping[str, str] = field(default_factory=dict[str, str])
    """By phase, another phase that runs at the same time."""

    inside: Mapping[str, PhaseOrder] = field(default_factory=dict[str, "PhaseOrder"])
    """The orders of the protocols that debate inside, the outer ones first."""

    def get_protocol_order(self, protocol: str) -> PhaseOrder:
        """Return the order of ``protocol``; "" is the run's own."""
        return self.inside.get(protocol, self)

    def place(self, phase: str, protocol: str = "") -> tuple[int, int]:
        """Return the key that sorts a phase of ``protocol`` within one pass at a node.

        At one node, a debate inside another one comes after the outer debate's phases, but before
        the outer debate's closing phases.
        """
        protocol_order = self.get_protocol_order(protocol)
        depth = [*self.inside].index(protocol) + 1 if protocol in self.inside else 0
        position = (
            protocol_order.phases.index(phase)
            if phase in protocol_order.phases
            else len(protocol_order.phases)
        )
        return depth, position


UNORDERED = PhaseOrder()
"""The order of a protocol that declares no order: by steps only."""


def jurors(judges: int, orders: Iterable[str] = ("",)) -> list[list[str]]:
    """Return the speakers' names in a jury: for each judge, its name in each order.

    Example: ``[["1", "1_swapped"], ["2", "2_swapped"]]``. A single judge has no number, and the
    first order no name.
    """
    orders = [*orders]
    numbers = [str(number) for number in range(1, judges + 1)] if judges > 1 else [""]
    return [["_".join(filter(None, (number, order))) for order in orders] for number in numbers]
