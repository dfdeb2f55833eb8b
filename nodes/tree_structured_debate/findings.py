"""What the parts of a tree hand upward."""

from __future__ import annotations

from typing_extensions import TypedDict

from dialectree.nodes.tree_structured_debate.sides import Side


class Finding(TypedDict):
    """The answer of one question of the tree; None where it has none."""

    id: str
    question: str
    answer: str | None
    rationale: str
    confidence: float | None
    """The aggregate, 0 to 1; None where no judge gave one."""
    leaves: list[str]
    """Ids of the leaves that the answer rests on."""
    unclear: list[str]
    """What the question and those below it leave open."""
    take: int
    """The pass that it comes from: 1, or 2."""
    side: Side | None
    """The side that won; None where no model ruled on one."""


class Judged(TypedDict):
    """The outcome of a debate about one question of the tree."""

    finding: Finding


class Debated(TypedDict):
    """What a debate at a leaf or above is about."""

    id: str
    question: str
    take: int
    """1, or 2 in a second pass."""
    unclear: list[str]
    """What the question leaves open."""


def is_leaf(finding: Finding) -> bool:
    """Return whether this is a leaf that has an answer: it rests on itself alone."""
    return finding["leaves"] == [finding["id"]]


def parent(node: str) -> str | None:
    """Return the id of the parent of ``node``; None for the root."""
    return node.rpartition(".")[0] or None


def standing(first: Finding, second: Finding) -> Finding:
    """Return the newer finding unless it would replace an answer with None."""
    answered = first.get("answer") is not None  # an empty channel has no key
    return first if answered and second["answer"] is None else second


def merge_findings(old: list[Finding], new: list[Finding]) -> list[Finding]:
    """Return the standing finding of each question, in the order of the tree."""
    merged = {finding["id"]: finding for finding in old}
    for finding in new:
        merged[finding["id"]] = standing(merged.get(finding["id"], finding), finding)
    return [merged[i] for i in sorted(merged, key=lambda i: [int(n) for n in i.split(".")])]
