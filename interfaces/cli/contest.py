"""``dialectree contest``: change something in a finished run, and see the effect."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.runs import Run
from dialectree.interfaces.cli.streams import program
from dialectree.interfaces.cli.wrong_calls import join_words

if TYPE_CHECKING:
    from dialectree.records.folder import RunFolder

_CHANGES = {
    "replace": ("ID TEXT", "Let a turn say something else."),
    "verdict": ("ID TEXT", "Set a verdict, an answer or a label."),
    "set": ("ID=STRENGTH", "Another strength of an argument, 0 to 1, or none."),
    "drop": ("ID", "Take an argument, a turn, a part, a source or a segment out."),
    "flip": ("ID:ID", "Let the other argument win."),
    "void": ("ID:ID", "Do not count a comparison."),
    "restore": ("ID|ID:ID", "Undo a change or a void."),
    "add": ("support|attack:ID TEXT", "Insert an argument of your own; a model scores and compares it."),
    "add_source": ("FILE", "Add a document to the sources, as the last one."),
}


def _flag(change: str) -> inspect.Parameter:
    """Return the flag of a change; a change without a text can be given several times."""
    metavar, text = _CHANGES[change]
    kind: Any = tuple[str, str] if metavar.endswith("TEXT") else list[str]
    option = typer.Option(f"--{change.replace('_', '-')}", help=text, metavar=metavar)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(change, keyword, default=None, annotation=Annotated[kind | None, option])


@flags.with_fields(*flags.NAMED_AGAIN, more=map(_flag, _CHANGES))
def contest(
    run: Run,
    settings: dict[str, Any],
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
    **changes: Any,
) -> None:
    """Change something in a run and do again only what depends on it, as a new run.

    Ids are those that `dialectree show RUN` prints: 0.1 is a node, 0.1/A2 a turn (show --node).
    Where a verdict is weighed, as by art, only --add asks a model. Without a change, those that
    the run takes are listed.
    """
    from dialectree.contests import parse
    from dialectree.errors import InputError
    from dialectree.interfaces.cli import progress
    from dialectree.service.debates import Debates
    from dialectree.system import loop

    wishes = [
        parse(change, *([where] if isinstance(where, str) else where))
        for change, places in changes.items()
        for where in ([places] if isinstance(places, tuple) else places or [])
    ]
    debates = Debates(runs, person=True)
    if not wishes:
        raise InputError(_list_changes(debates.find(run)))
    planned = debates.plan_contest(run, wishes, settings)
    if dry_run:
        flags.print_estimate(loop.run(planned.estimate()), json=json)
        return
    progress.follow(planned.begin(), json=json, quiet=quiet)


def _list_changes(folder: RunFolder) -> str:
    """Return the message for a contest without a change: each change that the run takes, with an example."""
    from dialectree.contests.examples import list_examples

    lines = ["nothing is contested; this run takes:"]
    for change in list_examples(folder):
        words = ["contest", str(folder.path), f"--{change.change.replace('_', '-')}", change.where]
        text = [change.text] if change.text else []
        lines += [f"{program()} {join_words([*words, *text])}", f"    {_CHANGES[change.change][1]}"]
    return "\n".join([*lines, "--dry-run says what a change costs, before it is made"])
