"""Which settings mean something to which method: a baseline has few of its protocol's."""

from __future__ import annotations

from collections.abc import Mapping

from dialectree.context import OWN_SETTINGS
from dialectree.graphs import Method

PERSONS = frozenset(["ask", "judge"])
"""Settings that give a person something to say; in an evaluation nobody is there."""
_SAMPLES = frozenset(["samples"])
_BASELINES: Mapping[str, frozenset[str]] = {
    "single_shot": frozenset(),
    "best_of_n": _SAMPLES,
    "two_round": frozenset(),
    "self_consistency": _SAMPLES,
    "argllm": OWN_SETTINGS["art"] - {"blend", "ties", "judge_orders"},
    "direct": frozenset(),
    "cot": frozenset(),
    "no_self_deliberation": OWN_SETTINGS["tod"] - {"segments", "filter", "embeddings"},
    "single_stage": frozenset(),
    "two_stage": frozenset(),
}


def own_settings(method: Method) -> frozenset[str]:
    """The settings of ``method``, those of a protocol that settles its leaves apart."""
    known = _BASELINES.get(method.name, OWN_SETTINGS[method.protocol] - _SAMPLES)
    return known - PERSONS
