"""``dialectree demo``: a recorded debate, played without a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialectree.cli import flags

if TYPE_CHECKING:
    from dialectree.recordings import Playback

_SECONDS = 12.0
"""How long a debate plays at a terminal."""


def demo(
    protocol: Annotated[
        str | None, typer.Argument(help="The name of a protocol; without it, the first one.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Play without pauses.")] = False,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Play a debate written by hand, without a model.

    It becomes a run like any other, to be shown and contested.
    """
    from dialectree.cli import progress
    from dialectree.recordings import play, recorded
    from dialectree.steps import ILLUSTRATION
    from dialectree.streams import notice

    names = [*recorded()]
    name = protocol or next(iter(names), "demo")
    at_once = fast or quiet or not sys.stderr.isatty()
    run = play(name, runs, 0.0 if at_once else _SECONDS)
    notice(ILLUSTRATION)
    if not at_once:
        notice(f"playing for {_SECONDS:g} s; Ctrl-C skips to the end")
    run.expected = (run.record.usage.calls, run.record.usage.calls)
    try:
        progress.follow(run, json=json, quiet=quiet)
    finally:
        if not quiet:
            _suggest(run, [other for other in names if other != name])


def _suggest(run: Playback, others: list[str]) -> None:
    """Say on stderr what can be done with the run now, and what else can be played."""
    from dialectree import turns
    from dialectree.sources import runs_home
    from dialectree.streams import say

    path: Path | str = run.folder.path
    record = run.record
    nodes = record.tree.nodes.values()
    spoken = [
        (node.id, name)
        for node in nodes
        if not node.children
        for turn in node.transcript
        if (name := turns.printed(record, node, turn))
    ]
    place, turn_name = next(iter(spoken), (record.tree.root, ""))
    argument = next((node.id for node in nodes if node.kind == "argument"), "")
    path = "last" if run.folder.path.parent == runs_home() else path
    rows = [(f"dialectree show {path} --node {place}", "all that was said at one place")]
    contest = f"dialectree contest {path}"
    if argument and run.method.protocol.outcome == "probability":
        rows.append((f"{contest} --set {argument}=0.1", "change a strength; this needs no model"))
    elif turn_name:
        what = "change a turn; what depends on it is asked anew and needs --model SPEC"
        rows.append((f'{contest} --replace {turn_name} "..."', what))
    for other in others[:1]:
        more = f"; there are also {', '.join(others[1:])}" if others[1:] else ""
        rows.append((f"dialectree demo {other}", f"another protocol{more}"))
    say("\n".join(["Try next:", *(f"  {command}\n      {what}" for command, what in rows)]))
