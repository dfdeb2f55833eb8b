"""Name the turns of a debate, and find the text of each.

Reports print the names; a person who contests a run gives one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dialectree.records import Call, Node, RunRecord, Turn
from dialectree.records.declared import DeclaredPhase


def labels(node: Node, take: int) -> dict[str, str]:
    """Return the label that each speaker defends, by ``Turn.speaker``.

    A speaker keeps the first label that it defends, because it may argue for another side later. The
    result is empty if two speakers have one label, because labels then do not distinguish them.
    """
    label_by_speaker: dict[str, str] = {}
    for turn in node.transcript:
        if turn.take == take and turn.label:
            label_by_speaker.setdefault(turn.speaker, turn.label)
    return label_by_speaker if len({*label_by_speaker.values()}) == len(label_by_speaker) else {}


def speaker(node: Node | None, speaking: Turn | Call) -> str:
    """Return the speaker's name at ``node``: the label that it defends, if any."""
    who = speaking.speaker
    return who if node is None else labels(node, speaking.take).get(who, who)


def name(node: Node, turn: Turn) -> str:
    """Return ``0.1/A2`` for A's turn in round 2 at node 0.1; ``0.1/A2@2`` in a second pass.

    ``0/member_1/2`` is a turn in round 2 of a speaker without a letter. ``0/a/revise`` names the
    phase, if the speaker spoke in several phases of a round.
    """
    spot = turn.role, turn.speaker, turn.round, turn.take
    phases = {t.phase for t in node.transcript if (t.role, t.speaker, t.round, t.take) == spot}
    stage = f"/{turn.phase}" if len(phases) > 1 else ""
    again = f"@{turn.take}" if turn.take > 1 else ""
    who, number = speaker(node, turn), turn.round or ""
    if who[:1].isdigit() and number:
        who, number = f"{turn.role}_{who}", f"/{number}"
    return f"{node.id}/{who}{number}{stage}{again}"


def find_declared_phase(record: RunRecord, turn: Turn) -> DeclaredPhase | None:
    """Return the declaration of the role and the phase of ``turn``."""
    return record.get_declaration(turn.protocol).phase(turn.role, turn.phase)


def editable(record: RunRecord, turn: Turn) -> DeclaredPhase | None:
    """Return the declaration of ``turn`` if a person may replace a text of it; else None, as for a split."""
    phase = find_declared_phase(record, turn)
    return phase if phase is not None and phase.editable else None


def text(record: RunRecord | None, turn: Turn) -> str:
    """Return the text of ``turn``: its declared text, or else the longest text in its reply."""
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


def find_contestable_name(record: RunRecord, node: Node, turn: Turn) -> str:
    """Return the name of ``turn`` if a person can contest it, else ""."""
    is_contestable = editable(record, turn) is not None and turn.speaker != "distractor"
    return name(node, turn) if is_contestable else ""
