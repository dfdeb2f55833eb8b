"""What each paper contributes to a topic: claims that are its own, and claims that both bear out.

A function of the record alone. A claim is shared where the other paper's own text supports it.
Where that text is silent, refutes the claim or only helps to understand it, the claim is unique to
its paper; what the other paper does to it stands beside it.
"""

from __future__ import annotations

from typing import NamedTuple

from dialectree.records import Claim, Letter, Node, Tree, path_key, topic_of
from dialectree.report.words import listed

LETTERS: tuple[Letter, Letter] = ("a", "b")
_VERBS = ("supports", "refutes", "clarifies")


class Contribution(NamedTuple):
    """A claim, and what the other paper does to it."""

    home: str
    """The id of the topic at which it was made."""
    claim: Claim
    remark: str
    """``b does not address it``, ``b supports and clarifies it``."""
    segments: list[str]
    """The ids of the segments of the other paper that speak to it."""


class Row(NamedTuple):
    """One topic, and the claims that it is about; None: the claims that no topic is about."""

    topic: Node | None
    a: list[Contribution]
    b: list[Contribution]
    shared: list[Contribution]
    conceded: list[Letter]

    @property
    def depth(self) -> int:
        """How deep the topic hangs in the tree."""
        return self.topic.depth if self.topic is not None else 1

    def column(self, name: str) -> list[Contribution]:
        """What stands under ``a``, ``b`` or ``shared``."""
        return {"a": self.a, "b": self.b}.get(name, self.shared)


def rows(tree: Tree) -> list[Row]:
    """Every topic that is about claims, in the order of the tree; what nobody took up comes last.

    The claims of a topic are its parent's, so the root has no row of its own.
    """
    found: list[Row] = []
    topics = [node for node in tree.nodes.values() if node.kind == "topic"]
    for node in sorted(topics, key=lambda node: (node.depth, path_key(node.id))):
        above = tree.nodes.get(node.parent or "")
        claims = relevant(above, node) if above else []
        if above is not None and claims:
            found.append(_row(node, above, claims))
    root = tree.nodes.get(tree.root)
    below = [tree.nodes[child] for child in root.children if child in tree.nodes] if root else []
    taken = {name for child in below for name in topic_of(child).relevant}
    left = [c for c in topic_of(root).all_claims if c.id not in taken] if root else []
    if root is not None and left:
        found.append(_row(None, root, left))
    return found


def relevant(above: Node, node: Node) -> list[Claim]:
    """Return the claims of ``above`` that its child ``node`` is about."""
    named = topic_of(node).relevant
    return [claim for claim in topic_of(above).all_claims if claim.id in named]


def _row(topic: Node | None, home: Node, claims: list[Claim]) -> Row:
    counter = topic_of(home).counter
    row = Row(topic, [], [], [], conceded(topic) if topic is not None else [])
    for claim in claims:
        effects = _effects(home, claim)
        found = counter.get(claim.id)
        made = Contribution(home.id, claim, _remark(claim, found, effects), found or [])
        row.column("shared" if _shared(found, effects) else claim.paper).append(made)
    return row


def conceded(topic: Node) -> list[Letter]:
    """The papers that concede in their last word."""
    return [
        p.paper
        for letter in LETTERS
        for p in topic_of(topic).positions
        if p.paper == letter and p.concedes
    ]


def _shared(counter: list[str] | None, effects: list[str]) -> bool:
    """Without a word on what the segments do to the claim, that they speak to it must do."""
    return bool(counter) and ("supports" in effects or not effects)


def _remark(claim: Claim, counter: list[str] | None, effects: list[str]) -> str:
    other = "b" if claim.paper == "a" else "a"
    if counter is None:
        return f"not known whether {other} addresses it"
    if not counter:
        return f"{other} does not address it"
    return f"{other} {listed(effects) or 'speaks to'} it"


def _effects(home: Node, claim: Claim) -> list[str]:
    """What the other paper's segments do to a claim, all taken together."""
    done = {name for names in effects(home, claim.id).values() for name in names}
    return [name for name in _VERBS if name in done]


def effects(home: Node, claim: str) -> dict[str, list[str]]:
    """By segment what it does to a claim: ``supports``, ``refutes``, ``clarifies``.

    Read from the replies of the filter that were given at ``home``.
    """
    found: dict[str, list[str]] = {}
    for turn in home.transcript:
        if turn.stage != "relevance" or turn.fields.get("claim") != claim:
            continue
        weighed = turn.fields.get("segments")
        for one in weighed if isinstance(weighed, list) else []:
            if isinstance(one, dict) and isinstance(name := one.get("id"), str):
                found[name] = [verb for verb in _VERBS if one.get(verb) == "yes"]
    return found
