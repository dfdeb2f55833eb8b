"""``dialectree eval``: its commands, and ``run`` as the default command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from dialectree.interfaces.cli.evaluation_path import list_steps
from dialectree.interfaces.cli.help_groups import GroupedCommand
from dialectree.interfaces.cli.lazy_commands import LazyCommand, LazyGroup
from dialectree.system.packages import explain_missing_package

EVALUATING = ("dialectree eval", "dialectree[eval]")
"""The command that needs packages, and the extra by which pip installs the packages."""


COMMANDS: Mapping[str, LazyCommand] = {
    "list": LazyCommand("dialectree.interfaces.cli.evaluate:list_", "List the data sets known by name."),
    "run": LazyCommand(
        "dialectree.interfaces.cli.evaluate:run",
        "Run every method on every item once; the same command goes on after an interruption.",
        cls=GroupedCommand,
        no_args_is_help=True,
    ),
    "report": LazyCommand(
        "dialectree.interfaces.cli.evaluation_report:report",
        "Report on evaluations: tables, plots, every question, and whether debating helped.",
    ),
    "rate": LazyCommand(
        "dialectree.interfaces.cli.evaluation_report:rate",
        "Let people rate answers blindly: rating-sheet.html and .csv, methods hidden behind codes.",
    ),
    "score": LazyCommand(
        "dialectree.interfaces.cli.evaluation_report:score",
        "Score the answers of an evaluation again, by other judges; no debate is held.",
        cls=GroupedCommand,
    ),
    "route": LazyCommand(
        "dialectree.interfaces.cli.route:route",
        "Say below which agreement of votes a debate pays, from questions both voted on and debated.",
    ),
    "calibrate": LazyCommand(
        "dialectree.interfaces.cli.calibrate:calibrate",
        "Fit a calibration to an evaluation's confidences; no call is made.",
    ),
    "audit": LazyCommand(
        "dialectree.interfaces.cli.audit:audit",
        "Say whether a debate is worth it with these models, compared with everything cheaper.",
        cls=GroupedCommand,
        no_args_is_help=True,
    ),
}


class OrRun(LazyGroup):
    """A group with ``run`` as default command: a first word that is no command is a data set."""

    table = COMMANDS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the steps of an evaluation, then the commands and the flags."""
        with formatter.section("One path in four steps"):
            formatter.write_dl(list_steps())
        super().format_options(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run a command. A missing package is an error that says how pip installs the package."""
        with explain_missing_package(*EVALUATING):
            return super().invoke(ctx)


app = typer.Typer(
    cls=OrRun,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Evaluate methods over a data set; then audit, route and calibrate, step by step. "
    "Each step ends with the command of the next one. Flags: dialectree eval DATASET --help.",
)
