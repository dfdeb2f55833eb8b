"""One event of a debate: one schema for terminal, web page and progress elsewhere."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from dialectree.records.strict import Strict
from dialectree.records.tree import Turn

EventKind = Literal[
    "opened",  # a node came into being: text, parent, depth, kind, stance, data
    "spoke",  # a role replied: Turn, without its node
    "scored",  # numbers of a node: scores by name, None for one that it has not
    "compared",  # a supporter met an attacker: Comparison
    "retrieved",  # segments were found in a paper: Retrieval, and the segments
    "branched",  # the node was split into children, or was not and why: children, kind, why
    "settled",  # the node has its verdict, or none: Verdict or null, provenance, status, data
    "noted",  # the program remarks on a node: note, data
    "failed",  # one part failed for good: role, speaker, fault
    "asked",  # a person is asked: note
    "answered",  # the person answered: note, answer
    "contested",  # a person changed something here: change, dropped, added
    "concluded",  # the run has its verdict: Verdict
]


class Event(Strict):
    """One line of events.jsonl."""

    t: str
    run_id: str
    node: str
    kind: EventKind
    data: dict[str, JsonValue] = {}

    def turn(self) -> Turn:
        """Return the turn that a ``spoke`` event tells of."""
        return Turn.model_validate({**self.data, "node": self.node})

    def same(self, other: Event) -> bool:
        """Return whether both say the same of the same node, at whatever time."""
        return (self.node, self.kind, self.data) == (other.node, other.kind, other.data)
