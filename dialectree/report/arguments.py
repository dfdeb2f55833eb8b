"""An argument tree as it is read: who stands for what, how strong, and who beat whom."""

from __future__ import annotations

from typing import NamedTuple

from dialectree.records import Comparison, Contest, Node, RunRecord
from dialectree.report import words

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
_TIES = {"ignore": "a tie counts for nobody", "half": "a tie counts half for each"}


class Figure(NamedTuple):
    """One strength of an argument."""

    sign: str
    name: str
    value: float


class Meeting(NamedTuple):
    """A supporter and an attacker before the pairwise judge."""

    supporter: str
    attacker: str
    verb: str
    """What the supporter did: beat, lost to, tied with."""
    remarks: list[str]
    """Which was shown first; what a person made of it."""
    voided: bool
    """Whether it counts for nobody."""
    rationale: str


class Moved(NamedTuple):
    """How the figure of a node moved when a run was contested."""

    node: str
    text: str
    before: float | None
    after: float | None


def weighs(node: Node) -> bool:
    """True for a claim or an argument."""
    return node.kind in ("claim", "argument")


def by_strength(record: RunRecord | None, node: Node) -> bool:
    """True where the strength says it all; a claim in a tree of questions has a verdict, too."""
    if node.kind != "claim":
        return node.kind == "argument"
    if record is None:
        return node.verdict is None or node.verdict.confidence == node.score("strength")
    one_of_several = node.verdict is None and node.score("strength") is not None
    return words.outcome_of(record) == "probability" or one_of_several


def figures(node: Node) -> list[Figure]:
    """The strengths that are known of ``node``, in the order in which they come about."""
    claim = node.kind == "claim"
    named = [
        Figure(sign, name, value)
        for sign, name, value in (
            ("τ", "before any argument" if claim else "by itself", node.score("tau")),
            ("θ", "from its comparisons", node.score("theta")),
            (
                "τ′",
                "τ and θ blended",
                node.score("blended") if "theta" in node.scores else None,
            ),
            ("P" if claim else "s", _last(node), node.score("strength")),
        )
        if value is not None
    ]
    return named


def _last(node: Node) -> str:
    if node.kind == "claim":
        return "the claim is true"
    return "with the arguments below it" if node.children else "in the end"


def chain(node: Node) -> str:
    """``τ 0.68, θ 0.50 → τ′ 0.59 → s 0.41``; empty where nothing is known yet."""
    shown = {f.sign: f"{f.sign} {words.figure(f.value)}" for f in figures(node)}
    first = ", ".join(shown.pop(sign) for sign in ("τ", "θ") if sign in shown)
    return " → ".join(part for part in (first, *shown.values()) if part)


def unweighed(node: Node) -> str:
    """What to say of a node without a strength: it has none, or nobody has come to it yet."""
    return "no strength" if node.status == "missing" else "not weighed yet"


def standing(record: RunRecord | None, node: Node) -> str:
    """Why an argument takes no part in the claim's strength; empty where it does."""
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
    """What a reader must know of an argument: that a person added it, that it does not count."""
    added = "added by a person" if node.added else ""
    return "; ".join(part for part in (added, standing(record, node)) if part)


def _out(record: RunRecord | None, node: Node) -> str:
    """Why this very argument takes no part, if so."""
    if node.dropped:
        return "dropped by a person"
    if node.status == "missing":
        return "left out: it has no strength"
    own = record.settings if record is not None else {}
    leaf = own.get("leaf")
    limit = (leaf if isinstance(leaf, dict) else own).get("prune_below")
    known = isinstance(limit, int | float) and not isinstance(limit, bool)
    weight = node.score("blended")
    if known and isinstance(limit, int | float) and weight is not None:
        return f"pruned: its weight is below {limit:g}" if weight < limit else ""
    return ""


def _parent(record: RunRecord | None, node: Node) -> Node | None:
    """The node above; each stands under a shorter id, so that no way up is endless."""
    above = record.tree.nodes.get(node.parent or "") if record is not None else None
    return above if above is not None and len(above.id) < len(node.id) else None


def meetings(record: RunRecord | None, node: Node) -> list[Meeting]:
    """Who among the children of ``node`` beat whom."""
    both = {c.order for c in node.comparisons} == {"support_first", "attack_first"}
    return [_meeting(node, met, both, _mark(record, met)) for met in node.comparisons]


def _meeting(node: Node, met: Comparison, both: bool, mark: str) -> Meeting:
    return Meeting(
        met.supporter,
        met.attacker,
        VERBS[met.winner],
        _remarks(met, both, mark),
        mark in ("voided", "taken back"),
        _rationale(node, met),
    )


VERBS = {"SUPPORT": "beat", "ATTACK": "lost to", "TIE": "tied with"}
_TURNED = {"SUPPORT": "lost to", "ATTACK": "beat", "TIE": "tied with"}
_CONTESTED = {
    "flipped": "flipped by a person; the judge had ruled the other way",
    "voided": "voided by a person: counts for nobody",
    "taken back": "with an argument that a person added and took back: counts for nobody",
}


def _mark(record: RunRecord | None, met: Comparison) -> str:
    """What a person made of a comparison; empty where nobody touched it."""
    nodes = record.tree.nodes if record is not None else {}
    pair = [nodes[name] for name in (met.supporter, met.attacker) if name in nodes]
    return "taken back" if any(node.taken_back() for node in pair) else met.contested or ""


def _remarks(met: Comparison, both: bool, mark: str) -> list[str]:
    shown = "supporter" if met.order == "support_first" else "attacker"
    remarks = [f"{shown} shown first"] if both or shown == "attacker" else []
    return [*remarks, _CONTESTED[mark]] if mark else remarks


def _rationale(node: Node, met: Comparison) -> str:
    """Why the judge ruled so; its turn bears both ids, the one that was shown first in front."""
    names = [met.supporter, met.attacker]
    names = names if met.order == "support_first" else names[::-1]
    for turn in node.transcript:
        said = turn.fields.get("rationale")
        if turn.role == "pairwise_judge" and turn.who == ":".join(names) and isinstance(said, str):
            return said
    return ""


def edges(record: RunRecord | None, node: Node) -> list[str]:
    """``beat 0.0``, ``tied with 0.2 / lost to 0.2``: how the comparisons of ``node`` ended."""
    above = _parent(record, node)
    ends: dict[str, list[str]] = {}
    for met in above.comparisons if above is not None else []:
        if node.id in (met.supporter, met.attacker):
            mine = node.id == met.supporter
            verb = (VERBS if mine else _TURNED)[met.winner]
            mark = f" ({made})" if (made := _mark(record, met)) else ""
            other = met.attacker if mine else met.supporter
            ends.setdefault(other, []).append(f"{verb} {other}{mark}")
    return [" / ".join(dict.fromkeys(said)) for said in ends.values()]


def roots(record: RunRecord) -> list[Node]:
    """The claims at the roots of an ensemble's trees; none where there is one tree."""
    root = record.tree.nodes.get(record.tree.root)
    below = [record.tree.nodes[i] for i in root.children if i in record.tree.nodes] if root else []
    return [node for node in below if node.kind == "claim" and root and root.kind == "claim"]


def reckoning(record: RunRecord) -> list[str]:
    """How the tree was weighed: semantics, lambda and what else bears on the figures."""
    if not any(node.kind == "argument" for node in record.tree.nodes.values()):
        return []
    leaf = record.settings.get("leaf")
    get = (leaf if isinstance(leaf, dict) else record.settings).get
    blend = 0.0 if record.method == "argllm" else get("blend")
    said: list[str] = []
    if isinstance(semantics := get("semantics"), str):
        said.append(f"{_SEMANTICS.get(semantics, semantics)} semantics")
    if isinstance(blend, int | float):
        said.append(f"λ = {blend:g}{_BLENDS.get(float(blend), '')}")
    said.append(_ROOTS.get(str(get("root_strength")), ""))
    if any(node.comparisons for node in record.tree.nodes.values()):
        rule = str(get("strength_rule", "bradley_terry"))  # older records do not name it
        said.append(_RULES.get(rule, ""))
        said.append(_TIES.get("half" if rule == "win_rate" else str(get("ties")), ""))
    if isinstance(limit := get("prune_below"), int | float):
        said.append(f"arguments below {limit:g} are pruned")
    return [part for part in said if part]


_BLENDS = {0.0: " (comparisons do not count)", 1.0: " (comparisons alone count)"}


def moved(record: RunRecord) -> list[Moved]:
    """The path of nodes whose strength a contest moved, from the bottom up."""
    nodes = record.tree.nodes
    path = record.contest.path if record.contest is not None else []
    texts = {step.node: nodes[step.node].text for step in path if step.node in nodes}
    return [Moved(s.node, texts.get(s.node, ""), s.before, s.after) for s in path]


def outcome(contest: Contest) -> str:
    """``0.675 → 0.684, True``, ``0.42 → 0.61, False → True``."""
    labels = [
        "not determined" if p is None else str(p > 0.5) for p in (contest.before, contest.after)
    ]
    return f"{words.move(contest.before, contest.after)}, {' → '.join(dict.fromkeys(labels))}"
