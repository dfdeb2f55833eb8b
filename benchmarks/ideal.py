"""How many calls a debate makes, and how many of them must follow one another.

With enough slots a run takes at least ``path`` times the latency of one call; with few, at least
``calls / slots`` times. What a run takes above that is the cost of the program itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

Tree = list["Tree"]
"""A node as the list of its children; ``[]`` is a leaf by depth or budget."""

EXPANSION = 3
"""Decomposer, decomposition judge, complexity evaluator: one after another."""


class Cost(NamedTuple):
    """Calls in all, and the longest chain of calls of which each needs the one before."""

    calls: int
    path: int

    def seconds(self, latency_s: float, slots: float = math.inf, runs: int = 1) -> float:
        """The least wall time of ``runs`` runs side by side on ``slots`` slots."""
        return latency_s * max(self.path, runs * self.calls / slots)


def tree_of_debate(subtopics: int, depth: int, claims: int = 3) -> Cost:
    """A full Tree-of-Debate: an expanded topic takes 3 steps, a debated one 3, a decision one."""
    expanded = sum(subtopics**level for level in range(depth))
    debated = sum(subtopics**level for level in range(1, depth + 1))
    calls = expanded * (2 + 2 * claims + 1) + 6 * debated + (debated - subtopics**depth) + 1
    return Cost(calls, 6 * depth + (depth - 1) + 1)


def full_tree(children: int, depth: int) -> Tree:
    """The tree in which every node above ``depth`` has as many children."""
    return [full_tree(children, depth - 1) for _ in range(children)] if depth else []


def size(tree: Tree) -> int:
    """Nodes of a tree, its root included."""
    return 1 + sum(size(child) for child in tree)


def adaptive_debate(tree: Tree, leaf_rounds: int = 3, synthesis_rounds: int = 2) -> Cost:
    """A whole debate over ``tree``, the answer writer included."""
    below = _subtree(tree, leaf_rounds, synthesis_rounds)
    return Cost(below.calls + 1, below.path + 1)


def stopped_at_the_root(leaf_rounds: int = 3) -> Cost:
    """A debate whose root was examined and found easy: one leaf."""
    calls = EXPANSION + _leaf(leaf_rounds).calls + 1
    return Cost(calls, calls)


def _subtree(tree: Tree, leaf_rounds: int, synthesis_rounds: int) -> Cost:
    if not tree:
        return _leaf(leaf_rounds)
    children = [_subtree(child, leaf_rounds, synthesis_rounds) for child in tree]
    return Cost(
        EXPANSION + sum(child.calls for child in children) + 2 * synthesis_rounds + 1,
        EXPANSION + max(child.path for child in children) + synthesis_rounds + 1,
    )


def _leaf(rounds: int) -> Cost:
    """Two debaters take turns; then the judge."""
    return Cost(2 * rounds + 1, 2 * rounds + 1)


def role_switching_debate(in_turn: bool = True) -> Cost:
    """Five phases with two options: four by both debaters, and the judge."""
    return Cost(calls=9, path=5 + in_turn)


def argument_tree(breadth: int, depth: int) -> Cost:
    """A full tree at a blend between 0 and 1: two calls a parent, a score and the comparisons.

    Scores and comparisons overlap the growth of the next level.
    """
    nodes = ((2 * breadth) ** (depth + 1) - 1) // (2 * breadth - 1)
    parents = (nodes - 1) // (2 * breadth)
    return Cost(2 * parents + nodes - 1 + breadth * (nodes - 1) // 2, depth + 1)
