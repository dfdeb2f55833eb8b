"""``dialectree demo``: a recorded debate, played without a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialectree.interfaces.cli import flags

if TYPE_CHECKING:
    from dialectree.running.recordings import Playback, Recording


def demo(
    protocol: Annotated[
        str | None,
        typer.Argument(help="The name of a recording; without it, all are listed and one played."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Play without pauses.")] = False,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Play a recorded debate, without a model.

    It was written by hand, or a real model held it; the first line says which. It becomes a run
    like any other, to be shown and contested.
    """
    from rich.console import Console

    from dialectree.flow.steps import ILLUSTRATION
    from dialectree.interfaces.cli import progress
    from dialectree.interfaces.cli.streams import notice
    from dialectree.running.recordings import play, recorded

    known = recorded()
    name = protocol or _first(known)
    run = play(name, runs, paced=Console(stderr=True).is_terminal and not quiet and not fast)
    if protocol is None and not quiet:
        _list(known)
    notice(known[name].about or ILLUSTRATION)
    if run.paced:
        notice("Ctrl-C skips to the end")
    try:
        progress.follow(run, json=json, quiet=quiet)
    finally:
        if not quiet:
            _suggest(run, [other for other in known if other != name])


def _first(known: Mapping[str, Recording]) -> str:
    """Return the protocol to begin with: two speakers who face each other need no explanation."""
    two_sided = (name for name, one in known.items() if one.protocol.view == "two_sided")
    return next(two_sided, next(iter(known), "demo"))


def _list(known: Mapping[str, Recording]) -> None:
    """Print the recorded debates on stderr, each in one line with its question."""
    from textwrap import shorten

    from dialectree.interfaces.cli.streams import WIDTH, program, say
    from dialectree.records.folder import RunFolder
    from dialectree.report import words

    say(f"Debates to play by {program()} demo NAME:")
    for name, one in known.items():
        question = words.question(RunFolder(one.folder).record())
        title = "A real model" if one.about else one.protocol.title
        start = f"  {name}  "
        say(start + shorten(f"{title}: {question}", WIDTH - len(start), placeholder=" …"))


def _suggest(run: Playback, others: list[str]) -> None:
    """Say on stderr what can be done with the run now, and what else can be played."""
    from dialectree.interfaces.cli.progress import known_as, suggest
    from dialectree.interfaces.cli.streams import program
    from dialectree.records import turns

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
    path = known_as(run)
    rows = [(f"{program()} show {path} --node {place}", "all that was said at one place")]
    contest = f"{program()} contest {path}"
    if argument and any(one.score for one in run.method.protocol.phases):
        rows.append((f"{contest} --set {argument}=0.1", "change a strength; this needs no model"))
    elif turn_name:
        what = "change a turn; what depends on it is asked anew and needs --model SPEC"
        rows.append((f'{contest} --replace {turn_name} "..."', what))
    for other in others[:1]:
        more = f"; there are also {', '.join(others[1:])}" if others[1:] else ""
        rows.append((f"{program()} demo {other}", f"another protocol{more}"))
    suggest(rows)
