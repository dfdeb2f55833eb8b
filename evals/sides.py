"""Where the right answer stood in a role-switching debate, read from its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dialectree import chance
from dialectree.evals.results import Sides
from dialectree.nodes.answers import match_candidate
from dialectree.nodes.role_switching_debate.candidates import labelled, texts
from dialectree.records import Node, RunRecord

DEBATES = ("rsd", "no_role_switch", "no_uncertainty", "basic")
Side = Literal["a", "b"]


def sides(record: RunRecord, gold: str | None) -> Sides | None:
    """Who held the gold answer, where the judge read it, and whether the order swayed the judge.

    Of a knockout the last debate counts. None where there was no debate.
    """
    debated = [node for node in record.tree.nodes.values() if _spoken(node, "proposals")]
    options = record.input.get("options")
    if record.method not in DEBATES or not debated or not isinstance(options, list):
        return None
    node = max(debated, key=lambda one: [int(part) for part in one.id.split(".")])
    known = texts(labelled([str(option) for option in options]))
    held = _held(node, known)
    side: Side | None = next((s for s, label in held.items() if label == gold), None)
    return Sides(
        gold_side=side,
        gold_position=None if side is None else _position(record, node, side),
        flipped=_flipped(node),
    )


def _spoken(node: Node, stage: str) -> bool:
    return any(turn.stage == stage for turn in node.transcript)


def _held(node: Node, options: Mapping[str, str]) -> dict[Side, str | None]:
    """The option that each debater defended in the end; who proposes again holds the last one."""
    held: dict[Side, str | None] = {}
    for turn in node.transcript:
        if turn.stage == "role_switch" or turn.who not in ("a", "b"):
            continue
        side: Side = "a" if turn.who == "a" else "b"
        answer = turn.side or turn.fields.get("answer")
        if turn.label in options:  # a long answer is shortened in ``turn.side``
            held[side] = turn.label
        elif isinstance(answer, str):
            held[side] = match_candidate(answer, options)
    return held


def _position(record: RunRecord, node: Node, side: Side) -> Literal["first", "second"]:
    """Side a's words come first, unless the draw of balanced candidates said otherwise."""
    seed, question = record.settings.get("seed", 0), str(record.input["question"])
    balanced = record.settings.get("candidates") == "balanced"
    swapped = balanced and chance.coin(int(str(seed)), "first", node.id, question)
    return "first" if side == ("b" if swapped else "a") else "second"


def _flipped(node: Node) -> bool | None:
    """Whether the last rulings of the two orders differ."""
    ruled = {
        turn.who: turn.fields.get("label")
        for turn in node.transcript
        if turn.role == "judge" and turn.stage == "judgment"
    }
    return ruled["judge"] != ruled["swapped"] if {"judge", "swapped"} <= ruled.keys() else None
