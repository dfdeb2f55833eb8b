"""The turns of a debate by name, and which of a turn's words are its text.

Whoever shows a run prints the names; whoever contests it says one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dialectree.protocols.protocol import Phase, installed
from dialectree.records import Call, Node, RunRecord, Turn

_BY_STAGE = ("persona",)
"""Roles whose turns are told apart by their stage."""


def labels(node: Node, take: int) -> dict[str, str]:
    """Return the label that each debater of a role-switching debate defends, by ``Turn.speaker``.

    Empty where both proposed the same and no debate came of it: then no label tells them apart.
    """
    found = {
        turn.speaker: turn.label or turn.names
        for turn in node.transcript
        if turn.role == "debater" and turn.take == take and turn.phase != "role_switch"
    }
    known = {who: label for who, label in found.items() if label}
    return known if len({*known.values()}) == len(known) else {}


def speaker(node: Node | None, speaking: Turn | Call) -> str:
    """Return the name of who speaks at ``node``; a debater is called by the label it defends."""
    who = speaking.speaker
    if node is None or speaking.role != "debater":
        return who
    return labels(node, speaking.take).get(who, who)


def name(node: Node, turn: Turn) -> str:
    """``0.1/A2``: what debater A said in round 2 at node 0.1; ``0.1/A2@2``: in a second pass.

    ``0/member_1/2``: what a speaker without a letter of its own said in round 2.
    """
    stage = f"/{turn.phase}" if turn.role in _BY_STAGE else ""
    again = f"@{turn.take}" if turn.take > 1 else ""
    who, number = speaker(node, turn), turn.round or ""
    if who.isdigit() and number:
        who, number = f"{turn.role}_{who}", f"/{number}"
    return f"{node.id}/{who}{number}{stage}{again}"


def declared(record: RunRecord, turn: Turn) -> Phase | None:
    """Return what is declared of the role and the phase of ``turn``."""
    protocol = installed().get(turn.protocol or record.protocol)
    return protocol.phase(turn.role, turn.phase) if protocol else None


def editable(record: RunRecord, turn: Turn) -> Phase | None:
    """Return what may be changed of ``turn``; None where its reply is no text, such as a split."""
    phase = declared(record, turn)
    return phase if phase is not None and phase.editable else None


def text(record: RunRecord | None, turn: Turn) -> str:
    """Return the words of ``turn``: its declared text, or else the longest text in its reply."""
    phase = editable(record, turn) if record is not None else None
    words = turn.fields.get(phase.editable[0]) if phase is not None else None
    if isinstance(words, str) and words.strip():
        return words
    return max(_texts(turn.fields), key=len, default="")


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a reply."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def printed(record: RunRecord, node: Node, turn: Turn) -> str:
    """Return the name of ``turn`` where a person can contest it; else nothing."""
    known = editable(record, turn) is not None and turn.speaker != "distractor"
    return name(node, turn) if known else ""
