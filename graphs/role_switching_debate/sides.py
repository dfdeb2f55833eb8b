"""Reads from the record of a role-switching debate where the right answer stood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dialectree import chance
from dialectree.nodes.answers import match_candidate
from dialectree.nodes.role_switching_debate.candidates import labelled, texts
from dialectree.records import Node, RunRecord

Side = Literal["a", "b"]


def sides(record: RunRecord, gold: str | None) -> dict[str, object] | None:
    """Return who held the gold answer, where the judge read it, and whether the order swayed it.

    Of a knockout the last debate counts. None where there was no debate.
    """
    nodes = record.tree.nodes.values()
    debated = [n for n in nodes if any(turn.stage == "proposals" for turn in n.transcript)]
    options = record.input.get("options")
    if not debated or not isinstance(options, list):
        return None
    node = max(debated, key=lambda one: [int(part) for part in one.id.split(".")])
    labels = _labels(node, texts(labelled([str(option) for option in options])))
    side: Side | None = next((s for s, label in labels.items() if label == gold), None)
    return {
        "gold_side": side,
        "gold_position": None if side is None else _position(record, node, side),
        "flipped": _flipped(node),
    }


def _labels(node: Node, options: Mapping[str, str]) -> dict[Side, str | None]:
    """Return the option that each debater defended in the end."""
    labels: dict[Side, str | None] = {}
    for turn in node.transcript:
        if turn.stage == "role_switch" or turn.who not in ("a", "b"):
            continue
        side: Side = "a" if turn.who == "a" else "b"
        answer = turn.side or turn.fields.get("answer")
        if turn.label in options:  # a long answer is shortened in ``turn.side``
            labels[side] = turn.label
        elif isinstance(answer, str):
            labels[side] = match_candidate(answer, options)
    return labels


def _position(record: RunRecord, node: Node, side: Side) -> Literal["first", "second"]:
    """Side a's words come first, unless the draw of balanced candidates swapped them."""
    seed, question = record.settings.get("seed", 0), str(record.input["question"])
    balanced = record.settings.get("candidates") == "balanced"
    swapped = balanced and chance.coin(int(str(seed)), "first", node.id, question)
    return "first" if side == ("b" if swapped else "a") else "second"


def _flipped(node: Node) -> bool | None:
    """Return whether the rulings of the two orders differ; None where the judge ruled once."""
    ruled = {
        turn.who: turn.fields.get("label")
        for turn in node.transcript
        if turn.role == "judge" and turn.stage == "judgment"
    }
    return ruled["judge"] != ruled["swapped"] if {"judge", "swapped"} <= ruled.keys() else None
