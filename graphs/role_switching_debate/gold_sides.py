"""Read the side and place of the right answer from a role-switching debate, for evaluations."""

from __future__ import annotations

from dialectree.nodes.role_switching_debate.state import SWAPPED
from dialectree.records import RunRecord, path_key
from dialectree.system import chance


def sides(record: RunRecord, gold: str | None) -> dict[str, object] | None:
    """Return the gold answer's side and its place for the judge, and if the order swayed a judge.

    In a knockout, only the last debate counts. The judge reads side a first, unless balanced
    candidates were swapped. Return None for a run without a debate.
    """
    nodes = record.tree.nodes.values()
    opened = ("proposals", "rounds")
    debated = [n for n in nodes if any(turn.phase in opened for turn in n.transcript)]
    if not debated or not isinstance(record.input.get("options"), list):
        return None
    node = max(debated, key=lambda debated_node: path_key(debated_node.id))
    labels = {
        turn.speaker: turn.label or turn.names
        for turn in node.transcript
        if turn.role == "debater" and turn.phase != "role_switch"
    }
    side = next((who for who, label in labels.items() if label and label == gold), None)
    draw = int(str(record.settings.get("seed", 0))), "first", node.id, str(record.input["question"])
    swapped = record.settings.get("candidates") == "balanced" and chance.coin(*draw)
    place = ("first" if side == ("b" if swapped else "a") else "second") if side else None
    in_rounds = any(turn.phase == "rounds" for turn in node.transcript)
    judged = [t for t in node.transcript if t.role == "judge" and t.phase in ("judgment", "weighing")]
    rulings: dict[str, dict[str, str]] = {}
    for turn in judged:
        who = turn.name.removesuffix(SWAPPED).rstrip("_")
        rulings.setdefault(who, {})[turn.speaker] = str(turn.fields.get("label"))
    in_two_orders = [{*labels.values()} for labels in rulings.values() if len(labels) > 1]
    flipped = any(len(labels) > 1 for labels in in_two_orders) if in_two_orders else None
    return {
        "gold_side": side,
        "gold_position": None if in_rounds else place,  # in rounds each judge reads both orders
        "flipped": flipped,
    }
