"""Sort the phases of a node's transcript."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


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

    inside: Mapping[str, PhaseOrder] = field(default_factory=dict[str, "PhaseOrder"])
    """The orders of the protocols that debate inside, the outer ones first."""

    def of(self, protocol: str) -> PhaseOrder:
        """Return the order of ``protocol``; "" is the run's own."""
        return self.inside.get(protocol, self)

    def place(self, phase: str, protocol: str = "") -> tuple[int, int]:
        """Return the key that sorts a phase of ``protocol`` within one pass at a node.

        A debate inside another one comes after what the outer one says at the same node, but for
        the outer one's closing phases.
        """
        own = self.of(protocol)
        depth = [*self.inside].index(protocol) + 1 if protocol in self.inside else 0
        known = own.phases.index(phase) if phase in own.phases else len(own.phases)
        return depth, known


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
