"""The signs and the arithmetic of an argument tree, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialectree.protocols.look import Look, Score

_SEMANTICS = {"dfquad": "DF-QuAD", "quadratic_energy": "quadratic energy", "euler": "Euler-based"}
_ROOTS = {
    "neutral": "a claim starts at 0.5 (neutral)",
    "estimated": "a claim starts at its estimated strength",
}
_RULES = {"win_rate": "θ is a mean win rate", "bradley_terry": "θ is a Bradley-Terry fit"}
_TIES = {"ignore": "a tie does not count", "half": "a tie counts half for each"}
_BLENDS = {0.0: " (comparisons do not count)", 1.0: " (comparisons alone count)"}
_SIGNS = (
    "τ: how strong an argument is by itself; θ: what its comparisons make of it; "
    "τ′: both blended, θ by the weight λ; s: its strength with the arguments below it; "
    "P: the probability of the claim."
)
_SCORES = {
    "tau": Score(sign="τ", meaning="by itself", at_root=("τ", "before any argument")),
    "theta": Score(sign="θ", meaning="from its comparisons"),
    "blended": Score(sign="τ′", meaning="both of these, blended", reckoned=True, beside="theta"),
    "strength": Score(
        sign="s",
        meaning="in the end",
        above="with the arguments below it",
        at_root=("P", "the claim is true"),
        reckoned=True,
    ),
}

_CAPTIONS = {
    "direct": "Direct answers",
    "strength": "How strong each argument is by itself",
    "generation": "Arguments for and against",
    "direction": "Which way the arguments point",
    "tournament": "Supporters against attackers, as judged",
    "statement_is": "Argues that the claim is",
    "n": "",
    "truth": "Probably true",
    "truth_rationale": "On its truth",
    "weight": "How much it matters",
    "weight_rationale": "On how much it matters",
    "winner": "Stronger",
    "stronger": "Stronger",
}


def look(settings: Mapping[str, Any]) -> Look:
    """Return the look of debates with these settings, which come from a record."""
    semantics, blend = settings.get("semantics"), settings.get("blend", 0.0)
    rule = str(settings.get("strength_rule", "bradley_terry"))
    ties = "half" if rule == "win_rate" else str(settings.get("ties"))
    limit = settings.get("prune_below")
    weighing = (
        f"{_SEMANTICS.get(semantics, semantics)} semantics" if semantics else "",
        f"λ = {blend:g}{_BLENDS.get(float(blend), '')}",
        _ROOTS.get(str(settings.get("root_strength")), ""),
        "" if limit is None else f"arguments below {limit:g} are pruned",
    )
    comparing = _RULES.get(rule, ""), _TIES.get(ties, "")
    return Look(
        captions=_CAPTIONS,
        scores=_SCORES,
        signs=_SIGNS,
        weighing=tuple(filter(None, weighing)),
        comparing=tuple(filter(None, comparing)),
    )
