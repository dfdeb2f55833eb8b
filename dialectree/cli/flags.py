"""The flags that commands share, and how they become settings.

A flag that is not given stays None, so that the environment and dialectree.toml can speak.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dialectree.errors import SettingsError


class DepthProfile(StrEnum):
    """When a tree stops growing."""

    adaptive = "adaptive"
    fixed = "fixed"
    safety = "safety"


_MODELS, _LIMITS, _RUN, _TSD = "Models", "Limits", "Run", "Tree-structured debate"

Model = Annotated[
    str | None,
    typer.Option(
        help="openai:NAME[@URL], local:smollm2 or local:PATH.gguf.",
        metavar="SPEC",
        rich_help_panel=_MODELS,
    ),
]
Role = Annotated[list[str] | None, typer.Option(help="A model for one role.", metavar="ROLE=SPEC")]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible endpoint.", metavar="URL")
]
Seed = Annotated[int | None, typer.Option(help="Fixes every draw of the debate.")]
Concurrency = Annotated[int | None, typer.Option(help="Requests under way at once.")]
RequestsPerMinute = Annotated[float | None, typer.Option(help="Pace of the requests.")]
CallDeadline = Annotated[
    float | None, typer.Option(help="Seconds a call may take, retries included.")
]
MaxCalls = Annotated[int | None, typer.Option(help="Budget of calls.")]
MaxTokens = Annotated[int | None, typer.Option(help="Budget of tokens.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Budget of seconds.")]
MaxCost = Annotated[float | None, typer.Option(help="Budget of money; needs --price.")]
Price = Annotated[
    list[str] | None,
    typer.Option(
        help="Price of a million prompt and completion tokens.",
        metavar="SPEC=PROMPT,COMPLETION",
    ),
]
Cache = Annotated[
    bool | None, typer.Option("--cache/--no-cache", help="Use replies paid for before.")
]
Replay = Annotated[bool | None, typer.Option("--replay", help="Answer from the cache alone.")]
Runs = Annotated[Path, typer.Option(help="Folder of the runs.", metavar="DIR")]
Json = Annotated[bool, typer.Option("--json", help="Print the record as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Method = Annotated[str, typer.Option(help="tsd, or single_shot (the baseline).")]

Profile = Annotated[DepthProfile | None, typer.Option(help="When the tree stops growing.")]
MaxDepth = Annotated[int | None, typer.Option(help="Depth of the leaves at most (3; fixed: 2).")]
MinDepth = Annotated[int | None, typer.Option(help="Depth that the safety profile reaches (1).")]
MaxNodes = Annotated[int | None, typer.Option(help="Nodes of the tree at most (40).")]
MaxChildren = Annotated[int | None, typer.Option(help="Children of a node at most (4).")]
StopThreshold = Annotated[float | None, typer.Option(help="Parts easier than this stop (0.75).")]
LeafRounds = Annotated[int | None, typer.Option(help="Rounds of a leaf debate (3).")]
SynthesisRounds = Annotated[int | None, typer.Option(help="Rounds of a synthesis debate (2).")]
SecondPassBelow = Annotated[
    float | None, typer.Option(help="Revisit the weakest leaves below this confidence (off).")
]
SecondPassLeaves = Annotated[int | None, typer.Option(help="Leaves that are revisited (1).")]
AskPerson = Annotated[
    bool | None, typer.Option("--ask", help="Ask you when the question lacks something.")
]


def given(**flags: Any) -> dict[str, Any]:
    """The settings that flags gave. ``role`` and ``price`` are lists of NAME=VALUE."""
    settings = {name: value for name, value in flags.items() if value is not None}
    if roles := settings.pop("role", None):
        settings["roles"] = dict(_pair("--role", text) for text in roles)
    if prices := settings.pop("price", None):
        settings["prices"] = dict(_price(text) for text in prices)
    if "depth_profile" in settings:
        settings["depth_profile"] = str(settings["depth_profile"])
    return settings


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name.strip() and value.strip()):
        raise SettingsError(f"{flag} {text!r}: write NAME=VALUE")
    return name.strip(), value.strip()


def _price(text: str) -> tuple[str, tuple[float, float]]:
    name, _, value = text.rpartition("=")
    try:
        prompt, completion = (float(part) for part in value.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not name.strip() or min(prompt, completion) < 0:
        raise SettingsError(f"--price {text!r}: write SPEC=PROMPT,COMPLETION: openai:x=0.5,2")
    return name.strip(), (prompt, completion)
