"""Strengths of a large tree of arguments: NumPy, block by block, beside a plain loop over lists."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Figure
from dialectree.maths.argument_tree import strengths

NODES = 100_000
LARGE = 4 * NODES
BREADTH = 2
"""Supporters of an argument, and attackers."""
LIMIT = 0.1
GROWTH_LIMIT = 1.5
ROUNDS = 5
"""Measured so often for each repeat, in turns; the best counts."""


class Tree(NamedTuple):
    """A full tree in breadth-first order, with random bases."""

    parents: NDArray[np.int64]
    stances: NDArray[np.int8]
    base: NDArray[np.float64]


def full_tree(nodes: int) -> Tree:
    """Each argument has ``BREADTH`` supporters, then as many attackers, until all are given out."""
    places = np.arange(nodes) - 1
    stances = np.where(places % (2 * BREADTH) < BREADTH, 1, -1).astype(np.int8)
    stances[0] = 0
    return Tree(places // (2 * BREADTH), stances, np.random.default_rng(1).random(nodes))


def plain(parents: list[int], stances: list[int], base: list[float]) -> list[float]:
    """The same by a loop over lists, each node once, from the last to the first."""
    strength = [0.0] * len(base)
    unsupported, unattacked = [1.0] * len(base), [1.0] * len(base)
    for node in range(len(base) - 1, -1, -1):
        alpha = unsupported[node] - unattacked[node]
        reached = base[node] - alpha * (base[node] if alpha > 0 else 1 - base[node])
        strength[node] = reached
        if stances[node] > 0:
            unsupported[parents[node]] *= 1 - reached
        elif stances[node] < 0:
            unattacked[parents[node]] *= 1 - reached
    return strength


def argument_trees(repeats: int) -> Iterator[Figure]:
    """How long the evaluation takes, and how it grows with the tree."""
    part = f"strengths of a tree of {NODES:,} arguments, DF-QuAD"
    tree, large = full_tree(NODES), full_tree(LARGE)
    lists = (tree.parents.tolist(), tree.stances.tolist(), tree.base.tolist())
    if not np.allclose(plain(*lists), strengths(*tree), rtol=0, atol=1e-12):
        raise AssertionError("the two ways do not agree")
    loop, blocks, more = _best(
        [lambda: plain(*lists), lambda: strengths(*tree), lambda: strengths(*large)],
        repeats * ROUNDS,
    )
    yield Figure(part, "a plain loop over lists", 1000 * loop, "ms")
    yield Figure(part, "ours", 1000 * blocks, "ms")
    yield Figure(part, "ours over plain", blocks / loop, limit=LIMIT)
    growth = more * NODES / (blocks * LARGE)
    yield Figure(
        part, f"an argument of {LARGE:,} over one of {NODES:,}", growth, limit=GROWTH_LIMIT
    )


def _best(ways: list[Callable[[], object]], rounds: int) -> list[float]:
    """Seconds of each way; they take turns, so that a busy moment of the machine meets all."""
    taken = [float("inf")] * len(ways)
    for _ in range(rounds):
        for place, way in enumerate(ways):
            began = time.perf_counter()
            way()
            taken[place] = min(taken[place], time.perf_counter() - began)
    return taken
