"""``dialectree show`` and ``dialectree resume``: show existing runs and go on with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic_core import to_json

from dialectree.interfaces.cli import flags

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dialectree.records import RunRecord
    from dialectree.records.folder import RunFolder

_NAMES = "A run's id or the beginning of it, the path of its folder, or last"
Run = Annotated[str, typer.Argument(help=f"{_NAMES}.")]
OneOrAll = Annotated[str | None, typer.Argument(help=f"{_NAMES}; without it, all runs.")]
_WIDTH_WHEN_PIPED = 160


def show(
    run: OneOrAll = None,
    other: Annotated[str | None, typer.Argument(help="Another run: show how the two differ.")] = None,
    depth: Annotated[int | None, typer.Option(help="Levels of the tree below its root.", min=0)] = None,
    node: Annotated[str | None, typer.Option(help="One node, with its whole transcript.")] = None,
    html: Annotated[bool, typer.Option("--html", help="Print the report as HTML.")] = False,
    md: Annotated[bool, typer.Option("--md", help="Print the report as Markdown.")] = False,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    json: flags.Json = False,
    runs: flags.Runs = Path("runs"),
) -> None:
    """Show a finished or broken-off run: its tree, its verdict, what it cost.

    Without a RUN: all of them, the newest first. With two: where they differ and what moved.
    """
    from dialectree import report
    from dialectree.errors import InputError
    from dialectree.interfaces.cli import streams
    from dialectree.service.debates import Debates, add_reports

    if html + md + json + open_ > 1:
        raise InputError("--html, --md, --json and --open exclude one another")
    if node is not None and (html or md or open_):
        raise InputError("--node: --html, --md and --open show the whole run; --json one node")
    if run is not None and other is None and _is_folder_of_runs(Path(run), runs):
        runs, run = Path(run), None
    if run is None:
        if html or md or open_ or node is not None:
            raise InputError(f"which run? {streams.program()} show lists them")
        _list(runs, json=json)
        return
    folder = Debates(runs).find(run)
    record = folder.record()
    if other is not None:
        if html or md or open_ or node is not None or depth is not None:
            raise InputError("two runs are shown side by side as text, or with --json")
        _differ(record, Debates(runs).result(other), json=json)
        return
    chosen_node = None if node is None else Debates(runs).node(record, node)
    add_reports(folder, record)
    if json:
        streams.print_file((chosen_node or record).model_dump_json(indent=1))
    elif html:
        streams.print_file(_html(folder, record))
    elif md:
        streams.print_file(report.markdown(record, folder.calls()))
    elif open_:
        _open(folder, record)
    elif chosen_node is not None:
        _print(report.transcript(chosen_node, record))
    else:
        _print(report.tree(record, depth), after=report.paths(folder.path))


def _is_folder_of_runs(path: Path, runs: Path) -> bool:
    """Return whether ``path`` is the folder of all runs, or another folder that contains runs."""
    from dialectree.records.folder import RunFolder

    if not os.path.isdir(path) or RunFolder(path).exists() or os.path.isdir(runs / path):
        return False
    return path.resolve() == runs.resolve() or bool(RunFolder.all(path))


def _print(*parts: RenderableType, after: RenderableType = "") -> None:
    """Print through the pager if the text is longer than the terminal, else directly.

    ``after`` is printed without wrapping.
    """
    from rich.console import Console

    from dialectree.interfaces.cli import streams

    console = Console()
    with console.capture() as captured:
        console.print(*parts, sep="\n")
        if after:
            console.print(after, soft_wrap=True)
    text = captured.get()
    if console.is_terminal and text.count("\n") >= console.height:
        streams.page(text)
    else:
        print(text, end="")


def _differ(old: RunRecord, new: RunRecord, *, json: bool) -> None:
    from dialectree.contests import run_diff
    from dialectree.interfaces.cli import streams

    if json:
        streams.print_file(run_diff.difference(old, new).model_dump_json(indent=1))
    else:
        from rich.text import Text

        from dialectree.text import clean

        _print(*(Text(clean(line)) for line in run_diff.lines(old, new)))


def _html(folder: RunFolder, record: RunRecord) -> str:
    from dialectree import report

    return report.html(record, folder.calls(), folder.events(), folder.texts())


def _open(folder: RunFolder, record: RunRecord) -> None:
    """Open the report of a run; write it first if it is missing or the run has not ended."""
    import webbrowser

    from dialectree.errors import InputError
    from dialectree.interfaces.cli import streams

    page = folder.path / "report.html"
    if not page.is_file() or record.status in ("running", "partial"):
        folder.write(page.name, _html(folder, record))
    if not webbrowser.open(page.resolve().as_uri()):
        raise InputError(f"no browser can be opened here: the report is {page}")
    streams.notice(f"opened {page}")


def _list(runs: Path, *, json: bool) -> None:
    from rich.console import Console

    from dialectree import report
    from dialectree.interfaces.cli import streams
    from dialectree.service.debates import Debates

    summaries = Debates(runs).list_runs(streams.notice)
    if json:
        streams.print_file(to_json(summaries, indent=1).decode())
        return
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH_WHEN_PIPED
    if summaries:
        console.print(report.overview(summaries, runs, expand=console.is_terminal))
    else:
        streams.notice(f"no runs in {runs}")


@flags.with_fields(*flags.NAMED_AGAIN)
def resume(
    run: Run,
    settings: dict[str, Any],
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Go on with a run that was broken off, or whose calls failed.

    Finished calls are not made again. Budgets begin again at 0.
    """
    from dialectree.interfaces.cli import progress, streams
    from dialectree.records import UNFINISHED
    from dialectree.service.debates import Debates

    resumed_run = Debates(runs, person=True).take_up(run, settings)
    if resumed_run.record.status not in UNFINISHED:
        path = progress.format_run_reference(resumed_run)
        looks = f"{streams.program()} show {path} displays it, {streams.program()} contest {path} changes it"
        streams.notice(f"the run is finished and none of its calls failed: nothing to resume; {looks}")
    progress.follow(resumed_run, json=json, quiet=quiet)
