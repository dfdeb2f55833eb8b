"""Reads from the record of a role-switching debate where the right answer stood."""

from __future__ import annotations

from typing import Literal

from dialectree import chance
from dialectree.records import Node, RunRecord


def sides(record: RunRecord, gold: str | None) -> dict[str, object] | None:
    """Return who defended the gold answer, where the judge read it, and if the order swayed it.

    Of a knockout the last debate counts. None where there was no debate.
    """
    nodes = record.tree.nodes.values()
    debated = [n for n in nodes if any(turn.stage == "proposals" for turn in n.transcript)]
    options = record.input.get("options")
    if not debated or not isinstance(options, list):
        return None
    node = max(debated, key=lambda one: [int(part) for part in one.id.split(".")])
    labels = {
        turn.who: turn.label or turn.names
        for turn in node.transcript
        if turn.role == "debater" and turn.stage != "role_switch"
    }
    side = next((who for who, label in labels.items() if label and label == gold), None)
    return {
        "gold_side": side,
        "gold_position": None if side is None else _position(record, node, side),
        "flipped": _flipped(node),
    }


def _position(record: RunRecord, node: Node, side: str) -> Literal["first", "second"]:
    """Return where the judge read ``side``: a first, unless balanced candidates were swapped."""
    seed, question = record.settings.get("seed", 0), str(record.input["question"])
    balanced = record.settings.get("candidates") == "balanced"
    swapped = balanced and chance.coin(int(str(seed)), "first", node.id, question)
    return "first" if side == ("b" if swapped else "a") else "second"


def _flipped(node: Node) -> bool | None:
    """Return whether the rulings of the two orders differ; None where the judge ruled once."""
    labels = {
        turn.who: turn.fields.get("label")
        for turn in node.transcript
        if turn.role == "judge" and turn.stage == "judgment"
    }
    if not {"judge", "swapped"} <= labels.keys():
        return None
    return labels["judge"] != labels["swapped"]
