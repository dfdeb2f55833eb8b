"""Show an argument tree: stances, strengths and comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from unicodedata import lookup

from pydantic import JsonValue

from dialectree.protocols.protocol import installed
from dialectree.records import Comparison, Node, RunRecord
from dialectree.report import words
from dialectree.text import figure, label

_SEMANTICS = {
    "dfquad": "DF-QuAD",
    "quadratic_energy": "quadratic energy",
    "euler": "Euler-based",
}
_ROOTS = {
    "neutral": "a claim starts at 0.5 (neutral)",
    "estimated": "a claim starts at its estimated strength",
}
_RULES = {"win_rate": "θ is a mean win rate", "bradley_terry": "θ is a Bradley-Terry fit"}
_TIES = {"ignore": "a tie does not count", "half": "a tie counts half for each"}


SIGNS = (
    "τ: how strong an argument is by itself; θ: what its comparisons make of it; "
    "τ′: both blended, θ by the weight λ; s: its strength with the arguments below it; "
    "P: the probability of the claim."
)


class Figure(NamedTuple):
    """One strength of an argument."""

    sign: str
    name: str
    value: float


def weighs(node: Node) -> bool:
    """Return whether ``node`` is a claim or an argument."""
    return node.kind in ("claim", "argument")


def by_strength(record: RunRecord | None, node: Node) -> bool:
    """Return whether the strength of ``node`` is its outcome.

    A claim at a leaf of another tree has a verdict of its own.
    """
    if node.kind != "claim":
        return node.kind == "argument"
    if record is None:
        return node.verdict is None or node.verdict.confidence == node.score("strength")
    one_of_several = node.verdict is None and node.score("strength") is not None
    return words.outcome_of(record) == "probability" or one_of_several


def figures(node: Node) -> list[Figure]:
    """Return the strengths of ``node`` in the order in which they are reckoned."""
    claim = node.kind == "claim"
    below = "with the arguments below it" if node.children else "in the end"
    named = {
        "theta": ("θ", "from its comparisons"),
        "blended": ("τ′", "τ and θ blended"),
        "strength": ("P", "the claim is true") if claim else ("s", below),
    }
    itself = "before any argument" if claim else "by itself"
    return [
        Figure(*named.get(name, (_sign(name), itself)), value)
        for name, value in node.scores.items()
        if name != "blended" or "theta" in node.scores
    ]


def _sign(name: str) -> str:
    """Return the Greek letter of that name, or the name."""
    try:
        return lookup(f"Greek small letter {name}")
    except KeyError:
        return label(name)


def chain(node: Node) -> str:
    """``τ 0.68, θ 0.50 → τ′ 0.59 → s 0.41``; empty without strengths."""
    shown = {of.sign: f"{of.sign} {figure(of.value)}" for of in figures(node)}
    own = [shown.pop(sign) for sign in [*shown] if sign not in ("τ′", "s", "P")]
    return " → ".join(part for part in (", ".join(own), *shown.values()) if part)


def unweighed(node: Node) -> str:
    """Say that a node has no strength, or none yet."""
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
    """Return whether a person added an argument, and why it does not count."""
    added = "added by a person" if node.added else ""
    return "; ".join(part for part in (added, standing(record, node)) if part)


def _out(record: RunRecord | None, node: Node) -> str:
    """Return why an argument itself does not count; empty if it does."""
    if node.dropped:
        return "dropped by a person"
    if node.status == "missing":
        return "left out: it has no strength"
    limit, weight = _settings(record).get("prune_below"), node.score("blended")
    if isinstance(limit, int | float) and weight is not None and weight < limit:
        return f"pruned: its weight is below {limit:g}"
    return ""


def _settings(record: RunRecord | None) -> Mapping[str, JsonValue]:
    """Return the settings of the argument tree, which may settle the leaves of another tree."""
    own = record.settings if record is not None else {}
    leaf = own.get("leaf")
    return leaf if isinstance(leaf, dict) else own


def _parent(record: RunRecord | None, node: Node) -> Node | None:
    """Return the parent of ``node``."""
    return record.tree.nodes.get(node.parent or "") if record is not None else None


def verb(winner: str, turned: bool = False) -> str:
    """Return how a comparison ended for the supporter, or ``turned``, for the attacker."""
    return {"support": _ENDS[turned], "attack": _ENDS[not turned]}.get(winner.lower(), "tied with")


_ENDS = ("beat", "lost to")
_CONTESTED = {
    "flipped": "flipped by a person; the judge had ruled the other way",
    "voided": "voided by a person: it does not count",
}


def remarks(node: Node, met: Comparison) -> list[str]:
    """Return which of two arguments was shown first, and what a person changed."""
    both = {c.order for c in node.comparisons} == {"support_first", "attack_first"}
    turned = met.order == "attack_first"
    first = [f"{_shown(met)[0]} shown first"] if both or turned else []
    return [*first, _CONTESTED[met.contested]] if met.contested else first


def rationale(node: Node, met: Comparison) -> str:
    """Return the judge's rationale. Its turn names both ids, the first shown in front."""
    said = (turn for turn in node.transcript if turn.speaker == ":".join(_shown(met)))
    return next((str(turn.fields.get("rationale") or "") for turn in said), "")


def _shown(met: Comparison) -> tuple[str, str]:
    """Return the ids of two arguments in the order in which the judge read them."""
    pair = met.supporter, met.attacker
    return pair if met.order == "support_first" else (met.attacker, met.supporter)


def edges(record: RunRecord | None, node: Node) -> list[str]:
    """``beat 0.0``, ``tied with 0.2 / lost to 0.2``: how the comparisons of ``node`` ended."""
    above = _parent(record, node)
    ends: dict[str, list[str]] = {}
    for met in above.comparisons if above is not None else []:
        if node.id in (met.supporter, met.attacker):
            turned = node.id != met.supporter
            mark = f" ({met.contested})" if met.contested else ""
            other = met.supporter if turned else met.attacker
            ends.setdefault(other, []).append(f"{verb(met.winner, turned)} {other}{mark}")
    return [" / ".join(dict.fromkeys(texts)) for texts in ends.values()]


def roots(record: RunRecord) -> list[Node]:
    """Return the claims at the roots of an ensemble's trees; none for a single tree."""
    root = record.tree.nodes.get(record.tree.root)
    below = [record.tree.nodes[i] for i in root.children if i in record.tree.nodes] if root else []
    return [node for node in below if node.kind == "claim" and root and root.kind == "claim"]


def reckoning(record: RunRecord) -> list[str]:
    """Return how the tree was weighed: semantics, lambda and other settings."""
    if not any(node.kind == "argument" for node in record.tree.nodes.values()):
        return []
    get = _settings(record).get
    blend = get("blend") if _reads(record, "blend") else 0.0
    parts: list[str] = []
    if isinstance(semantics := get("semantics"), str):
        parts.append(f"{_SEMANTICS.get(semantics, semantics)} semantics")
    if isinstance(blend, int | float):
        parts.append(f"λ = {blend:g}{_BLENDS.get(float(blend), '')}")
    parts.append(_ROOTS.get(str(get("root_strength")), ""))
    if any(node.comparisons for node in record.tree.nodes.values()):
        rule = str(get("strength_rule", "bradley_terry"))
        parts.append(_RULES.get(rule, ""))
        parts.append(_TIES.get("half" if rule == "win_rate" else str(get("ties")), ""))
    if isinstance(limit := get("prune_below"), int | float):
        parts.append(f"arguments below {limit:g} are pruned")
    return [part for part in parts if part]


def _reads(record: RunRecord, setting: str) -> bool:
    """Return whether the method of ``record`` reads a setting, by its declaration."""
    declared = installed().get(record.protocol)
    method = declared.methods().get(record.method) if declared else None
    own = declared.own_settings() if declared else ()
    return method is None or setting not in own or setting in method.reads()


_BLENDS = {0.0: " (comparisons do not count)", 1.0: " (comparisons alone count)"}
