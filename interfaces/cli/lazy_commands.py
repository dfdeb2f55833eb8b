"""Import commands when they are used: help lists commands without importing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand

from dialectree.interfaces.cli.help_groups import HEADINGS, ExamplesFirst, write_examples, write_groups
from dialectree.interfaces.cli.wrong_calls import SuggestingGroup


@dataclass(frozen=True)
class LazyCommand:
    """A command that is not imported yet: where its code is, and its line in the group's help."""

    code: str | Callable[[], Callable[..., None]]
    """``module:name`` of the function or of a group's Typer app, or a callable that returns the function."""
    help: str
    """The first sentence of the command's docstring."""
    panel: str = "Commands"
    """The heading above the command in the group's help."""
    cls: type[TyperCommand] = TyperCommand
    no_args_is_help: bool = False
    examples: str = ""

    def load(self, name: str) -> Any:
        """Import the code and return the command, or the group, called ``name``."""
        code = resolve_name(self.code) if isinstance(self.code, str) else self.code()
        if isinstance(code, typer.Typer):
            return typer.main.get_group(code)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        command = app.command(name, cls=self.cls, no_args_is_help=self.no_args_is_help, epilog=self.examples)
        command(code)
        return typer.main.get_command(app)

    def line(self) -> str:
        """Return the command's line in the help of its group."""
        return TyperCommand(None, help=self.help).get_short_help_str(limit=1000)


class LoadedCommands(Mapping[str, Any]):
    """The commands of a group by name. Each is loaded when it is asked for.

    Commands that ``table`` lacks come from declarations. Declarations are read to find a command or
    to list all names.
    """

    def __init__(
        self, table: Mapping[str, LazyCommand], read_declarations: Callable[[], Mapping[str, LazyCommand]]
    ) -> None:
        self._table = table
        self._read_declarations = cache(read_declarations)
        self._loaded: dict[str, Any] = {}

    def rows(self) -> dict[str, LazyCommand]:
        """Return the declarations of all commands, in the order of the help."""
        return {**self._read_declarations(), **self._table}

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._read_declarations()

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            row = self._table.get(name) or self._read_declarations()[name]
            self._loaded[name] = row.load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(self.rows())


class LazyGroup(ExamplesFirst, SuggestingGroup):
    """A group that imports a command when the command is used. To print help it imports none."""

    table: ClassVar[Mapping[str, LazyCommand]] = {}
    """The commands that come from no declaration, by name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = LoadedCommands(self.table, self.read_declarations)

    def read_declarations(self) -> Mapping[str, LazyCommand]:
        """Return the commands that come from declarations, by name."""
        return {}

    def examples(self) -> str:
        """Return the example calls, which come first in the help, one per line."""
        return ""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command called ``cmd_name``; None without one."""
        if cmd_name not in self.commands:
            return None
        return self.commands[cmd_name]  # .get would hide a KeyError of the command's module

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*self.commands]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the examples, then the commands in their groups, then the flags."""
        write_examples(self.examples(), formatter)
        commands = self.commands.rows().items()
        rows = [(command.panel, (name, command.line())) for name, command in commands]
        options = (parameter.get_help_record(ctx) for parameter in self.get_params(ctx))
        rows += [("Options", record) for record in options if record is not None]
        write_groups(rows, HEADINGS, formatter)
