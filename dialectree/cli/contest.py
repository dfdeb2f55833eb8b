"""``dialectree contest``: change something in a finished run, and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from dialectree.cli import flags
from dialectree.cli.runs import Run
from dialectree.errors import InputError

if TYPE_CHECKING:
    from dialectree.contests import Wish

Strengths = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Another intrinsic strength: 0 to 1, or none.", metavar="ID=STRENGTH"
    ),
]
Dropped = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Take an argument out of the reckoning.", metavar="ID"),
]
Flipped = Annotated[
    list[str] | None, typer.Option("--flip", help="Let the other one win.", metavar="ID:ID")
]
Voided = Annotated[
    list[str] | None,
    typer.Option("--void", help="Let a comparison count for nobody.", metavar="ID:ID"),
]
Restored = Annotated[
    list[str] | None,
    typer.Option("--restore", help="Take a drop or a void back.", metavar="ID|ID:ID"),
]
Added = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--add",
        help="An argument of your own; a model scores and compares it.",
        metavar="support|attack:ID TEXT",
    ),
]


class OneAddition(TyperCommand):
    """Refuses a second ``--add``: the parser would keep the last one alone, and say nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if sum(word.partition("=")[0] == "--add" for word in args) > 1:
            raise InputError("--add: one argument at a time; contest the new run to add another")
        return super().parse_args(ctx, args)


@flags.settings(flags.MODELS, flags.LIMITS)
def contest(
    run: Run,
    settings: dict[str, Any],
    strength: Strengths = None,
    drop: Dropped = None,
    flip: Flipped = None,
    void: Voided = None,
    restore: Restored = None,
    add: Added = None,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Change something in a run of ART and recompute what depends on it, as a new run.

    Ids are those that `dialectree show RUN` prints. Only --add asks a model.
    """
    from dialectree.cli import progress
    from dialectree.contests import Drop, Flip, Restore, Void, start
    from dialectree.runs import RunFolder

    wishes: list[Wish] = [_set(text) for text in strength or []]
    wishes += [Drop(name.strip()) for name in drop or []]
    wishes += [Flip(*_pair("--flip", text)) for text in flip or []]
    wishes += [Void(*_pair("--void", text)) for text in void or []]
    for text in restore or []:
        wishes.append(Restore(*_pair("--restore", text)) if ":" in text else Restore(text.strip()))
    if add:
        wishes.append(_add(*add))
    contesting = start(RunFolder.find(run, runs), wishes, runs, settings)
    progress.follow(contesting, json=json, quiet=quiet)


def _set(text: str) -> Wish:
    from dialectree.contests import Set

    name, _, figure = (part.strip() for part in text.partition("="))
    try:
        tau = None if figure == "none" else float(figure)
    except ValueError:
        tau = -1.0
    if not name or not (tau is None or 0 <= tau <= 1):
        raise InputError(f"--set {text}: write ID=STRENGTH with a strength in 0 to 1: 0.1=0.3")
    return Set(name, tau)


def _pair(flag: str, text: str) -> tuple[str, str]:
    one, sign, other = (part.strip() for part in text.partition(":"))
    if not (one and sign and other) or ":" in other:
        raise InputError(f"{flag} {text}: write ID:ID, such as 0.0:0.1")
    return one, other


def _add(where: str, text: str) -> Wish:
    from dialectree.contests import Add

    stance, _, parent = (part.strip() for part in where.partition(":"))
    if stance not in ("support", "attack") or not parent:
        raise InputError(f"--add {where}: write support:ID or attack:ID, then the text")
    return Add("support" if stance == "support" else "attack", parent, text)
