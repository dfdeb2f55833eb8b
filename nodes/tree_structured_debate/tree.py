"""The arithmetic of a debate tree: confidence upward, budgets downward."""

from __future__ import annotations

from collections.abc import Sequence


def aggregate_confidence(local: float | None, children: Sequence[float | None]) -> float | None:
    """Return the confidence of an inner node: local x min(children), the recursive product.

    TSD, Hierarchical Answer Synthesis: the judge's own score times the lowest confidence below.
    ``children`` are the confidences, computed in the same way, of the children that answered. All are
    0 to 1. The result is None if one of them is None.
    """
    if local is None or any(child is None for child in children):
        return None
    return local * min((child for child in children if child is not None), default=1.0)


def children_that_fit(budget: int, child_count: int) -> int:
    """Return how many of ``child_count`` children fit into ``budget`` nodes, the parent included.

    0 if fewer than two fit.
    """
    fit = min(child_count, budget - 1)
    return fit if fit >= 2 else 0


def shares(budget: int, children: int) -> list[int]:
    """Divide a node's budget among its children: equal shares, the remainder to the first.

    The shares add up to ``budget`` - 1, so the tree never grows beyond the root's budget.
    """
    share, rest = divmod(budget - 1, children)
    return [share + rest, *[share] * (children - 1)]


def hardest(difficulties: Sequence[float], count: int) -> list[int]:
    """Return the places of the ``count`` highest difficulties, in order; the first wins a tie."""
    ranked = sorted(range(len(difficulties)), key=lambda place: (-difficulties[place], place))
    return sorted(ranked[:count])


def turn_tokens(depth: int) -> int:
    """Return the tokens for a field of a leaf turn: 128 up to depth 1, then 192 (TSD, App. A)."""
    return 128 if depth <= 1 else 192


def words(tokens: int) -> int:
    """Return a limit of ``tokens`` as a limit of words, in full tens: four tokens hold about three words.

    A model can count words better than tokens.
    """
    return tokens * 3 // 40 * 10


def synthesis_tokens(leaves: int) -> int:
    """Return the tokens for a synthesis message: from 400 for one leaf to 800.

    TSD, Leaf-Level Debates, gives the range; the step of 100 for each leaf is ours.
    """
    return min(800, 400 + 100 * max(0, leaves - 1))
