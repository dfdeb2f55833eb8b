"""What is kept of a debate: events as they happen, calls as they are paid, and the record of both.

The record is folded from the events (:func:`fold`) and the calls (:func:`usage`). Events have
stable ids, so folding one twice changes nothing, and a run that was broken off shows its tree.
"""

from __future__ import annotations

from dialectree.protocols.phases import OTHERS, UNORDERED, PhaseOrder
from dialectree.records.contest import (
    ARGUMENT,
    Contest,
    Moved,
    Override,
    OverrideKind,
)
from dialectree.records.folding import Folding, fold, path_key, segment_key
from dialectree.records.ledger import (
    VOID,
    Call,
    Usage,
    chains,
    critical_path,
    from_cache,
    prompts,
    seconds,
    usage,
)
from dialectree.records.place import Place, Strict, fitting
from dialectree.records.run import ILLUSTRATION, SCHEMA, Event, EventKind, RunRecord, RunStatus
from dialectree.records.topics import Claim, Letter, Position, Sentence, Topic, topic_of
from dialectree.records.tree import (
    Comparison,
    Failure,
    Found,
    Node,
    NodeStatus,
    Order,
    Retrieval,
    Segment,
    Stance,
    Tree,
    Turn,
    Verdict,
)

__all__ = [
    "ARGUMENT",
    "ILLUSTRATION",
    "OTHERS",
    "SCHEMA",
    "UNORDERED",
    "VOID",
    "Call",
    "Claim",
    "Comparison",
    "Contest",
    "Event",
    "EventKind",
    "Failure",
    "Folding",
    "Found",
    "Letter",
    "Moved",
    "Node",
    "NodeStatus",
    "Order",
    "Override",
    "OverrideKind",
    "PhaseOrder",
    "Place",
    "Position",
    "Retrieval",
    "RunRecord",
    "RunStatus",
    "Segment",
    "Sentence",
    "Stance",
    "Strict",
    "Topic",
    "Tree",
    "Turn",
    "Usage",
    "Verdict",
    "chains",
    "critical_path",
    "fitting",
    "fold",
    "from_cache",
    "path_key",
    "prompts",
    "seconds",
    "segment_key",
    "topic_of",
    "usage",
]
