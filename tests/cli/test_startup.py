"""A command starts at once: it imports what it needs, and no other command."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from dialectree.interfaces.cli import evaluation_commands, program
from dialectree.interfaces.cli.lazy_commands import LazyCommand
from dialectree.protocols.protocol import load_protocols

PROCESS = """
import sys
from dialectree.interfaces.cli import main

sys.argv = ["dialectree", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""
ALWAYS_LATER = {"langgraph", "langchain_core", "openai", "httpx", "asyncio", "rich"}
"""What a debate needs, and no help."""
DECLARATIONS = {"dialectree.protocols.protocol", "dialectree.graphs", "dialectree.nodes"}
RECORDS = {"dialectree.records", "dialectree.service", "dialectree.evals", "dialectree.models"}
OWN_MODULES = {row.code for row in program.COMMANDS.values() if isinstance(row.code, str)}
OTHERS = {code.partition(":")[0] for code in OWN_MODULES} - {program.__name__}


NOT_FOR = {
    "--version": {"pydantic", *DECLARATIONS, *RECORDS, *OTHERS},
    "--help": {*RECORDS, *OTHERS} - {"dialectree.interfaces.cli.debate"},
    "decide --help": {*RECORDS, *OTHERS} - {"dialectree.interfaces.cli.debate"},
    "eval --help": {"dialectree.interfaces.cli.evaluate", "dialectree.graphs", *RECORDS},
    "show --help": {"dialectree.graphs", *RECORDS, *OTHERS} - {"dialectree.interfaces.cli.runs"},
}
"""By call, what it leaves alone besides."""


@pytest.mark.parametrize("words", NOT_FOR)
def test_a_help_imports_nothing_that_it_does_not_show(words: str) -> None:
    call = [sys.executable, "-c", PROCESS, *words.split()]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout
    imported = {*done.stderr.split()}
    assert "dialectree.interfaces.cli.program" in imported
    assert imported & (ALWAYS_LATER | NOT_FOR[words]) == set()


def rows(group: Any) -> list[tuple[str, LazyCommand, Any]]:
    """Return each command of a group: its name, its row in the table, and the command."""
    return [(name, row, group.commands[name]) for name, row in group.commands.rows().items()]


def test_the_help_of_a_group_says_what_each_command_says_of_itself() -> None:
    group: Any = get_command(program.app)
    table = [*rows(group), *rows(group.commands["run"]), *rows(group.commands["eval"])]
    assert len(table) >= len(program.COMMANDS) + len(evaluation_commands.COMMANDS)
    for name, row, command in table:
        assert row.line() == command.get_short_help_str(limit=1000), name


def test_the_program_has_the_verb_of_each_protocol_and_run_its_name() -> None:
    group: Any = get_command(program.app)
    verbs = {one.command for one in load_protocols().values()}
    assert {*group.commands} == verbs | {*program.COMMANDS}
    assert {*group.commands["run"].commands} == {*load_protocols()}


def test_a_fault_in_a_command_is_not_taken_for_a_misspelt_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise KeyError("inside")

    table = {**program.COMMANDS, "demo": LazyCommand(fail, "Fail.")}
    monkeypatch.setattr(program.Program, "table", table)
    group: Any = get_command(program.app)
    with pytest.raises(KeyError, match="inside"):
        group.get_command(None, "demo")
    assert group.get_command(None, "demonstrate") is None
