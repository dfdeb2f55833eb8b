"""``dialectree contest``: change something in a finished run, and see what it does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialectree.cli import flags
from dialectree.cli.help_groups import GroupedCommand
from dialectree.cli.runs import Run
from dialectree.errors import InputError

if TYPE_CHECKING:
    from dialectree.contests import Wish

_ONCE = {"--add": "argument", "--replace": "text", "--verdict": "verdict"}
_SEGMENT = re.compile(r"[A-Za-z]:[0-9]+")
"""A piece of a paper; the two sides of a pair are paths such as ``0.1``."""


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
) -> None:
    """Change something in a run and do again only what depends on it, as a new run.

    Ids are those that `dialectree show RUN` prints: 0.1 is a node, 0.1/A2 a turn (show --node).
    Where a verdict is weighed, as by art, only --add asks a model.
    """
    from dialectree.cli import progress
    from dialectree.contests import Drop, Flip, Replace, Restore, Rule, Void, start
    from dialectree.runs import RunFolder

    wishes: list[Wish] = [_set(text) for text in strength or []]
    wishes += [Drop(name.strip()) for name in drop or []]
    wishes += [Flip(*_pair("--flip", text)) for text in flip or []]
    wishes += [Void(*_pair("--void", text)) for text in void or []]
    for text in restore or []:
        pair = ":" in text and _SEGMENT.fullmatch(text.strip()) is None
        wishes.append(Restore(*_pair("--restore", text)) if pair else Restore(text.strip()))
    if replace:
        wishes.append(Replace(replace[0].strip(), replace[1]))
    if verdict:
        wishes.append(Rule(verdict[0].strip(), verdict[1]))
    if add:
        wishes.append(_add(*add))
    contesting = start(RunFolder.find(run, runs), wishes, runs, settings)
    progress.follow(contesting, json=json, quiet=quiet)


def _set(text: str) -> Wish:
    """Return the wish of one ``--set``."""
    from dialectree.contests import Set

    name, _, number = (part.strip() for part in text.partition("="))
    try:
        tau = None if number == "none" else float(number)
    except ValueError:
        tau = -1.0
    if not name or not (tau is None or 0 <= tau <= 1):
        raise InputError(f"--set {text}: write ID=STRENGTH with a strength in 0 to 1: 0.1=0.3")
    return Set(name, tau)


def _pair(flag: str, text: str) -> tuple[str, str]:
    """Return the two ids of ``ID:ID``."""
    one, sign, other = (part.strip() for part in text.partition(":"))
    if not (one and sign and other) or ":" in other:
        raise InputError(f"{flag} {text}: write ID:ID, such as 0.0:0.1")
    return one, other


def _add(where: str, text: str) -> Wish:
    """Return the wish of ``--add``."""
    from dialectree.contests import Add

    stance, _, parent = (part.strip() for part in where.partition(":"))
    if stance not in ("support", "attack") or not parent:
        raise InputError(f"--add {where}: write support:ID or attack:ID, then the text")
    return Add("support" if stance == "support" else "attack", parent, text)
