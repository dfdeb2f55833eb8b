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
        typer.Argument(
            help="A recording, or the command of its protocol; without it, all are listed and one played."
        ),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Play without pauses.")] = False,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Play a recorded debate, without a model.

    It was written by hand or held by a real model; the first line says which. It becomes a run
    like any other, which you can show and contest.
    """
    from rich.console import Console

    from dialectree.flow.steps import ILLUSTRATION
    from dialectree.interfaces.cli import progress
    from dialectree.interfaces.cli.streams import notice
    from dialectree.running.recordings import find_recording, list_recordings, play

    recordings = list_recordings()
    name = find_recording(protocol or _first(recordings))
    run = play(name, runs, paced=Console(stderr=True).is_terminal and not quiet and not fast)
    if protocol is None and not quiet:
        _list(recordings)
    notice(recordings[name].about or ILLUSTRATION)
    if run.paced:
        notice("Ctrl-C skips to the end")
    try:
        progress.follow(run, json=json, quiet=quiet)
    finally:
        if not quiet:
            _suggest(run, [other_name for other_name in recordings if other_name != name])


def _first(recordings: Mapping[str, Recording]) -> str:
    """Return the recording that ``demo`` plays first: a debate of two speakers, which explains itself."""
    two_sided = (name for name, recording in recordings.items() if recording.protocol.view == "two_sided")
    return next(two_sided, next(iter(recordings), "demo"))


def _list(recordings: Mapping[str, Recording]) -> None:
    """Print the recorded debates on stderr, each in one line with its question."""
    from textwrap import shorten

    from dialectree.interfaces.cli.streams import WIDTH, program, say
    from dialectree.records.folder import RunFolder
    from dialectree.report import words

    say(f"Debates to play by {program()} demo NAME:")
    for name, recording in recordings.items():
        question = words.question(RunFolder(recording.folder).record())
        title = "A real model" if recording.about else recording.protocol.title
        start = f"  {name}  "
        say(start + shorten(f"{title}: {question}", WIDTH - len(start), placeholder=" …"))


def _suggest(run: Playback, other_names: list[str]) -> None:
    """Print on stderr the next commands for the run, and another recording."""
    from dialectree.interfaces.cli.progress import format_run_reference, suggest
    from dialectree.interfaces.cli.streams import program
    from dialectree.records import turns

    record = run.record
    nodes = record.tree.nodes.values()
    contestable_turns = [
        (node.id, name)
        for node in nodes
        if not node.children
        for turn in node.transcript
        if (name := turns.find_contestable_name(record, node, turn))
    ]
    place, turn_name = next(iter(contestable_turns), (record.tree.root, ""))
    argument = next((node.id for node in nodes if node.kind == "argument"), "")
    path = format_run_reference(run)
    rows = [(f"{program()} show {path} --node {place}", "all that was said at one place")]
    contest = f"{program()} contest {path}"
    if argument and any(phase.score for phase in run.method.protocol.phases):
        rows.append((f"{contest} --set {argument}=0.1", "change a strength; this needs no model"))
    elif turn_name:
        purpose = "change a turn; what depends on it is asked again and needs --model SPEC"
        rows.append((f'{contest} --replace {turn_name} "..."', purpose))
    for other_name in other_names[:1]:
        more = f"; there are also {', '.join(other_names[1:])}" if other_names[1:] else ""
        rows.append((f"{program()} demo {other_name}", f"another protocol{more}"))
    suggest(rows)
