"""The commands that debate: one for each protocol, made of its declaration."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dialectree.cli import flags
from dialectree.protocol import Protocol, broken, installed


def add_commands(app: typer.Typer) -> None:
    """Add a command for each protocol that has a verb, ``run`` for any, and their list."""
    every = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        help="Debate by any installed protocol: dialectree run NAME.",
    )
    for protocol in installed().values():
        if protocol.command:
            app.command(protocol.command, no_args_is_help=True)(command(protocol))
        every.command(protocol.name, no_args_is_help=True)(command(protocol))
    app.add_typer(every, name="run")
    app.command("protocols")(protocols)


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
    @flags.with_fields(*protocol.declared_settings(), more=[method_option])
    def debate(
        inputs: dict[str, Any],
        settings: dict[str, Any],
        method: str,
        runs: flags.Runs = Path("runs"),
        json: flags.Json = False,
        quiet: flags.Quiet = False,
    ) -> None:
        from dialectree.cli import progress
        from dialectree.protocol import method as find_method
        from dialectree.runner import start
        from dialectree.streams import notice

        chosen = find_method(method, protocol.name)
        context = chosen.configure(settings, notice)
        read = {name: sys.stdin.read() if text == "-" else text for name, text in inputs.items()}
        progress.follow(start(chosen, read, context, runs), json=json, quiet=quiet)

    debate.__doc__ = protocol.summary
    return debate


def protocols(json: flags.Json = False) -> None:
    """List the protocols that are installed, and those that cannot be used."""
    from pydantic_core import to_json

    if json:
        rows = [
            {
                "name": one.name,
                "title": one.title,
                "package": package(one),
                "command": one.command or f"run {one.name}",
                "methods": [*one.methods()],
                "settings": sorted(one.own_settings()),
            }
            for one in installed().values()
        ]
        print(to_json({"protocols": rows, "broken": broken()}, indent=1).decode())
        return
    for one in installed().values():
        print(f"{one.name}  {one.title} ({package(one)})")
        print(f"    dialectree {one.command or f'run {one.name}'}: {one.summary}")
        print(f"    methods: {', '.join(one.methods())}")
        print(f"    settings: {', '.join(sorted(one.own_settings()))}")
    for path, fault in broken().items():
        print(f"cannot be used: {path}: {fault}", file=sys.stderr)


def package(protocol: Protocol) -> str:
    """Return the package that a protocol comes with."""
    return protocol.graph.partition(".")[0].partition(":")[0]
