"""Folding as a run does it, whichever of our protocols the events are of."""

from __future__ import annotations

from collections.abc import Iterable

from dialectree import records
from dialectree.protocols.protocol import protocol
from dialectree.records import Call, Event, PhaseOrder, Tree, Verdict

_ALL = [protocol(name).order for name in ("rsd", "art", "tod", "tsd")]


def _every(part: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phase for one in _ALL for phase in getattr(one, part)))


ORDER = PhaseOrder(
    phases=_every("phases"),
    closing=_every("closing"),
    beside_all=_every("beside_all"),
    beside_children=_every("beside_children"),
)
"""The orders of all our protocols in one, for events that do not name theirs."""


def fold(events: Iterable[Event]) -> tuple[Tree, Verdict | None]:
    return records.fold(events, ORDER)


def critical_path(tree: Tree, calls: Iterable[Call]) -> int:
    return records.critical_path(tree, calls, ORDER)
