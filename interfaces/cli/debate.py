"""Make the commands that debate: one for each protocol, from its declaration."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from dialectree.interfaces.cli import flags, streams
from dialectree.interfaces.cli.help_groups import DEBATE, GroupedCommand
from dialectree.interfaces.cli.lazy_commands import LazyCommand, LazyGroup
from dialectree.interfaces.presets import find_preset, list_presets
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Protocol, load_protocols, refuse, unusable
from dialectree.system.packages import pip_line


def usable_protocols() -> dict[str, Protocol]:
    """Return the installed protocols by name, without those that cannot have a command.

    Declarations of other packages are tried here. Ours need no trial, because tests cover them.
    """
    for protocol in [*load_protocols().values()]:
        if not protocol.ours:
            try:
                command(protocol)
            except Exception as error:  # the declaration of another package can fail in any way
                refuse(protocol.name, error)
    return load_protocols()


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
        return {name: _lazy_command(protocol, f"run {name}") for name, protocol in usable_protocols().items()}


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
    """Return two examples for the help of the program: the first examples of two protocols."""
    lines = [
        f"dialectree {protocol.command} {protocol.examples[0]}"
        for protocol in load_protocols().values()
        if protocol.command and protocol.examples
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

    preset_option = inspect.Parameter(
        "preset",
        inspect.Parameter.KEYWORD_ONLY,
        default="usual",
        annotation=Annotated[
            str,
            typer.Option(
                help=f"Settings to begin with: {', '.join(list_presets(protocol))}.",
                rich_help_panel=f"Settings of {protocol.name}",
            ),
        ],
    )

    @flags.with_fields(*((protocol.input, name) for name in protocol.input.model_fields), given_as="inputs")
    @flags.with_fields(*_settings(protocol), more=[method_option, preset_option])
    def debate(
        inputs: dict[str, Any],
        settings: dict[str, Any],
        method: str,
        preset: str,
        runs: flags.Runs = Path("runs"),
        json: flags.Json = False,
        quiet: flags.Quiet = False,
        dry_run: flags.DryRun = False,
        yes: flags.Yes = False,
    ) -> None:
        from dialectree.interfaces.cli import consent, progress
        from dialectree.interfaces.cli.process import collect_garbage_seldom
        from dialectree.protocols.protocol import method as find_method
        from dialectree.service.debates import Debates
        from dialectree.system import loop

        read = {name: sys.stdin.read() if text == "-" else text for name, text in inputs.items()}
        chosen, settings = find_method(method, protocol.name), {**find_preset(protocol, preset), **settings}
        with progress.reading(quiet=quiet or json) as watch_reading:
            planned = Debates(runs, person=True).plan(chosen, read, settings, watch_reading)
        for remark in planned.remarks:
            flags.notice(remark)
        if not dry_run:
            planned.require_keys()
        collect_garbage_seldom()
        calls = planned.calls
        if dry_run or calls is None or not quiet:
            expected = loop.run(planned.estimate())
            calls = expected.expected
            if dry_run:
                flags.print_estimate(expected, json=json)
                return
            if not quiet:
                flags.notice(str(expected))
        if not yes:
            consent.require(calls[1], planned.context)
        run = planned.begin()
        run.expected = calls
        progress.follow(run, json=json, quiet=quiet)

    debate.__doc__ = protocol.summary
    return debate


def _settings(protocol: Protocol) -> list[tuple[type[BaseModel], str]]:
    """Return the settings of a protocol, the common ones first."""
    declared = protocol.list_declared_settings()
    return sorted(declared, key=lambda field: not get_option_details(*field).get("common"))


def protocols(json: flags.Json = False) -> None:
    """List the protocols that are installed, and those that cannot be used."""
    from pydantic_core import to_json

    usable = usable_protocols().values()
    faults = unusable()
    if json:
        rows = [
            {
                "name": protocol.name,
                "title": protocol.title,
                "package": package(protocol),
                "command": protocol.command or f"run {protocol.name}",
                "methods": [*protocol.methods()],
                "settings": sorted(protocol.own_settings()),
                "requires": protocol.requires,
                "missing": protocol.missing(),
            }
            for protocol in usable
        ]
        print(to_json({"protocols": rows, "broken": faults}, indent=1).decode())
        return
    for protocol in usable:
        streams.print_list_entry(f"{protocol.name}  {protocol.title} ({package(protocol)})")
        streams.print_list_entry(
            f"dialectree {protocol.command or f'run {protocol.name}'}: {protocol.summary}", indent=4
        )
        streams.print_list_entry(f"methods: {', '.join(protocol.methods())}", indent=4)
        streams.print_list_entry(f"settings: {', '.join(sorted(protocol.own_settings()))}", indent=4)
        if protocol.missing():
            needs = pip_line(protocol.requires, protocol.install_advice)
            streams.print_list_entry(f"needs: {needs}", indent=4)
    for path, fault in faults.items():
        print(f"cannot be used: {path}: {fault}", file=sys.stderr)


def package(protocol: Protocol) -> str:
    """Return the package that a protocol comes with."""
    return protocol.graph.partition(".")[0].partition(":")[0]
