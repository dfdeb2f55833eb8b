"""The kinds of node functions, and what a tree's parts hand upward."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeVar

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context

State = TypeVar("State", contravariant=True)
Update = TypeVar("Update", covariant=True)


class Node(Protocol[State, Update]):
    """A step of a graph: reads the state, asks once, returns an update."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> Awaitable[Update]: ...


SAME_GRAPH = {"recursion": "this very graph, for each child"}
"""Metadata that marks recursion in a drawing."""


class Finding(TypedDict):
    """What one node of a tree hands upward. ``answer`` is None where the part is missing."""

    id: str
    question: str
    answer: str | None
    rationale: str
    confidence: float | None
    """The aggregate, 0 to 1; None where no judge gave one."""
    leaves: list[str]
    """Ids of the leaves that the answer rests on."""
    unclear: list[str]
    """What the questions at the node and below it leave open."""
    take: int
    """The pass that it comes from: 1, or 2."""


class Judged(TypedDict):
    """What a debate about one node of the tree comes to."""

    finding: Finding


def is_leaf(finding: Finding) -> bool:
    """True for the finding of a leaf that has an answer: it rests on itself alone."""
    return finding["leaves"] == [finding["id"]]


def parent(node: str) -> str | None:
    """The id of the parent of ``node``; None for the root."""
    return node.rpartition(".")[0] or None


def standing(first: Finding, second: Finding) -> Finding:
    """Of two findings about one node the second; but an answer is not replaced by none."""
    settled = first.get("answer") is not None  # nothing is there before the first
    return first if settled and second["answer"] is None else second


def merge_findings(old: list[Finding], new: list[Finding]) -> list[Finding]:
    """One finding a node, the one that stands, in the order of the tree."""
    merged = {finding["id"]: finding for finding in old}
    for finding in new:
        merged[finding["id"]] = standing(merged.get(finding["id"], finding), finding)
    return [merged[i] for i in sorted(merged, key=lambda i: [int(n) for n in i.split(".")])]
