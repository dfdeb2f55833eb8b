"""Which settings mean something to which method: a baseline has few of its protocol's.

What was given to a run or an evaluation and means nothing to it is refused. The environment and
dialectree.toml may serve several commands, so what they say is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dialectree.context import OWN_SETTINGS, Context, build
from dialectree.errors import InputError
from dialectree.graphs import Method

PERSONS = frozenset(["ask", "judge"])
"""Settings that give a person something to say; in an evaluation nobody is there."""
LEAVES: Mapping[str, frozenset[str]] = {
    "rsd": OWN_SETTINGS["rsd"] - {"candidates", "distractor", "gate", "samples"},
    "art": OWN_SETTINGS["art"],
}
"""What a protocol brings along that settles the leaves of another."""
_SAMPLES = frozenset(["samples"])
_BASELINES: Mapping[str, frozenset[str]] = {
    "single_shot": frozenset(),
    "best_of_n": _SAMPLES,
    "two_round": frozenset(),
    "self_consistency": _SAMPLES,
    "argllm": OWN_SETTINGS["art"] - {"blend", "ties", "judge_orders"},
    "direct": frozenset(),
    "cot": frozenset(),
    "no_tree": OWN_SETTINGS["tod"] - {"max_depth", "expansion_rule"},
    "no_self_deliberation": OWN_SETTINGS["tod"] - {"segments", "filter", "embeddings"},
    "single_stage": frozenset(),
    "two_stage": frozenset(),
}


def own_settings(method: Method) -> frozenset[str]:
    """The settings of ``method``, those of a protocol that settles its leaves apart."""
    return _BASELINES.get(method.name, OWN_SETTINGS[method.protocol] - _SAMPLES)


def with_leaves(method: Method, context: Context) -> frozenset[str]:
    """The settings of ``method``, and those of the protocol that settles its leaves."""
    leaves = (LEAVES[protocol] for protocol in method.protocols(context)[1:])
    return own_settings(method).union(*leaves)


def require_read(given: Iterable[str], readers: Mapping[str, frozenset[str]]) -> None:
    """InputError for a setting that means nothing to any of the methods, by name."""
    known = frozenset[str]().union(*readers.values())
    others = frozenset[str]().union(*OWN_SETTINGS.values()) - known
    if unread := sorted(others.intersection(given)):
        flag = unread[0].replace("_", "-")
        raise InputError(f"--{flag}: that is no setting of {', '.join(readers)}")


def configured(method: Method, given: Mapping[str, Any]) -> Context:
    """The context of one run of ``method``, which reads every setting ``given``."""
    context = build(**given)
    require_read(given, {method.name: with_leaves(method, context)})
    return context
