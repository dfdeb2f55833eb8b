"""Whole trees of arguments: their weights from judgements, their strengths from the leaves up.

ART, sections 3.3 and 3.4. ``blend_weights`` weighs each argument by itself, ``aggregate_strengths``
carries the weights to the claim. Arguments form one tree or several. Only children of the same
parent are compared with each other.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import isnan
from typing import Literal, NamedTuple

from dialectree.nodes.adaptive_reasoning_tree import bradley_terry
from dialectree.nodes.adaptive_reasoning_tree import semantics as gradual
from dialectree.nodes.adaptive_reasoning_tree.bradley_terry import Comparison, Ties
from dialectree.nodes.adaptive_reasoning_tree.semantics import SEMANTICS, Semantics
from dialectree.nodes.adaptive_reasoning_tree.win_rate import win_rates

StrengthRule = Literal["win_rate", "bradley_terry"]


class Argument(NamedTuple):
    """An argument before the arithmetic; the root is the claim."""

    id: str
    parent: str | None
    """The parent's id; None for the root."""
    stance: Literal["support", "attack"] | None
    """For or against the parent; None for the root."""
    tau: float | None
    """Intrinsic strength, 0 to 1; None if it is not known."""


class Weight(NamedTuple):
    """The computed values of an argument; None for a value that is not known."""

    theta: float | None
    """Tournament strength among its parent's children, 0 to 1."""
    blended: float | None
    """Tau and theta blended, 0 to 1."""
    strength: float | None
    """The strength with all arguments below it, 0 to 1; the root's is P(claim) (ART Eq. 6)."""
    counted: bool
    """True if the argument takes part in the claim's strength, or would if the claim had a strength."""


class Weighed(NamedTuple):
    """A tree after the arithmetic."""

    weights: dict[str, Weight]
    """By id, in the order of the arguments."""
    notes: dict[str, list[str]]
    """By the parent's id; only for parents with notes."""


class Blended(NamedTuple):
    """The weights of a tree's arguments, before the arithmetic carries them to the parents."""

    theta: dict[str, float]
    """By id; absent for an argument without a comparison that counts."""
    weights: dict[str, float]
    """Tau and theta blended, by id; absent if a strength that the weight needs is missing."""
    notes: dict[str, list[str]]
    """By the parent's id."""


def blend_weights(
    arguments: Sequence[Argument],
    comparisons: Mapping[str, Sequence[Comparison]],
    *,
    blend: float,
    strength_rule: StrengthRule,
    ties: Ties,
) -> Blended:
    """Blend each argument's tau with the theta that ``strength_rule`` computes.

    ``comparisons`` are grouped by the parent's id. ``blend`` is lambda, 0 to 1; at 0 no theta is
    used. Only Bradley-Terry reads ``ties``. The same input gives the same bits, in any order.
    """
    theta: dict[str, float] = {}
    notes: dict[str, list[str]] = {}
    if blend > 0:
        for parent, of_parent in comparisons.items():
            thetas, remarks = _theta(of_parent, strength_rule, ties)
            theta |= thetas
            if remarks:
                notes[parent] = remarks
    weights = {
        argument.id: weight
        for argument in arguments
        if (weight := _blend_weight(argument.tau, theta.get(argument.id), blend)) is not None
    }
    return Blended(theta, weights, notes)


def aggregate_strengths(
    arguments: Sequence[Argument],
    blended: Blended,
    *,
    semantics: Semantics,
    prune_below: float | None,
    dropped: Container[str] = (),
) -> Weighed:
    """Carry the weights from the leaves to the claim.

    An argument takes no part, nor does anything below it, if it has no weight, if its weight is
    less than ``prune_below``, or if it is ``dropped``; the strengths below it are still computed.
    A dropped argument's comparisons still count for the others, so that dropping an attacker never
    lowers the claim. The same input gives the same bits, in any order.
    """
    children = _children(arguments)
    downward = _downward(arguments, children)
    notes = {argument.id: [*blended.notes.get(argument.id, ())] for argument in arguments}
    participants: set[str] = set()
    """Arguments that take part in their parent's strength."""
    counted: set[str] = set()
    """Arguments that take part in the claim's strength."""
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
            participants.add(id)
            if parent in counted:
                counted.add(id)

    strength: dict[str, float] = {}
    for parent in reversed([argument.id for argument in downward]):
        if parent in blended.weights:
            below = [child for child in children[parent] if child.id in participants]
            supporters = [strength[child.id] for child in below if child.stance == "support"]
            attackers = [strength[child.id] for child in below if child.stance == "attack"]
            strength[parent] = SEMANTICS[semantics](blended.weights[parent], supporters, attackers)

    weights = {
        id: Weight(blended.theta.get(id), blended.weights.get(id), strength.get(id), id in counted)
        for id in notes
    }
    return Weighed(weights, {parent: remarks for parent, remarks in notes.items() if remarks})


def _children(arguments: Sequence[Argument]) -> dict[str, list[Argument]]:
    """Return the children of each argument, sorted by id so that sums have one order."""
    children: dict[str, list[Argument]] = {argument.id: [] for argument in arguments}
    for argument in sorted(arguments, key=lambda argument: argument.id):
        if argument.parent is not None:
            children[argument.parent].append(argument)
    return children


def _downward(arguments: Sequence[Argument], children: Mapping[str, Sequence[Argument]]) -> list[Argument]:
    """Return all arguments, the claim first and every parent before its children."""
    downward = [argument for argument in arguments if argument.parent is None]
    for argument in downward:  # grows as we go
        downward.extend(children[argument.id])
    return downward


def _theta(
    comparisons: Sequence[Comparison], rule: StrengthRule, ties: Ties
) -> tuple[dict[str, float], list[str]]:
    """Return theta of the children with a comparison that counts, and notes on oddities."""
    ties = "half" if rule == "win_rate" else ties
    notes: list[str] = []
    counts = bradley_terry.tallies(comparisons, ties)
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
    return {id: theta for id, theta in zip(ids, thetas, strict=True) if not isnan(theta)}, notes


def _blend_weight(tau: float | None, theta: float | None, share: float) -> float | None:
    """Return the weight by ART Eq. 3: tau alone without a theta; None if tau is missing."""
    if theta is None:
        return tau
    if share == 1:
        return theta
    return None if tau is None else gradual.blend(tau, theta, share)
