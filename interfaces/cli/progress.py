"""Follow a run in the terminal and end the command with the right status."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from dialectree import report
from dialectree.embedded.models_at_hand import key_advice, list_specs_with_keys
from dialectree.errors import DialectreeError, DiskFull
from dialectree.interfaces.cli import person
from dialectree.interfaces.cli.flags import notice
from dialectree.interfaces.cli.process import collect_garbage_seldom
from dialectree.interfaces.cli.streams import print_file, program, say
from dialectree.protocols.sources import runs_home
from dialectree.records import UNFINISHED, RunRecord
from dialectree.report import Lines, LiveProgress
from dialectree.report.terminal import link
from dialectree.report.verdicts import sums, verdict_text
from dialectree.report.words import describe_failure
from dialectree.running.held_run import GRACE_S, missing_in_input
from dialectree.running.plug_points import WatchReading
from dialectree.running.runner import RunHandle, list_failed_calls
from dialectree.service.debates import ActiveRun
from dialectree.service.plug_points import REPORTS
from dialectree.system import clock, loop

T = TypeVar("T")
_STOP_S = 0.2
"""Seconds after Ctrl-C before a notice says why the end takes longer."""
_SOON_S, _SELDOM_S = 1.0, 10.0
"""Seconds of reading before a bar is drawn; seconds between two lines where no bar can be drawn."""
STOPPING = f"stopping: calls under way have up to {GRACE_S:g} s (Ctrl-C again: none)"


def demonstration() -> str:
    """Return the notice that a small model answers at chance, and how to choose another."""
    spec = next(iter(list_specs_with_keys().values()), "openai:NAME")
    return "\n".join(
        [
            "a model below 1 billion parameters answers at chance:",
            "it shows how the program works, not what is true",
            *(key_advice() or [f"a model of your own: `model` {spec}"]),
            f"for every command: export DIALECTREE_MODEL={spec}",
            f"model servers on this machine: {program()} doctor",
            f"models that run here: {program()} model list",
        ]
    )


async def await_with_notice(work: Coroutine[Any, Any, T]) -> T:
    """Await ``work``; print a notice if it is cancelled and does not end at once."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        if not (await asyncio.wait([task], timeout=_STOP_S))[0]:
            notice(STOPPING)
    return await task


def follow(run: RunHandle, *, json: bool, quiet: bool) -> None:
    """Conduct ``run`` with its progress on stderr, print the result on stdout, and exit.

    A terminal shows the progress and the last turn; elsewhere there are a few lines.
    """
    if run.record.demonstration:
        notice(demonstration())
    for gap in missing_in_input(run.record):
        notice(gap)
    if run.record.status in UNFINISHED:
        for line in run.find_changed_prompts():
            notice(line)
    REPORTS.require()  # the last lines name the files that it writes
    console = Console(stderr=True, quiet=quiet)
    live = console.is_terminal and not quiet
    watcher = LiveProgress(console, run.record) if live else Lines(console)
    earlier_transcripts = set[str]()

    async def ask(request: Mapping[str, str]) -> str:
        with watcher.pause():
            transcript = request.get("transcript", "")
            fresh = "" if transcript in earlier_transcripts else transcript
            earlier_transcripts.add(transcript)
            return await person.ask({**request, "transcript": fresh})

    underway, status = ActiveRun(run), 0
    try:
        with watcher:
            if run.record.status in UNFINISHED:
                for event in run.folder.events():  # from before it was broken off
                    watcher.watch(event)
            collect_garbage_seldom()
            work = underway.run_to_end(ask if run.context.asks() else None, watcher.watch)
            loop.run(await_with_notice(work))
        status = 5 if run.record.status in ("degraded", "unresolved") else 0
    except DialectreeError as error:
        status = error.status
    except (KeyboardInterrupt, asyncio.CancelledError):
        status = 130
    fault, unreported = underway.fault, underway.unreported
    if unreported is not None and unreported is not fault:
        notice(str(unreported))
    _say(run.record, json=json)
    _explain(run, status, fault, reported=unreported is None, quiet=quiet)
    raise typer.Exit(DiskFull.status if isinstance(unreported, DiskFull) else status)


@contextmanager
def reading(*, quiet: bool) -> Iterator[WatchReading | None]:
    """Show on stderr the progress of reading and indexing documents, see :func:`counting`."""
    if quiet:
        yield None
        return
    with counting("documents") as tell:
        yield tell


@contextmanager
def counting(things: str) -> Iterator[WatchReading]:
    """Show on stderr how many ``things`` are done, if that takes more than a moment.

    On a terminal a bar shows the number, elsewhere a line every few seconds.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    bars, tasks = Progress(*columns, console=console, transient=True), dict[str, TaskID]()
    last = clock.seconds()

    def tell(activity: str, done: int, of: int) -> None:
        nonlocal last
        if clock.seconds() - last > (_SOON_S if console.is_terminal else _SELDOM_S):
            if console.is_terminal:
                bars.start()
            else:
                last = clock.seconds()
                notice(f"{activity} {things}: {done:,} of {of:,}")
        if activity not in tasks:
            tasks[activity] = bars.add_task(f"{activity} {things}", total=of)
        bars.update(tasks[activity], completed=done)

    try:
        yield tell
    finally:
        if bars.live.is_started:  # else it would end a line that was not begun
            bars.stop()


def _say(record: RunRecord, *, json: bool) -> None:
    """Print the result on stdout."""
    if json:
        print_file(record.model_dump_json(indent=1))
        return
    if record.verdict is None:
        return
    if sys.stdout.isatty():
        Console().print(report.result(record))
        return
    print(verdict_text(record, "answer", "measure", "reason", "ground", "note", "change"))


def _explain(
    run: RunHandle, status: int, fault: DialectreeError | None, *, reported: bool, quiet: bool
) -> None:
    """Print on stderr what belongs to the result: failures, totals, files and the next commands."""
    record, path = run.record, run.folder.path
    if status == 5:
        for node, failure in record.list_failures():
            notice(f"node {node}: {describe_failure(failure)}")
        printed = record.verdict.notes if record.verdict is not None else []
        for name, part in record.tree.nodes.items():
            why = "; ".join(note for note in part.notes if note not in printed)
            if part.status == "missing" and not part.failures and (why or name != record.tree.root):
                notice(f"node {name}: unresolved{': ' if why else ''}{why}")
        ended = "unresolved" if record.status == "unresolved" else "degraded"
        resume = f"{program()} resume {path}{_format_base_url_flag(run)}"
        retry = f"ask the failed calls again with: {resume}"
        more = [retry] if list_failed_calls(record, run.folder.ledger()) else []
        notice("; ".join([f"finished, but {ended}", *more]))
    if status not in (0, 5):
        again = f"go on with: {program()} resume {path}{_format_base_url_flag(run)}"
        notice("; ".join([*([str(fault)] if fault is not None else []), "broken off", again]))
        return
    missing = missing_in_input(record)  # printed before the first call
    for remark in record.notices:
        if remark not in missing:
            notice(remark)
    notice(", ".join(sums(record)))
    _point_to("record", path / "run.json")
    if reported:
        _point_to("report", path / "report.html")
    if not record.demonstration or quiet:
        notice(f"more: {program()} show {path}")
        return
    declared = run.method.protocol
    spec = next(iter(list_specs_with_keys().values()), "openai:NAME")
    command = declared.command or f"run {declared.name}"
    suggest(
        [
            (f"{program()} demo", "debates worth reading, written by hand"),
            (f"{program()} {command} ... --model {spec}", "debate with a model of your own"),
            (f"{program()} show {format_run_reference(run)} --open", "this debate's report in the browser"),
        ]
    )


def format_run_reference(run: RunHandle) -> Path | str:
    """Return the name of ``run`` for ``show`` and ``contest``: ``last``, or its folder's path."""
    return "last" if run.folder.path.parent == runs_home() else run.folder.path


def _format_base_url_flag(run: RunHandle) -> str:
    """Return ``--base-url ADDRESS``: the key of the environment never goes to an address in a record."""
    address = run.record.settings.get("base_url")
    return f" --base-url {shlex.quote(str(address))}" if address else ""


def suggest(rows: Iterable[tuple[str, str]]) -> None:
    """Print the next commands on stderr, each with its purpose."""
    say("\n".join(["Try next:", *(f"  {command}\n      {purpose}" for command, purpose in rows)]))


def _point_to(name: str, file: Path) -> None:
    """Print the path of a file on stderr, as a link in a terminal that knows links."""
    console = Console(stderr=True)
    if console.is_terminal:
        console.print(Text(f"dialectree: {name}: ").append_text(link(file)), soft_wrap=True)
    else:
        notice(f"{name}: {file}")
