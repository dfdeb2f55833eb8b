"""``dialectree answer``, ``decide`` and ``verify``: a question, options or a claim to debate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dialectree.cli import flags

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="One answer to choose from; repeat it. None: an open question.",
        metavar="TEXT",
    ),
]
Gold = Annotated[
    str | None,
    typer.Option(help="The right option's letter; for evaluations only.", metavar="LABEL"),
]


@flags.settings(flags.MODELS, flags.DRAWS, flags.TSD, flags.LEAVES, flags.LIMITS)
def answer(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    settings: dict[str, Any],
    method: Annotated[
        str, typer.Option(help="tsd, or a baseline: single_shot, best_of_n, two_round.")
    ] = "tsd",
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Debate a question and print the verdict."""
    _debate("tsd", method, question, settings, runs, json=json, quiet=quiet)


@flags.settings(flags.MODELS, flags.DRAWS, flags.RSD, flags.LIMITS)
def decide(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    settings: dict[str, Any],
    option: Options = None,
    gold: Gold = None,
    method: Annotated[
        str,
        typer.Option(
            help="rsd, an ablation: no_role_switch, no_uncertainty, basic; or a baseline: "
            "self_consistency, judge_alone."
        ),
    ] = "rsd",
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Let two debaters argue for an answer each, switch sides and own up; a judge decides."""
    more = {"options": option or None, "gold": gold}
    _debate("rsd", method, question, settings, runs, json=json, quiet=quiet, **more)


@flags.settings(flags.MODELS, flags.DRAWS, flags.ART, flags.LIMITS)
def verify(
    claim: Annotated[str, typer.Argument(help="The claim; - reads it from standard input.")],
    settings: dict[str, Any],
    method: Annotated[str, typer.Option(help="art, or a baseline: argllm, direct, cot.")] = "art",
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Grow a tree of arguments for and against a claim; print how probable it makes the claim."""
    _debate("art", method, claim, settings, runs, json=json, quiet=quiet)


def _debate(
    protocol: str,
    method: str,
    question: str,
    settings: dict[str, Any],
    runs: Path,
    *,
    json: bool,
    quiet: bool,
    **more: Any,
) -> None:
    """Start a run and follow it to its end."""
    from dialectree.cli import progress
    from dialectree.conduct import start
    from dialectree.graphs import method as named
    from dialectree.own_settings import configured

    chosen = named(method, protocol)
    context = configured(chosen, settings, progress.notice)
    text = sys.stdin.read() if question == "-" else question
    run = start(chosen, text, context, runs, **more)
    progress.follow(run, json=json, quiet=quiet)
