"""The roles that can be given a model of their own."""

from __future__ import annotations

from difflib import get_close_matches

FAMILIES = {
    "leaf_debater_a": "leaf_debater",
    "leaf_debater_b": "leaf_debater",
    "debater_a": "debater",
    "debater_b": "debater",
    "supporter": "generator",
    "attacker": "generator",
    "scorer": "evaluator",
    "pairwise_judge": "evaluator",
    "persona_a": "persona",
    "persona_b": "persona",
}
"""Roles that can be given a model together."""

ROLES = (
    *("decomposer", "decomposition_judge", "complexity_evaluator"),
    *("leaf_debater_a", "leaf_debater_b", "leaf_judge"),
    *("synthesis_debater", "synthesis_judge", "answer_writer"),
    *("answerer", "sampler", "picker", "explorer", "critic", "synthesiser"),
    *("debater_a", "debater_b", "judge"),
    *("supporter", "attacker", "scorer", "pairwise_judge", "verifier"),
    *("persona_a", "persona_b", "moderator", "comparer", "summariser"),
    *dict.fromkeys(FAMILIES.values()),
)
"""All that can be given a model of their own: the roles of all methods, and the families."""


def require_role(name: str) -> str:
    """``name``, if it is a role or a family; ValueError with those there are where it is not."""
    if name not in ROLES:
        near = get_close_matches(name, ROLES, n=len(ROLES))
        known = ", ".join(dict.fromkeys([*near, *ROLES]))
        raise ValueError(f"no method has such a role; known: {known}")
    return name
