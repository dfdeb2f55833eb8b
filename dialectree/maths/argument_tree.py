"""A whole tree of arguments: its weights from judgements, its strengths from the leaves up.

ART, sections 3.3 and 3.4. ``weigh`` is for a debate, with all that must be told about it;
``strengths`` evaluates the numbers alone, for large trees.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialectree.maths import bradley_terry
from dialectree.maths import semantics as gradual
from dialectree.maths.bradley_terry import Comparison, Ties
from dialectree.maths.semantics import LARGEST_ENERGY, SEMANTICS, Semantics
from dialectree.maths.win_rate import win_rates

StrengthRule = Literal["win_rate", "bradley_terry"]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


class Argument(NamedTuple):
    """An argument with what is known of it before the maths; the root is the claim."""

    id: str
    parent: str | None
    """None: the root."""
    stance: Literal["support", "attack"] | None
    """Toward the parent. None: the root."""
    tau: float | None
    """Intrinsic strength, 0 to 1. None: not known."""


class Weight(NamedTuple):
    """What the maths makes of an argument; None where it cannot be had."""

    theta: float | None
    """Tournament strength among its parent's children, 0 to 1."""
    blended: float | None
    """Tau and theta blended, 0 to 1."""
    strength: float | None
    """The blended weight after all that lies below, 0 to 1; the root's is P(claim) (ART Eq. 6)."""
    counted: bool
    """Whether it takes part in the claim's strength, or would where the claim has none."""


class Weighed(NamedTuple):
    """A tree after the maths."""

    weights: dict[str, Weight]
    """By id, in the order of the arguments."""
    notes: dict[str, list[str]]
    """By the parent's id, only where there is something to say."""


class Blended(NamedTuple):
    """The weights of a tree's arguments before any of them is carried to its parent."""

    theta: dict[str, float]
    """By id; absent where no comparison counts."""
    weights: dict[str, float]
    """Tau and theta blended, by id; absent where a strength is missing that the weight needs."""
    notes: dict[str, list[str]]
    """By the parent's id."""


def weigh(
    arguments: Sequence[Argument],
    comparisons: Mapping[str, Sequence[Comparison]],
    *,
    blend: float,
    strength_rule: StrengthRule,
    semantics: Semantics,
    ties: Ties,
    prune_below: float | None,
    dropped: Container[str] = (),
) -> Weighed:
    """Blend each argument's tau with its theta, then aggregate from the leaves to the claim.

    ``comparisons`` are by parent. ``blend`` is lambda, 0 to 1; at 0 no theta is used.
    ``strength_rule`` makes theta of the comparisons; only Bradley-Terry reads ``ties``. An argument
    that lacks a strength it needs gets no blended weight and takes no part, nor does what is below
    it, but the numbers of that are there. So it is with one blended to less than ``prune_below``,
    and with those ``dropped``: what they won and lost still counts for the others, so that dropping
    an attacker never lowers the claim. The same input gives the same bits, in any order.
    ValueError for anything but one whole tree, for a comparison of others than a supporter and an
    attacker of that parent, and for a number out of its range.
    """
    by_themselves = blended(
        arguments, comparisons, blend=blend, strength_rule=strength_rule, ties=ties
    )
    return aggregated(
        arguments, by_themselves, semantics=semantics, prune_below=prune_below, dropped=dropped
    )


def blended(
    arguments: Sequence[Argument],
    comparisons: Mapping[str, Sequence[Comparison]],
    *,
    blend: float,
    strength_rule: StrengthRule,
    ties: Ties,
) -> Blended:
    """Blend each argument's tau with its theta: the first half of ``weigh``."""
    if not 0 <= blend <= 1:
        raise ValueError(f"a blend is in 0 to 1, not {blend}")
    _check(comparisons, _children(arguments))
    theta: dict[str, float] = {}
    notes: dict[str, list[str]] = {}
    if blend > 0:
        for above, made in comparisons.items():
            theta |= _theta(made, strength_rule, ties, notes.setdefault(above, []))
    weights = {
        argument.id: weight
        for argument in arguments
        if (weight := _blended(argument.tau, theta.get(argument.id), blend)) is not None
    }
    return Blended(theta, weights, {parent: said for parent, said in notes.items() if said})


def aggregated(
    arguments: Sequence[Argument],
    blended: Blended,
    *,
    semantics: Semantics,
    prune_below: float | None,
    dropped: Container[str] = (),
) -> Weighed:
    """Carry the weights from the leaves to the claim: the second half of ``weigh``."""
    children = _children(arguments)
    downward = _downward(arguments, children)
    notes = {argument.id: [*blended.notes.get(argument.id, ())] for argument in arguments}
    kept: set[str] = set()
    """Takes part in its parent's strength."""
    counted: set[str] = set()
    """Takes part in the claim's."""
    for id, parent, _, _ in downward:
        weight = blended.weights.get(id)
        if parent is None:
            counted.add(id)
            if weight is None:
                notes[id].append("its own strength is not known")
        elif weight is None:
            notes[parent].append(f"{id} is left out: it has no strength")
        elif prune_below is not None and weight < prune_below:
            notes[parent].append(f"{id} is pruned: its weight is below {prune_below:g}")
        elif id not in dropped:
            kept.add(id)
            if parent in counted:
                counted.add(id)

    strength: dict[str, float] = {}
    for parent in reversed([argument.id for argument in downward]):
        if parent in blended.weights:
            below = [child for child in children[parent] if child.id in kept]
            supporters = [strength[child.id] for child in below if child.stance == "support"]
            attackers = [strength[child.id] for child in below if child.stance == "attack"]
            strength[parent] = SEMANTICS[semantics](blended.weights[parent], supporters, attackers)

    weights = {
        id: Weight(blended.theta.get(id), blended.weights.get(id), strength.get(id), id in counted)
        for id in notes
    }
    return Weighed(weights, {parent: said for parent, said in notes.items() if said})


def _children(arguments: Sequence[Argument]) -> dict[str, list[Argument]]:
    """The children of each argument, sorted by id: sums and products then have one order."""
    children: dict[str, list[Argument]] = {argument.id: [] for argument in arguments}
    if len(children) < len(arguments):
        raise ValueError("two arguments have the same id")
    for argument in sorted(arguments, key=lambda argument: argument.id):
        id, parent, stance, tau = argument
        if tau is not None and not 0 <= tau <= 1:
            raise ValueError(f"{id}: a strength is in 0 to 1, not {tau}")
        if (parent is None) != (stance is None):
            raise ValueError(f"{id}: a parent and a stance go together")
        if parent is not None:
            if parent not in children:
                raise ValueError(f"{id}: there is no parent {parent}")
            children[parent].append(argument)
    return children


def _downward(
    arguments: Sequence[Argument], children: Mapping[str, Sequence[Argument]]
) -> list[Argument]:
    """All arguments, the claim first and every parent before its children."""
    downward = [argument for argument in arguments if argument.parent is None]
    if len(downward) != 1:
        raise ValueError(f"a tree has one root, not {len(downward)}")
    for argument in downward:  # grows as we go
        downward.extend(children[argument.id])
    if len(downward) < len(arguments):
        raise ValueError("some arguments do not hang on the root")
    return downward


def _check(
    comparisons: Mapping[str, Sequence[Comparison]], children: Mapping[str, Sequence[Argument]]
) -> None:
    """ValueError for a comparison of anything but a supporter and an attacker of its parent."""
    for parent, made in comparisons.items():
        if parent not in children:
            raise ValueError(f"comparisons for {parent}, which is no argument")
        stances = {child.id: child.stance for child in children[parent]}
        for supporter, attacker, _ in made:
            for id, stance in ((supporter, "support"), (attacker, "attack")):
                if stances.get(id) != stance:
                    raise ValueError(f"{parent}: {id} is no child with the stance {stance}")


def _theta(
    made: Sequence[Comparison], rule: StrengthRule, ties: Ties, notes: list[str]
) -> dict[str, float]:
    """Theta of the children that have a comparison that counts; what is odd goes to the notes."""
    ties = "half" if rule == "win_rate" else ties
    counts = bradley_terry.tallies(made, ties)
    if counts.ties:
        number = "1 tie counts" if counts.ties == 1 else f"{counts.ties} ties count"
        notes.append(f"{number} for nobody" if ties == "ignore" else f"{number} half for each")
    if rule == "win_rate":
        supporters, attackers = win_rates(counts.wins, counts.losses)
    else:
        fit = bradley_terry.fit(counts.wins, counts.losses)
        supporters, attackers = fit.theta_supporters, fit.theta_attackers
        if not fit.connected:
            notes.append("some groups never met: between them theta rests on an equal start")
        if not fit.converged:
            notes.append(f"Bradley-Terry has not converged after {fit.iterations} steps")
    ids = [*counts.supporters, *counts.attackers]
    thetas = [*supporters.tolist(), *attackers.tolist()]
    return {id: theta for id, theta in zip(ids, thetas, strict=True) if not isnan(theta)}


def _blended(tau: float | None, theta: float | None, share: float) -> float | None:
    """The weight by ART Eq. 3; tau alone where there is no theta; None where tau is missing."""
    if theta is None:
        return tau
    if share == 1:
        return theta
    return None if tau is None else gradual.blend(tau, theta, share)


def strengths(
    parents: Ints, stances: Ints, base: Floats, semantics: Semantics = "dfquad"
) -> Floats:
    """The strengths of a tree whose nodes stand in breadth-first order, level by level upward.

    All arrays have the shape (nodes,). ``parents``: the place of the parent, never falling; -1 at
    the root, which comes first. ``stances``: +1 supports, -1 attacks, 0 at the root. ``base``: the
    blended weights, 0 to 1. The time grows with the nodes, and with the levels. ValueError for
    another order or a number out of its range.
    """
    nodes = len(base)
    if not nodes or not parents.shape == stances.shape == base.shape == (nodes,):
        raise ValueError("parents, stances and bases are not of one length, at least 1")
    if not (base.min() >= 0 and base.max() <= 1):
        raise ValueError("a base is in 0 to 1")
    if stances[0] != 0 or np.any(np.abs(stances[1:]) != 1):
        raise ValueError("a stance is +1 or -1, the root's 0")
    begins = np.append(np.flatnonzero(parents[1:] != parents[:-1]) + 1, nodes)
    heads = parents[begins[:-1]]
    if parents[0] != -1 or begins[0] != 1:
        raise ValueError("the root comes first, and nothing else has the parent -1")
    strength = base.astype(np.float64)
    for begin, end in reversed(_blocks(begins, heads)):
        first, last, above = begins[begin], begins[end], heads[begin:end]
        signed = stances[first:last] * strength[first:last]
        strength[above] = ABOVE[semantics](base[above], signed, begins[begin:end] - first)
    return strength


BLOCK = 8192
"""Nodes that are evaluated together: what is reckoned on the way then stays in the cache."""


def _blocks(begins: Ints, heads: Ints) -> list[tuple[int, int]]:
    """Runs of families, from one to before another, in which nobody is another one's parent.

    ``begins``: where each family of children begins, and the end. ``heads``: their parents.
    """
    ordered = bool(np.all(heads[:1] == 0) and np.all(heads[1:] > heads[:-1]))
    blocks: list[tuple[int, int]] = []
    begin, first = 0, begins[0]
    while ordered and begin < len(heads):
        end = int(min(heads.searchsorted(first), begins.searchsorted(first + BLOCK), len(heads)))
        blocks.append((begin, end))
        ordered = begin < end  # else a child stands before its parent
        begin, first = end, begins[end]
    if not ordered:
        raise ValueError("the nodes are not in breadth-first order")
    return blocks


def _dfquad(base: Floats, signed: Floats, begins: Ints) -> Floats:
    """The parents of one block, from their children's strengths, an attacker's with a minus.

    ``begins``: where each parent's children begin.
    """
    alpha: Floats = np.multiply.reduceat(1 - np.maximum(signed, 0), begins)
    alpha -= np.multiply.reduceat(1 + np.minimum(signed, 0), begins)
    return base - np.maximum(alpha, 0) * base - np.minimum(alpha, 0) * (1 - base)


def _quadratic_energy(base: Floats, signed: Floats, begins: Ints) -> Floats:
    energy: Floats = np.add.reduceat(signed, begins)
    h = energy**2 / (1 + energy**2)
    return base + h * ((energy > 0) - base)


def _euler(base: Floats, signed: Floats, begins: Ints) -> Floats:
    energy = np.minimum(LARGEST_ENERGY, np.add.reduceat(signed, begins))
    return 1 - (1 - base**2) / (1 + base * np.exp(energy))


ABOVE: Mapping[Semantics, Callable[[Floats, Floats, Ints], Floats]] = {
    "dfquad": _dfquad,
    "quadratic_energy": _quadratic_energy,
    "euler": _euler,
}
