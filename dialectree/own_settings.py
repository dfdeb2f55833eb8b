"""Which settings mean something to which method: a baseline has few of its protocol's.

What was given to an evaluation and means nothing to it is refused; what was given to one run is
said, so that several methods can be run with the same words. The environment and dialectree.toml
may serve several commands: of what they hold nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dialectree.context import OWN_SETTINGS, Context, build
from dialectree.errors import InputError
from dialectree.graphs import Method
from dialectree.roles import FAMILIES

PERSONS = frozenset(["ask", "judge"])
"""Settings that give a person something to say; in an evaluation nobody is there."""
LEAVES: Mapping[str, frozenset[str]] = {
    "rsd": OWN_SETTINGS["rsd"] - {"candidates", "distractor", "gate", "samples"},
    "art": OWN_SETTINGS["art"],
}
"""What a protocol brings along that settles the leaves of another."""
_SAMPLES = frozenset(["samples"])
_PAIR = frozenset(["candidates", "distractor"])
"""What an evaluation's debate is held over, for baselines that choose between the same two."""
_BASELINES: Mapping[str, frozenset[str]] = {
    "single_shot": frozenset(),
    "best_of_n": _SAMPLES,
    "two_round": frozenset(),
    "self_consistency": _SAMPLES | _PAIR,
    "judge_alone": _PAIR,
    "argllm": OWN_SETTINGS["art"] - {"blend", "strength_rule", "ties", "judge_orders"},
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
    for name in _unread(given, frozenset[str]().union(*readers.values())):
        raise InputError(_no_setting(name, ", ".join(readers)))


def configured(method: Method, given: Mapping[str, Any], say: Callable[[str], None]) -> Context:
    """The context of one run of ``method``; a setting ``given`` that is not read is said.

    InputError where a person would have something to say, and nobody would ask; and for a model
    that is given to a role which the method has not.
    """
    context = build(**given)
    require_roles(method, context, given)
    read = with_leaves(method, context)
    idle = _idle(context) if method.name == "tsd" else {}
    if "ties" in read and context.strength_rule == "win_rate":
        idle["ties"] = "--strength-rule win_rate counts a tie half always"
    unread = {name: _no_setting(name, method.name) for name in _unread(given, read)}
    unread |= {name: f"{_flag(name)}: {idle[name]}" for name in sorted(idle) if name in given}
    for name, said in unread.items():
        if name in PERSONS and given[name] in (True, "me"):
            raise InputError(said)
        say(f"{said}, so it changes nothing")
    return context


def require_roles(method: Method, context: Context, given: Mapping[str, Any]) -> None:
    """InputError for a role among those ``given`` that nobody plays with these settings."""
    known = own_roles(method, context)
    for role in sorted(set(given.get("roles", {})).difference(known)):
        names = ", ".join(known)
        raise InputError(f"--role {role}: {method.name} has no such role; known: {names}")


def own_roles(method: Method, context: Context) -> list[str]:
    """The roles that speak with these settings, and their families."""
    roles = method.speakers(context)
    return [*dict.fromkeys([*roles, *(FAMILIES[role] for role in roles if role in FAMILIES)])]


def _unread(given: Iterable[str], read: frozenset[str]) -> list[str]:
    others = frozenset[str]().union(*OWN_SETTINGS.values()) - read
    return sorted(others.intersection(given))


def _idle(context: Context) -> dict[str, str]:
    """The settings of TSD that the others leave without a meaning, and why."""
    idle: dict[str, str] = {}
    if context.depth_profile == "fixed":
        fixed = "nobody rates the parts with --depth-profile fixed"
        idle["stop_threshold"] = fixed
        if context.judge != "me":  # whoever judges is asked, if only to rule
            idle["ask"] = fixed
    if context.depth_profile != "safety":
        idle["min_depth"] = "only --depth-profile safety reads it"
    if context.second_pass_below is None:
        idle["second_pass_leaves"] = "there is no second pass without --second-pass-below"
    return idle


def _no_setting(name: str, methods: str) -> str:
    return f"{_flag(name)}: that is no setting of {methods}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
