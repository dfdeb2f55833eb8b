"""What is told of a debate as it happens."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from dialectree.records.strict import Strict

EventKind = Literal[
    "opened",  # a node came into being: text, parent, depth
    "spoke",  # a role replied: Turn
    "noted",  # the program remarks on a node: note
    "stopped",  # expansion stops here: why
    "branched",  # the node was split: children
    "asked",  # a person is asked: request
    "clarified",  # the person answered: text
    "failed",  # one part failed for good: role, fault
    "settled",  # the node has its verdict, or none: NodeVerdict or null, provenance
    "declined",  # a side has no honest argument: stance
    "scored",  # an argument's intrinsic strength: tau
    "compared",  # a supporter met an attacker: Comparison
    "weighed",  # what the maths makes of an argument: theta, blended, strength
    "retrieved",  # segments were found in a paper: Retrieval, and the segments
    "claimed",  # a persona's claims about a topic: paper, claims
    "countered",  # what the other paper has to say on a claim: claim, segments
    "debated",  # both sides' last word on a topic: positions
    "summarised",  # the comparison, sentence by sentence: sentences
    "contested",  # a person changed something here: change, and what it changes
    "concluded",  # the run has its verdict: Verdict
]


class Event(Strict):
    """One line of events.jsonl."""

    t: str
    run_id: str
    node: str
    kind: EventKind
    data: dict[str, JsonValue] = {}

    def same(self, other: Event) -> bool:
        """True when both say the same thing of the same node, whenever they said it."""
        return (self.node, self.kind, self.data) == (other.node, other.kind, other.data)
