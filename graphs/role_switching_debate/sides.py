"""Reads from the record of a role-switching debate where the right answer stood."""

from __future__ import annotations

from dialectree.records import Node, RunRecord, path_key
from dialectree.system import chance


def sides(record: RunRecord, gold: str | None) -> dict[str, object] | None:
    """Return who defended the gold answer, where the judge read it, and if the order swayed it.

    Of a knockout the last debate counts. None where there was no debate.
    """
    nodes = record.tree.nodes.values()
    debated = [n for n in nodes if any(turn.phase == "proposals" for turn in n.transcript)]
    options = record.input.get("options")
    if not debated or not isinstance(options, list):
        return None
    node = max(debated, key=lambda one: path_key(one.id))
    labels = {
        turn.speaker: turn.label or turn.names
        for turn in node.transcript
        if turn.role == "debater" and turn.phase != "role_switch"
    }
    side = next((who for who, label in labels.items() if label and label == gold), None)
    place = ("first" if side == _read_first(record, node) else "second") if side else None
    return {"gold_side": side, "gold_position": place, "flipped": _flipped(node)}


def _read_first(record: RunRecord, node: Node) -> str:
    """Return whom the judge read first: a, unless balanced candidates were swapped."""
    seed, question = record.settings.get("seed", 0), str(record.input["question"])
    balanced = record.settings.get("candidates") == "balanced"
    return "b" if balanced and chance.coin(int(str(seed)), "first", node.id, question) else "a"


def _flipped(node: Node) -> bool | None:
    """Return whether the rulings of the two orders differ; None where the judge ruled once."""
    labels = {
        turn.speaker: str(turn.fields.get("label"))
        for turn in node.transcript
        if turn.role == "judge" and turn.phase == "judgment"
    }
    return len({*labels.values()}) > 1 if len(labels) > 1 else None
