"""Show an argument tree: stances, strengths and comparisons."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import JsonValue

from dialectree.protocols.look import Score
from dialectree.records import Comparison, Node, RunRecord
from dialectree.report import words
from dialectree.text import figure, label


class NodeFigure(NamedTuple):
    """One score of a node."""

    sign: str
    name: str
    value: float
    reckoned: bool = False
    """True if the score is computed from the scores before it."""
    outcome: bool = False
    """True if the score is the outcome of the whole tree."""


def weighs(node: Node) -> bool:
    """Return whether ``node`` is a claim or an argument."""
    return node.kind in ("claim", "argument")


def by_strength(record: RunRecord | None, node: Node) -> bool:
    """Return whether the outcome of ``node`` is its strength, not a verdict.

    A claim at a leaf of another protocol's tree has a verdict.
    """
    if node.kind != "claim":
        return node.kind == "argument"
    if record is None:
        return node.verdict is None or node.verdict.confidence == node.score("strength")
    one_of_several = node.verdict is None and node.score("strength") is not None
    return words.view_of(record) == "arguments" or one_of_several


def figures(record: RunRecord | None, node: Node) -> list[NodeFigure]:
    """Return the scores of ``node`` in the order in which they are computed."""
    declared = words.look(record).scores
    return [
        _figure(node, name, value, declared.get(name))
        for name, value in node.scores.items()
        if name not in declared or declared[name].beside in ("", *node.scores)
    ]


def _figure(node: Node, name: str, value: float, score: Score | None) -> NodeFigure:
    """Return a score with its declared sign and meaning. An undeclared score has its name as sign."""
    if score is None:
        return NodeFigure(label(name), "", value, reckoned=True)
    at_root = node.parent is None or node.kind == "claim"
    above = score.above if node.children else ""
    sign, meaning = score.sign, above or score.meaning
    if at_root and score.at_root is not None:
        sign, meaning = score.at_root
    return NodeFigure(sign, meaning, value, score.reckoned, at_root and score.reckoned)


def chain(record: RunRecord | None, node: Node) -> str:
    """Return ``τ 0.68, θ 0.50 → τ′ 0.59 → s 0.41``; empty without scores."""
    node_figures = figures(record, node)
    base_scores = ", ".join(f"{of.sign} {figure(of.value)}" for of in node_figures if not of.reckoned)
    reckoned = (f"{of.sign} {figure(of.value)}" for of in node_figures if of.reckoned)
    return " → ".join(part for part in (base_scores, *reckoned) if part)


def describe_missing_strength(node: Node) -> str:
    """Say that a node has no strength, or is not weighed yet."""
    return "no strength" if node.status == "missing" else "not weighed yet"


def standing(record: RunRecord | None, node: Node) -> str:
    """Return why an argument does not count for the claim; empty if it does."""
    if node.kind != "argument":
        return ""
    if out := _out(record, node):
        return out
    above = _parent(record, node)
    while above is not None and above.kind == "argument":
        if _out(record, above):
            return f"does not count: {above.id} above it does not"
        above = _parent(record, above)
    return ""


def remark(record: RunRecord | None, node: Node) -> str:
    """Return whether a person added an argument and, if it does not count, why."""
    added = "added by a person" if node.added else ""
    return "; ".join(part for part in (added, standing(record, node)) if part)


def _out(record: RunRecord | None, node: Node) -> str:
    """Return why an argument does not count, apart from the arguments above it; empty if it counts."""
    if node.dropped:
        return "dropped by a person"
    if node.status == "missing":
        return "left out: it has no strength"
    limit, weight = _setting(record, "prune_below"), node.score("blended")
    if isinstance(limit, int | float) and weight is not None and weight < limit:
        return f"pruned: its weight is below {limit:g}"
    return ""


def _setting(record: RunRecord | None, name: str) -> JsonValue:
    """Return a setting of the run, or else of a protocol inside the run; None if neither has it."""
    protocol_settings = words.settings_of(record) if record is not None else []
    return next((settings[name] for _, settings in protocol_settings if name in settings), None)


def _parent(record: RunRecord | None, node: Node) -> Node | None:
    """Return the parent of ``node``."""
    return record.tree.nodes.get(node.parent or "") if record is not None else None


def verb(winner: str, turned: bool = False) -> str:
    """Return ``beat``, ``lost to`` or ``tied with`` for the supporter; with ``turned``, for the attacker."""
    return {"support": _ENDS[turned], "attack": _ENDS[not turned]}.get(winner.lower(), "tied with")


_ENDS = ("beat", "lost to")
_CONTESTED = {
    "flipped": "flipped by a person; the judge had ruled the other way",
    "voided": "voided by a person: it does not count",
}


def remarks(node: Node, met: Comparison) -> list[str]:
    """Return remarks on a comparison: which argument was shown first, and what a person changed."""
    both = {c.order for c in node.comparisons} == {"support_first", "attack_first"}
    turned = met.order == "attack_first"
    first = [f"{_order_as_shown(met)[0]} shown first"] if both or turned else []
    return [*first, _CONTESTED[met.contested]] if met.contested else first


def _order_as_shown(met: Comparison) -> tuple[str, str]:
    """Return the ids of two arguments in the order in which the judge read them."""
    pair = met.supporter, met.attacker
    return pair if met.order == "support_first" else (met.attacker, met.supporter)


def edges(record: RunRecord | None, node: Node) -> list[str]:
    """Return how the comparisons of ``node`` ended: ``beat 0.0``, ``tied with 0.2 / lost to 0.2``."""
    above = _parent(record, node)
    ends: dict[str, list[str]] = {}
    for met in above.comparisons if above is not None else []:
        if node.id in (met.supporter, met.attacker):
            turned = node.id != met.supporter
            mark = f" ({met.contested})" if met.contested else ""
            opponent = met.supporter if turned else met.attacker
            ends.setdefault(opponent, []).append(f"{verb(met.winner, turned)} {opponent}{mark}")
    return [" / ".join(dict.fromkeys(texts)) for texts in ends.values()]


def roots(record: RunRecord) -> list[Node]:
    """Return the claims at the roots of an ensemble's trees; empty for a single tree."""
    root = record.tree.nodes.get(record.tree.root)
    below = [record.tree.nodes[i] for i in root.children if i in record.tree.nodes] if root else []
    return [node for node in below if node.kind == "claim" and root and root.kind == "claim"]


def reckoning(record: RunRecord) -> list[str]:
    """Return how the strengths in the tree were computed, in the words of its protocol."""
    nodes, look = record.tree.nodes.values(), words.look(record)
    if not any(node.kind == "argument" or (node.parent and node.scores) for node in nodes):
        return []
    return [*look.weighing, *(look.comparing if any(tree_node.comparisons for tree_node in nodes) else ())]


def signs(record: RunRecord) -> str:
    """Return what the signs of the scores mean; empty if no node has the first declared score."""
    look = words.look(record)
    first = next(iter(look.scores), "")
    return look.signs if any(first in node.scores for node in record.tree.nodes.values()) else ""
