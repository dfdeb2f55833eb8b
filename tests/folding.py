"""Folding as a run does it, whichever of our protocols the events are of."""

from __future__ import annotations

from collections.abc import Iterable

from dialectree import records
from dialectree.protocols.protocol import protocol
from dialectree.records import Call, Event, Tree, Verdict

ORDER = protocol("tsd").order.around([protocol(name).order for name in ("rsd", "art", "tod")])
"""Their phases, which do not contradict one another."""


def fold(events: Iterable[Event]) -> tuple[Tree, Verdict | None]:
    return records.fold(events, ORDER)


def critical_path(tree: Tree, calls: Iterable[Call]) -> int:
    return records.critical_path(tree, calls, ORDER)
