"""Folding as a run does it, whichever of our protocols the events are of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dialectree import records
from dialectree.protocols.protocol import protocol
from dialectree.records import Call, Event, Tree, Verdict

ORDER = replace(protocol("tsd").order, inside={n: protocol(n).order for n in ("rsd", "art", "tod")})
"""The orders of all our protocols, as if they debated inside TSD."""


def fold(events: Iterable[Event]) -> tuple[Tree, Verdict | None]:
    return records.fold(events, ORDER)


def critical_path(tree: Tree, calls: Iterable[Call]) -> int:
    return records.critical_path(tree, calls, ORDER)
