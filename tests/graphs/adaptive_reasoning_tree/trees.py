"""Weighs a tree as a debate does: arguments by themselves, then up to the claim."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from dialectree.nodes.adaptive_reasoning_tree.argument_tree import (
    Argument,
    StrengthRule,
    Weighed,
    aggregate_strengths,
    blend_weights,
)
from dialectree.nodes.adaptive_reasoning_tree.bradley_terry import Comparison, Ties
from dialectree.nodes.adaptive_reasoning_tree.semantics import Semantics

ROUNDING = 1e-12
Made = Mapping[str, Sequence[Comparison]]
"""Comparisons by parent."""


def weigh(
    arguments: Sequence[Argument],
    comparisons: Made | None = None,
    *,
    blend: float = 0.5,
    strength_rule: StrengthRule = "win_rate",
    semantics: Semantics = "dfquad",
    ties: Ties = "ignore",
    prune_below: float | None = None,
    dropped: Container[str] = (),
) -> Weighed:
    alone = blend_weights(arguments, comparisons or {}, blend=blend, strength_rule=strength_rule, ties=ties)
    return aggregate_strengths(
        arguments, alone, semantics=semantics, prune_below=prune_below, dropped=dropped
    )


def claim(weighed: Weighed) -> float:
    """Return the strength of the root, which all trees call "0"."""
    strength = weighed.weights["0"].strength
    assert strength is not None
    return strength
