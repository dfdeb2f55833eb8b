"""Put into words what a record holds: its method, its tree, its speakers and its failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dialectree.protocols.look import Look, join_looks
from dialectree.protocols.protocol import VIEWS, load_protocols
from dialectree.records import Call, Failure, Node, RunRecord, Stance, Turn, turns
from dialectree.report.own_view import OwnView, find_own_view
from dialectree.text import count, format_list, label


def method(record: RunRecord) -> str:
    """Return the protocol's title, and the method if it is a variant."""
    of = record.get_declaration()
    if record.method == record.protocol:
        return of.title
    method_name = of.method or record.method.replace("_", " ")
    if method_name.startswith("without"):
        return f"{of.title} {method_name}"
    return f"{method_name[:1].upper()}{method_name[1:]} (compared with {of.title})"


def view_of(record: RunRecord) -> str:
    """Return the view that a run declares if the view is one of ours, else ``rounds``."""
    view = record.get_declaration().view
    return view if view in VIEWS else "rounds"


def look(record: RunRecord | None) -> Look:
    """Return what a run's protocols declare on the look of reports; the run's own protocol comes first."""
    declared = [] if record is None else record.declared.values()
    return join_looks(declaration.look for declaration in declared)


def caption(record: RunRecord | None, name: str) -> str:
    """Return the name of a field, a phase or a role for a reader, as the run's protocols declare it."""
    return look(record).captions.get(name) or label(name)


def settings_of(record: RunRecord) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and settings of each protocol of a run, the outer protocols first."""
    waiting: list[tuple[str, Any]] = [(record.protocol, record.settings)]
    while waiting:
        name, settings = waiting.pop(0)
        yield name, settings
        waiting += (settings.get("inner") or {}).items()


def weighers(record: RunRecord | None) -> set[str]:
    """Return the roles that score or compare. Their speakers do not face each other."""
    declared = [] if record is None else record.declared.values()
    return {phase.role for declaration in declared for phase in declaration.phases if phase.weighs}


def unit(record: RunRecord) -> str:
    """Return the noun for one node of the tree."""
    return record.get_declaration().unit


def own_view(record: RunRecord | None) -> OwnView | None:
    """Return the view that the run's protocol has for its own debates, or None.

    A run does not contain the code of a view: a protocol of the same name and title must be installed.
    """
    if record is None or (declared := record.get_declaration()).view in VIEWS:
        return None
    protocol = load_protocols().get(record.protocol)
    here = protocol is not None and protocol.title == declared.title
    return find_own_view(protocol.graph, declared.view) if protocol is not None and here else None


def compares(record: RunRecord) -> bool:
    """Return whether the run's outcome is a comparison, which has no confidence."""
    return record.get_declaration().outcome == "comparison"


def census(record: RunRecord) -> str:
    """Return the number of nodes by kind: ``7 questions``, ``1 claim and 4 arguments``."""
    nodes = record.tree.nodes.values()
    general = ("open", "branch", "leaf")
    kinds = Counter(
        unit(record) if node.kind in general else node.kind
        for node in nodes
        if node.kind != "knockout" and not node.dropped
    )
    parts = [count(number, kind) for kind, number in kinds.items()]
    return format_list(parts) or "nothing yet"


def heading(record: RunRecord) -> str:
    """Return the heading above the details of the nodes."""
    if view_of(record) == "arguments" and len(record.tree.nodes) > 1:
        return "Claim and arguments"
    if (protocol_view := own_view(record)) is not None:
        return protocol_view.heading(record)
    if len(record.tree.nodes) > 1:
        return "The debates"
    stages = {turn.phase for node in record.tree.nodes.values() for turn in node.transcript}
    return "The answers" if stages and stages <= {"direct", "answer"} else "The debate"


_STANCES: dict[Stance, str] = {"support": "supports", "attack": "attacks"}
_WAYS: dict[Stance, str] = {"support": "for", "attack": "against"}
_MARKS: dict[Stance, str] = {"support": "✓", "attack": "✗"}


def stance(side: Stance) -> str:
    """Return ``✓ supports`` or ``✗ attacks``, whose marks differ without colour."""
    return f"{_MARKS[side]} {_STANCES[side]}"


def describe_declined_side(side: Stance) -> str:
    """Say that one side has no (further) argument."""
    return f"The side {_WAYS[side]} declined: it has no (further) honest argument {_WAYS[side]} it."


def list_declined_sides(node: Node) -> list[Stance]:
    """Return the sides that have no (further) argument."""
    sides = node.data.get("declined")
    stances: tuple[Stance, Stance] = ("support", "attack")
    return [side for side in stances if isinstance(sides, dict) and side in sides]


_PAIR = re.compile(r"\d[\d.]*:\d[\d.]*")
"""Matches a speaker that is named after the two nodes that it compares: ``0.0:0.1``."""
_STOPS = {"max_depth": "the depth limit was reached", "failed": "the split failed"}


def why(record: RunRecord, stopped: str) -> str:
    """Return why expansion stopped at a node, in words."""
    return {**_STOPS, **look(record).stops}.get(stopped, stopped.replace("_", " "))


def speaker(speaking: Turn | Call, node: Node | None = None, record: RunRecord | None = None) -> str:
    """Return ``Leaf debater A``, ``Leaf judge``, ``Pairwise judge, 0.0 against 0.1``.

    A speaker who defends a label at ``node`` is called by that label.
    """
    role, who = caption(record, speaking.role), turns.speaker(node, speaking)
    if who == speaking.role:
        return role
    if _PAIR.fullmatch(who):
        return f"{role}, {who.replace(':', ' against ')}"
    judge, _, order = who.rpartition("_")
    if order == "swapped" and (judge.isdigit() or not judge):
        return f"{role} {judge}".strip() + ", reading the sides swapped"
    if who in look(record).purposes:
        return f"{role}, {label(who).lower()}"
    if speaking.phase == "direct":
        return f"Direct answer {who}"
    return f"{role} {who}"


def question(record: RunRecord) -> str:
    """Return the question of a run in the user's own words."""
    for name in ("question", "claim", "topic"):
        if isinstance(text := record.input.get(name), str):
            return text
    root = record.tree.nodes.get(record.tree.root)
    return root.text if root else record.run_id


def describe_failure(failure: Failure) -> str:
    """Return one failure in words."""
    who = f" {failure.speaker}" if failure.speaker not in ("", failure.role) else ""
    return f"{label(failure.role)}{who} failed: {failure.fault}"


def task(turn: Turn, record: RunRecord | None = None) -> str:
    """Return the task that a speaker was assigned: ``defends YES``."""
    if not turn.side or turn.side in _STANCES:
        return ""
    return f"defends {look(record).tasks.get(turn.side, turn.side)}"
