"""The flags that commands share, and how they become settings.

A flag that is not given stays None, so that the environment and dialectree.toml can speak.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from copy import copy
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer

from dialectree.errors import SettingsError

Value = TypeVar("Value")
Command = Callable[..., None]
Flags = dict[str, Any]
"""Flags by the names of the settings that they give."""


def _choice(name: str, *values: str) -> type[StrEnum]:
    return StrEnum(name, list(values))  # type: ignore[return-value]


Runs = Annotated[Path, typer.Option(help="Folder of the runs.", metavar="DIR")]
Json = Annotated[bool, typer.Option("--json", help="Print the record as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def _flag(kind: Any, *names: str, **options: Any) -> Any:
    """A flag that stays None where it is not given."""
    return Annotated[kind | None, typer.Option(*names, **options)]


_JUDGE_ORDERS = _flag(
    _choice("JudgeOrders", "one", "both"), help="Judge once, or in both orders (one)."
)
_SAMPLES = _flag(int, help="Samples of a baseline that picks (5) or votes (9).")

MODELS: Flags = {
    "model": _flag(
        str, help="openai:NAME[@URL], local:smollm2 or local:PATH.gguf.", metavar="SPEC"
    ),
    "role": _flag(list[str], help="A model for one role.", metavar="ROLE=SPEC"),
    "base_url": _flag(str, help="Address of an OpenAI-compatible endpoint.", metavar="URL"),
}
DRAWS: Flags = {
    "seed": _flag(int, help="Fixes every draw of the debate (0)."),
    "replay": _flag(bool, "--replay", help="Answer from the cache alone."),
}
LIMITS: Flags = {
    "concurrency": _flag(int, help="Requests under way at once."),
    "requests_per_minute": _flag(float, help="Requests started a minute."),
    "call_deadline": _flag(float, help="Seconds a call may take, retries included."),
    "max_calls": _flag(int, help="Budget of calls."),
    "max_tokens": _flag(int, help="Budget of tokens."),
    "max_seconds": _flag(float, help="Budget of seconds."),
    "max_cost": _flag(float, help="Budget of money; needs --price."),
    "price": _flag(
        list[str],
        help="Price of a million prompt, completion and cached prompt tokens.",
        metavar="SPEC=PROMPT,COMPLETION[,CACHED]",
    ),
    "cache": _flag(bool, "--cache/--no-cache", help="Use replies paid for before."),
}
TSD: Flags = {
    "depth_profile": _flag(
        _choice("DepthProfile", "adaptive", "fixed", "safety"),
        help="When the tree stops growing (adaptive).",
    ),
    "max_depth": _flag(int, help="Depth of the leaves at most (3; fixed: 2)."),
    "min_depth": _flag(int, help="Depth that the safety profile reaches (1)."),
    "max_nodes": _flag(int, help="Nodes of the tree at most (85)."),
    "max_children": _flag(int, help="Children of a node at most (4)."),
    "stop_threshold": _flag(float, help="Parts easier than this stop (0.75)."),
    "leaf_rounds": _flag(int, help="Rounds of a leaf debate (3)."),
    "synthesis_rounds": _flag(int, help="Rounds of a synthesis debate (2)."),
    "second_pass_below": _flag(
        float, help="Revisit the weakest leaves below this confidence (off)."
    ),
    "second_pass_leaves": _flag(int, help="Leaves that are revisited (1)."),
    "leaf_protocol": _flag(
        _choice("LeafProtocol", "debate", "rsd", "art"),
        help="How a leaf is settled (debate); art: yes-or-no questions only, others are debated.",
    ),
    "ask": _flag(bool, "--ask", help="Ask you when the question lacks something."),
    "samples": _SAMPLES,
}
RSD: Flags = {
    "candidates": _flag(
        _choice("Candidates", "proposed", "knockout", "oracle", "balanced"),
        help="Where the two answers come from (proposed); oracle, balanced need the gold answer.",
    ),
    "distractor": _flag(
        _choice("Distractor", "first", "random", "model"),
        help="The wrong option against the gold one (first).",
    ),
    "cross_examination": _flag(
        _choice("CrossExamination", "in_turn", "simultaneous"),
        help="Whether the second debater reads the first one's rebuttal (in_turn: yes).",
    ),
    "judge_orders": _JUDGE_ORDERS,
    "gate": _flag(int, help="Direct answers first; no debate if all agree (0: none; try 3)."),
    "allow_uncertain": _flag(
        bool, "--allow-uncertain", help="The judge may rule that neither side convinced."
    ),
    "judge": _flag(_choice("Judge", "model", "me"), help="Who judges: a model, or you (model)."),
    "samples": _SAMPLES,
}
TOD: Flags = {
    "max_depth": _flag(int, help="Depth at which no topic is split any more (3)."),
    "max_subtopics": _flag(int, help="Subtopics of a topic at most (3)."),
    "max_claims": _flag(int, help="Claims of a paper about a topic at most (3)."),
    "segments": _flag(int, help="Segments of a paper that are retrieved at once (5)."),
    "expansion_rule": _flag(
        _choice("ExpansionRule", "reference", "paper"),
        help="When a topic is split (reference); paper: nearly always.",
    ),
    "filter": _flag(
        _choice("Filter", "per_claim", "per_segment"),
        help="One call weighs all segments that may answer a claim, or one each (per_claim).",
    ),
    "turns": _flag(
        _choice("Turns", "parallel", "alternating"),
        help="Whether paper b's persona reads a's turn of the same stage (parallel: no).",
    ),
    "embeddings": _flag(
        str,
        help="What retrieves: a sentence-transformers model (BAAI/bge-small-en-v1.5), "
        "openai:NAME@URL, or bm25.",
        metavar="NAME",
    ),
}
BOTH: Flags = {
    "max_depth": _flag(
        int, help="Depth of TSD's leaves (3; fixed: 2) and ToD's topics (3) at most."
    ),
}
"""What serves two protocols, where both take part: either command says half of it."""
ART: Flags = {
    "judge_orders": _JUDGE_ORDERS,
    "breadth": _flag(int, help="Supporters and attackers of each argument (1)."),
    "depth": _flag(int, help="Levels of arguments (1)."),
    "blend": _flag(float, help="Weight of the tournament, lambda (0.5)."),
    "strength_rule": _flag(
        _choice("StrengthRule", "win_rate", "bradley_terry"),
        help="What comparisons make of an argument (win_rate: its mean over the other side, a tie "
        "counts half); bradley_terry: the paper's.",
    ),
    "semantics": _flag(
        _choice("Semantics", "dfquad", "quadratic_energy", "euler"),
        help="How strengths carry upward (dfquad).",
    ),
    "root_strength": _flag(
        _choice("RootStrength", "neutral", "estimated"), help="The claim's own strength (neutral)."
    ),
    "ties": _flag(
        _choice("Ties", "ignore", "half"),
        help="What a tie counts with bradley_terry (ignore: nothing); win_rate: half always.",
    ),
    "prune_below": _flag(float, help="Leave weaker arguments out of the reckoning (off)."),
    "trees": _flag(int, help="Independent trees, averaged (1)."),
}


def _of_leaves(flag: Any, protocol: str) -> Any:
    """``flag`` where it serves the leaves of another protocol alone."""
    kind, option = get_args(flag)
    told = copy(option)
    told.help = f"{protocol} leaves: {option.help[0].lower()}{option.help[1:]}"
    return Annotated[kind, told]


_NOT_IN_LEAVES = ("candidates", "distractor", "gate", "samples")
LEAVES: Flags = {
    **{name: _of_leaves(flag, "rsd") for name, flag in RSD.items() if name not in _NOT_IN_LEAVES},
    **{name: _of_leaves(flag, "art") for name, flag in ART.items()},
    "judge_orders": _of_leaves(_JUDGE_ORDERS, "rsd, art"),
}
"""What settles the leaves of TSD where ``--leaf-protocol`` says so."""


def settings(*groups: Flags) -> Callable[[Command], Command]:
    """Gives a command the flags of ``groups``; it takes those that are given as ``settings``."""
    flags: Flags = {}
    for group in groups:
        flags |= group

    def decorate(command: Command) -> Command:
        parameters = inspect.signature(command, eval_str=True).parameters
        own = [p for p in parameters.values() if p.name != "settings"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=flag)
            for name, flag in flags.items()
        ]

        @wraps(command)
        def run(**values: Any) -> None:
            settings = given(**{name: values.pop(name) for name in flags})
            command(**values, settings=settings)

        run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        return run

    return decorate


def given(**flags: Any) -> dict[str, Any]:
    """The settings that flags gave. ``role`` and ``price`` are lists of NAME=VALUE."""
    settings = {name: value for name, value in flags.items() if value is not None}
    if roles := settings.pop("role", None):
        settings["roles"] = _once("--role", (_pair("--role", text) for text in roles))
    if prices := settings.pop("price", None):
        settings["prices"] = _once("--price", map(_price, prices))
    return {n: str(v) if isinstance(v, StrEnum) else v for n, v in settings.items()}


def _once(flag: str, pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """The pairs by name; SettingsError where a name has two values."""
    found: dict[str, Value] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise SettingsError(f"{flag} {name}: two values; give one")
    return found


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name.strip() and value.strip()):
        raise SettingsError(f"{flag} {text!r}: write NAME=VALUE")
    return name.strip(), value.strip()


def _price(text: str) -> tuple[str, tuple[float, ...]]:
    name, _, value = text.rpartition("=")
    try:
        numbers = tuple(float(part) for part in value.split(","))
    except ValueError:
        numbers = ()
    if not name.strip() or len(numbers) not in (2, 3) or min(numbers) < 0:
        raise SettingsError(
            f"--price {text!r}: write SPEC=PROMPT,COMPLETION[,CACHED]: openai:x=0.5,2,0.1"
        )
    return name.strip(), numbers
