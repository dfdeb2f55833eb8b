"""Keep a debate: events as they happen, calls as they are paid, and the record made from both.

The record is computed from the events (:func:`fold`) and the calls (:func:`usage`). Events have
stable ids, so folding an event twice has no effect, and an interrupted run still shows its tree.
"""

from __future__ import annotations

from dialectree.protocols.phases import UNORDERED as UNORDERED
from dialectree.protocols.phases import PhaseOrder as PhaseOrder
from dialectree.records.contest import ARGUMENT as ARGUMENT
from dialectree.records.contest import Contest as Contest
from dialectree.records.contest import Moved as Moved
from dialectree.records.contest import Override as Override
from dialectree.records.contest import OverrideKind as OverrideKind
from dialectree.records.folding import Folded as Folded
from dialectree.records.folding import Folding as Folding
from dialectree.records.folding import fold as fold
from dialectree.records.folding import fold_run as fold_run
from dialectree.records.folding import path_key as path_key
from dialectree.records.folding import segment_key as segment_key
from dialectree.records.ledger import VOID as VOID
from dialectree.records.ledger import Call as Call
from dialectree.records.ledger import Called as Called
from dialectree.records.ledger import Sent as Sent
from dialectree.records.ledger import Usage as Usage
from dialectree.records.ledger import chains as chains
from dialectree.records.ledger import critical_path as critical_path
from dialectree.records.ledger import from_cache as from_cache
from dialectree.records.ledger import models as models
from dialectree.records.ledger import own_calls as own_calls
from dialectree.records.ledger import prompts as prompts
from dialectree.records.ledger import seconds as seconds
from dialectree.records.ledger import usage as usage
from dialectree.records.place import Place as Place
from dialectree.records.place import Strict as Strict
from dialectree.records.run import ILLUSTRATION as ILLUSTRATION
from dialectree.records.run import SCHEMA as SCHEMA
from dialectree.records.run import UNFINISHED as UNFINISHED
from dialectree.records.run import Evaluated as Evaluated
from dialectree.records.run import Event as Event
from dialectree.records.run import EventKind as EventKind
from dialectree.records.run import RunRecord as RunRecord
from dialectree.records.run import RunStatus as RunStatus
from dialectree.records.summary import RunSummary as RunSummary
from dialectree.records.tree import Calibrated as Calibrated
from dialectree.records.tree import Comparison as Comparison
from dialectree.records.tree import Failure as Failure
from dialectree.records.tree import Found as Found
from dialectree.records.tree import Mark as Mark
from dialectree.records.tree import Node as Node
from dialectree.records.tree import NodeStatus as NodeStatus
from dialectree.records.tree import Order as Order
from dialectree.records.tree import Retrieval as Retrieval
from dialectree.records.tree import Segment as Segment
from dialectree.records.tree import Stance as Stance
from dialectree.records.tree import Tree as Tree
from dialectree.records.tree import Turn as Turn
from dialectree.records.tree import Verdict as Verdict
