"""``dialectree contest``: change something in a finished run, and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dialectree.cli import flags
from dialectree.cli.help_groups import GroupedCommand
from dialectree.cli.runs import Run
from dialectree.errors import InputError

_ONCE = {"--add": "argument", "--replace": "text", "--verdict": "verdict"}


class OneText(GroupedCommand):
    """Refuses a second text of one flag: the parser would keep the last one, and say nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags_given = [word.partition("=")[0] for word in args]
        for flag, what in _ONCE.items():
            if flags_given.count(flag) > 1:
                raise InputError(f"{flag}: one {what} at a time; contest the new run for another")
        return super().parse_args(ctx, args)


@flags.settings(*flags.MODELS_AND_LIMITS)
def contest(
    run: Run,
    settings: dict[str, Any],
    replace: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Let a turn say something else.", metavar="ID TEXT"),
    ] = None,
    verdict: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Set a verdict, an answer or a label.", metavar="ID TEXT"),
    ] = None,
    strength: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Another strength of an argument, 0 to 1, or none.", metavar="ID=STRENGTH"
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Take an argument, a turn or a part out.", metavar="ID"),
    ] = None,
    flip: Annotated[
        list[str] | None, typer.Option(help="Let the other argument win.", metavar="ID:ID")
    ] = None,
    void: Annotated[
        list[str] | None,
        typer.Option(help="Let a comparison count for nobody.", metavar="ID:ID"),
    ] = None,
    restore: Annotated[
        list[str] | None,
        typer.Option(help="Take a change or a void back.", metavar="ID|ID:ID"),
    ] = None,
    add: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Insert an argument of your own; a model scores and compares it.",
            metavar="support|attack:ID TEXT",
        ),
    ] = None,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
) -> None:
    """Change something in a run and do again only what depends on it, as a new run.

    Ids are those that `dialectree show RUN` prints: 0.1 is a node, 0.1/A2 a turn (show --node).
    Where a verdict is weighed, as by art, only --add asks a model.
    """
    from dialectree.cli import progress
    from dialectree.contests import parse
    from dialectree.service.debates import Debates
    from dialectree.system import loop

    several = {"set": strength, "drop": drop, "flip": flip, "void": void, "restore": restore}
    wishes = [parse(change, where) for change, places in several.items() for where in places or []]
    for change, place in (("replace", replace), ("verdict", verdict), ("add", add)):
        if place:
            wishes.append(parse(change, *place))
    planned = Debates(runs, person=True).plan_contest(run, wishes, settings)
    if dry_run:
        flags.print_estimate(loop.run(planned.estimate()), json=json)
        return
    progress.follow(planned.begin(), json=json, quiet=quiet)
