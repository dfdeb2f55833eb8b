"""Print the help of commands in groups, with examples, in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

Row = tuple[str, str]
DEBATE, LOOK, EVALUATE, SET_UP = COMMANDS = ("Debate", "Look", "Evaluate", "Set up")
"""The headings of commands, in their order."""
RARE = "For evaluations"
"""The heading of flags that stand last."""


class _ExamplesFirst:
    """Leaves out the end of a help: the examples stand first."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Print nothing."""


class GroupedCommand(_ExamplesFirst, TyperCommand):
    """Prints each flag under its ``rich_help_panel``, and the lines of ``epilog`` as examples."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the examples, the arguments, the common flags, then the others in their groups."""
        _write_examples(self.epilog, formatter)
        rows = []
        for parameter in self.get_params(ctx):
            argument = parameter.param_type_name == "argument"
            heading = getattr(parameter, "rich_help_panel", None)
            record = parameter.get_help_record(ctx)
            if record is not None:
                rows.append(("Arguments" if argument else heading or "Options", record))
        rows.sort(key=lambda row: row[0] == RARE)
        _write_groups(rows, ("Arguments", "Options"), formatter)


class GroupedCommands(_ExamplesFirst, TyperGroup):
    """Prints each command under its ``rich_help_panel``, the lines of ``epilog`` as examples."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the examples, then the commands in their groups, then the flags."""
        _write_examples(self.epilog, formatter)
        rows = []
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                text = command.get_short_help_str(limit=1000)
                rows.append((command.rich_help_panel or "Commands", (name, text)))
        options = (parameter.get_help_record(ctx) for parameter in self.get_params(ctx))
        rows += [("Options", record) for record in options if record is not None]
        _write_groups(rows, COMMANDS, formatter)


def _write_examples(epilog: str | None, formatter: Any) -> None:
    if epilog:
        with formatter.section("Examples"):
            for line in epilog.splitlines():
                formatter.write(f"  {line}\n")


def _write_groups(rows: Iterable[tuple[str, Row]], first: Sequence[str], formatter: Any) -> None:
    """Print the rows under their headings: those in ``first`` first, others as they come."""
    groups: dict[str, list[Row]] = {heading: [] for heading in first}
    for heading, row in rows:
        groups.setdefault(heading, []).append(row)
    for heading, group in groups.items():
        if group:
            with formatter.section(heading):
                formatter.write_dl(group)
