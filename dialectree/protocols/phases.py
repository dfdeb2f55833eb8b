"""Sort the phases of a node's transcript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

OTHERS = "*"
"""Among ``PhaseOrder.phases``: the phases of another protocol that settles the leaves."""


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

    def place(self, phase: str) -> tuple[bool, int]:
        """Return the key that sorts ``phase`` within one node."""
        known = self.phases.index(phase) if phase in self.phases else len(self.phases)
        return phase in self.closing, known

    def around(self, leaves: Sequence[PhaseOrder]) -> PhaseOrder:
        """Return this order with those of ``leaves`` in the place of ``OTHERS``."""
        if OTHERS not in self.phases:
            return self
        at = self.phases.index(OTHERS)
        inner = [phase for order in leaves for phase in order.phases if phase not in self.phases]
        return replace(
            self,
            phases=(*self.phases[:at], *inner, *self.phases[at + 1 :]),
            beside_all=(*self.beside_all, *(p for one in leaves for p in one.beside_all)),
            beside_children=(
                *self.beside_children,
                *(p for one in leaves for p in one.beside_children),
            ),
        )


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
