"""What ``--help`` prints: groups, examples that work, lines that fit a terminal."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import typer
from pydantic import BaseModel
from typer.main import get_command

from dialectree.interfaces.cli.program import app
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Protocol, load_protocols
from tests.cli.commands import command

COMMANDS = [[], ["show"], ["resume"], ["contest"], ["protocols"], ["doctor"], ["server-file"]]
COMMANDS += [["gate"], ["eval"], ["eval", "run"], ["eval", "report"], ["eval", "list"], ["run"]]
COMMANDS += [["run", name] for name in load_protocols()]


def sections(shown: str) -> dict[str, str]:
    """Return what stands under each heading."""
    heading, *parts = re.split(r"^(\w[\w ]*):\n", shown, flags=re.MULTILINE)
    return {"": heading, **dict(zip(parts[::2], parts[1::2], strict=True))}


def flag(kind: type[BaseModel], name: str) -> str:
    return f"--{get_option_details(kind, name).get('alias') or name.replace('_', '-')}"


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_help_fits_80_columns(words: list[str]) -> None:
    shown = command(*words, "--help").out
    assert shown and max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("words", [["protocols"], ["eval", "list"]], ids=" ".join)
def test_every_list_fits_80_columns(words: list[str]) -> None:
    shown = command(*words).out
    assert shown and max(map(len, shown.splitlines())) <= 80


def test_the_program_shows_its_commands_in_groups_with_two_examples() -> None:
    shown = sections(command("--help").out)
    assert [*shown] == ["", "Examples", "Debate", "Look", "Evaluate", "Set up", "Options"]
    assert shown["Examples"].count("dialectree ") == 2
    for protocol in load_protocols().values():
        assert f"\n  {protocol.command} " in f"\n{shown['Debate']}"
    assert "…" not in str(shown) and "..." not in shown["Debate"]


@pytest.mark.parametrize("protocol", load_protocols().values(), ids=lambda protocol: protocol.name)
def test_a_protocol_shows_common_flags_then_its_own_settings(protocol: Protocol) -> None:
    shown = sections(command("run", protocol.name, "--help").out)
    own = f"Settings of {protocol.name}"
    assert [*shown][:5] == ["", "Examples", "Arguments", "Options", own]
    common = {*re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown["Options"], re.MULTILINE)}
    common -= {flag(protocol.input, name) for name in protocol.input.model_fields}
    assert {"--model", "--base-url", "--max-calls", "--method"} <= common
    assert len(common - {"--help"}) <= 10
    for name in protocol.own_settings():
        if not get_option_details(protocol.settings, name).get("hidden"):
            assert flag(protocol.settings, name) in shown[own]


@pytest.mark.parametrize("protocol", load_protocols().values(), ids=lambda protocol: protocol.name)
def test_the_examples_of_a_protocol_are_calls_that_it_takes(protocol: Protocol) -> None:
    shown = command("run", protocol.name, "--help").out
    run = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]
    assert len(protocol.examples) == 2
    for words in protocol.examples:
        assert f"dialectree run {protocol.name} {words}\n" in shown
        called = run.commands[protocol.name].make_context(protocol.name, shlex.split(words))
        assert set(called.params) >= {*protocol.input.model_fields}


def test_no_command_agrees_to_many_calls_by_itself() -> None:
    group: Any = get_command(app)
    context = typer.Context(group)
    agreeing = [
        (name, parameter.default)
        for name in group.list_commands(context)
        for parameter in group.get_command(context, name).params
        if parameter.name == "yes"
    ]
    assert len(agreeing) > 5 and {default for _, default in agreeing} == {False}
