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
"""The rationale of a ruling that a person gave."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Declare the reply of one role in one phase, and what a person may change of it."""

    role: str
    name: str = ""
    """The phase; without one: all phases in which the role speaks."""
    reply: tuple[str, ...]
    """The classes of the reply (``module:attribute``); the one whose fields a turn has counts."""
    editable: tuple[str, ...] = ()
    """The fields that can be replaced; the first one is the text by which the turn is known."""
    switches: tuple[str, ...] = ()
    """The fields that can be set to yes or no."""
    optional: bool = False
    """True where the debate can do without the turn, as where its speaker fails for good."""
    withdrawn: Mapping[str, Any] | None = None
    """What a turn says that a person dropped, where the debate cannot do without one."""
    ruling: Callable[[str], dict[str, Any]] | None = None
    """What the reply says that makes a person's text the verdict; only of a role that rules."""
    labels: Callable[[Any], Collection[str]] | None = None
    """Only of a role that rules by the label of a candidate, which a person gives then: returns the
    labels that it may name besides with these settings."""
    judges: Callable[[Any], Sequence[Sequence[str]]] | None = None
    """Returns who rules with these settings: the speakers' names of each judge of a jury, one for
    each order (:func:`jurors`). A ruling of one of several can be dropped, and the others count."""
    settles: bool = False
    """True where the turn may settle its node without a ruling, as in a vote before the debate. A
    person need not rule again where only such turns were changed."""
    score: Callable[[float], dict[str, Any]] | None = None
    """What the reply says that gives its node a strength; only of a role that scores."""
    scored: str = "strength"
    """The name that the node's score has then."""
    winner: Callable[[str], dict[str, Any]] | None = None
    """What the reply says that lets one of ``winners`` win; only of a role that compares. The
    speaker's name is the ids of the two in the order in which they are shown: ``0.0:0.1``."""
    winners: tuple[str, ...] = ()
    """The two that can win a comparison."""
    inserts: bool = False
    """True where the reply is arguments, and the protocol's nodes take up those that a person
    inserts (``run_of(runtime).overrides.list_insertions``)."""

    @cached_property
    def captions(self) -> dict[str, str]:
        """The names of the fields of its replies, each as a reader sees it."""
        return {name: label(name) for reply in self.replies() for name in reply.model_fields}

    def replies(self) -> list[type[BaseModel]]:
        """Return the classes of the reply."""
        return [load(path) for path in self.reply]


@dataclass(frozen=True, kw_only=True)
class PhaseOrder:
    """Declare the order of a protocol's phases, by which a transcript is sorted.

    A phase that is not named sorts by its steps alone: they count through the whole node then.
    """

    phases: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    """Those that come after every pass."""
    beside_all: tuple[str, ...] = ()
    """Those that nothing else at the node waits for."""
    beside_children: tuple[str, ...] = ()
    """Those that go on while the children of the node are debated."""
    beside: Mapping[str, str] = field(default_factory=dict[str, str])
    """By phase, another one that goes on at the same time."""

    inside: Mapping[str, PhaseOrder] = field(default_factory=dict[str, "PhaseOrder"])
    """The orders of the protocols that debate inside, the outer ones first."""

    def get_protocol_order(self, protocol: str) -> PhaseOrder:
        """Return the order of ``protocol``; "" is the run's own."""
        return self.inside.get(protocol, self)

    def place(self, phase: str, protocol: str = "") -> tuple[int, int]:
        """Return the key that sorts a phase of ``protocol`` within one pass at a node.

        A debate inside another one comes after what the outer one says at the same node, but for
        the outer one's closing phases.
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
"""The order of a protocol that declares none: steps alone."""


def jurors(judges: int, orders: Iterable[str] = ("",)) -> list[list[str]]:
    """Return who rules in a jury, a list for each judge: its name in each of the orders.

    ``[["1", "1_swapped"], ["2", "2_swapped"]]``. A judge alone has no number, the first order no
    name.
    """
    orders = [*orders]
    numbers = [str(number) for number in range(1, judges + 1)] if judges > 1 else [""]
    return [["_".join(filter(None, (number, order))) for order in orders] for number in numbers]
