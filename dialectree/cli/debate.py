"""The commands that debate: one for each protocol, made of its declaration."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from dialectree.cli import flags
from dialectree.cli.help_groups import DEBATE, GroupedCommand
from dialectree.cli.lazy_commands import LazyCommand, LazyGroup
from dialectree.protocols.options import about
from dialectree.protocols.protocol import Protocol, installed, refuse, unusable
from dialectree.system import streams
from dialectree.system.packages import pip_line


def usable_protocols() -> dict[str, Protocol]:
    """Return the installed protocols by name, without those of which no command can be made.

    A stranger's declaration is tried. Ours are tested.
    """
    for protocol in [*installed().values()]:
        if not protocol.ours:
            try:
                command(protocol)
            except Exception as error:  # whatever a stranger's declaration makes impossible
                refuse(protocol.name, error)
    return installed()


def verbs() -> dict[str, LazyCommand]:
    """Return the commands of the protocols that have a verb, by that verb."""
    return {
        protocol.command: _lazy_command(protocol, protocol.command, panel=DEBATE)
        for protocol in usable_protocols().values()
        if protocol.command
    }


class RunByName(LazyGroup):
    """``dialectree run``: the installed protocols, each by its name."""

    def read_declarations(self) -> dict[str, LazyCommand]:
        """Return the command of each protocol."""
        return {
            name: _lazy_command(protocol, f"run {name}")
            for name, protocol in usable_protocols().items()
        }


run_app = typer.Typer(
    cls=RunByName,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Debate by any installed protocol: dialectree run NAME.",
)


def _lazy_command(protocol: Protocol, name: str, **options: Any) -> LazyCommand:
    """Return the command of a protocol, with the examples that it declares."""
    examples = "\n".join(f"dialectree {name} {words}" for words in protocol.examples)
    return LazyCommand(
        partial(command, protocol),
        protocol.summary,
        cls=GroupedCommand,
        no_args_is_help=True,
        examples=examples,
        **options,
    )


def examples() -> str:
    """Return two examples for the help of the program: the first one of two protocols."""
    lines = [
        f"dialectree {one.command} {one.examples[0]}"
        for one in installed().values()
        if one.command and one.examples
    ]
    return "\n".join(lines[:2])


def command(protocol: Protocol) -> flags.Command:
    """Return the command of one protocol."""
    names = ", ".join(protocol.methods())
    method_option = inspect.Parameter(
        "method",
        inspect.Parameter.KEYWORD_ONLY,
        default=protocol.name,
        annotation=Annotated[str, typer.Option(help=f"One of {names}.")],
    )

    @flags.with_fields(
        *((protocol.input, name) for name in protocol.input.model_fields), given_as="inputs"
    )
    @flags.with_fields(*_settings(protocol), more=[method_option])
    def debate(
        inputs: dict[str, Any],
        settings: dict[str, Any],
        method: str,
        runs: flags.Runs = Path("runs"),
        json: flags.Json = False,
        quiet: flags.Quiet = False,
        dry_run: flags.DryRun = False,
        yes: flags.Yes = False,
    ) -> None:
        from dialectree.cli import consent, progress
        from dialectree.protocols.protocol import method as find_method
        from dialectree.service.debates import Debates
        from dialectree.system import loop

        read = {name: sys.stdin.read() if text == "-" else text for name, text in inputs.items()}
        chosen = find_method(method, protocol.name)
        with progress.reading(quiet=quiet or json) as told:
            planned = Debates(runs, person=True).plan(chosen, read, settings, told)
        for remark in planned.remarks:
            flags.notice(remark)
        loop.tune()
        expected = loop.run(planned.estimate())
        if dry_run:
            flags.print_estimate(expected, json=json)
            return
        if not quiet:
            flags.notice(str(expected))
        if not yes:
            consent.require(expected, planned.context)
        run = planned.begin()
        run.expected = expected.expected
        progress.follow(run, json=json, quiet=quiet)

    debate.__doc__ = protocol.summary
    return debate


def _settings(protocol: Protocol) -> list[tuple[type[BaseModel], str]]:
    """Return the settings of a protocol, the common ones first."""
    declared = protocol.declared_settings()
    return sorted(declared, key=lambda field: not about(*field).get("common"))


def protocols(json: flags.Json = False) -> None:
    """List the protocols that are installed, and those that cannot be used."""
    from pydantic_core import to_json

    usable = usable_protocols().values()
    faults = unusable()
    if json:
        rows = [
            {
                "name": one.name,
                "title": one.title,
                "package": package(one),
                "command": one.command or f"run {one.name}",
                "methods": [*one.methods()],
                "settings": sorted(one.own_settings()),
                "requires": one.requires,
                "missing": one.missing(),
            }
            for one in usable
        ]
        print(to_json({"protocols": rows, "broken": faults}, indent=1).decode())
        return
    for one in usable:
        streams.listed(f"{one.name}  {one.title} ({package(one)})")
        streams.listed(f"dialectree {one.command or f'run {one.name}'}: {one.summary}", indent=4)
        streams.listed(f"methods: {', '.join(one.methods())}", indent=4)
        streams.listed(f"settings: {', '.join(sorted(one.own_settings()))}", indent=4)
        if one.missing():
            needs = pip_line(one.requires, one.install_advice)
            streams.listed(f"needs: {needs}", indent=4)
    for path, fault in faults.items():
        print(f"cannot be used: {path}: {fault}", file=sys.stderr)


def package(protocol: Protocol) -> str:
    """Return the package that a protocol comes with."""
    return protocol.graph.partition(".")[0].partition(":")[0]
