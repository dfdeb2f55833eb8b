"""Print the help of commands in groups, with examples, in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand

from dialectree.errors import InputError
from dialectree.interfaces.cli.wrong_calls import explain_joined_values

Row = tuple[str, str]
DEBATE, LOOK, EVALUATE, SET_UP = HEADINGS = ("Debate", "Look", "Evaluate", "Set up")
"""The headings of commands, in their order."""
RARE = "For evaluations"
"""The heading of the flags that come last."""


class ExamplesFirst:
    """Prints no epilog, because :func:`write_examples` prints the examples before the flags."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Print nothing."""


class GroupedCommand(ExamplesFirst, TyperCommand):
    """Prints each flag under its ``rich_help_panel``, and the lines of ``epilog`` as examples."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; add to an error the correction of a flag that got several values in one."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            for correction in explain_joined_values(self.params, ctx.params, str(error)):
                error.add_note(correction)
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the examples, the arguments, the common flags, then the others in their groups."""
        write_examples(self.epilog, formatter)
        rows = []
        for parameter in self.get_params(ctx):
            argument = parameter.param_type_name == "argument"
            heading = getattr(parameter, "rich_help_panel", None)
            record = parameter.get_help_record(ctx)
            if record is not None:
                rows.append(("Arguments" if argument else heading or "Options", record))
        rows.sort(key=lambda row: row[0] == RARE)
        write_groups(rows, ("Arguments", "Options"), formatter)


def write_examples(examples: str | None, formatter: Any) -> None:
    """Print the lines of ``examples``, if there are any."""
    if examples:
        with formatter.section("Examples"):
            for line in examples.splitlines():
                formatter.write(f"  {line}\n")


def write_groups(rows: Iterable[tuple[str, Row]], first: Sequence[str], formatter: Any) -> None:
    """Print the rows under their headings: the headings in ``first``, then the others as they come."""
    groups: dict[str, list[Row]] = {heading: [] for heading in first}
    for heading, row in rows:
        groups.setdefault(heading, []).append(row)
    for heading, group in groups.items():
        if group:
            with formatter.section(heading):
                formatter.write_dl(group)
