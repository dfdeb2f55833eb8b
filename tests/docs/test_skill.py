"""The skill for coding agents is in step with the declarations and the commands."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
import yaml

from dialectree.interfaces.cli.program import app

ROOT = Path(__file__).resolve().parents[2]
_made: Any = import_module("docs.skill")
FILE, skill = _made.FILE, _made.skill


def test_the_skill_is_what_the_declarations_make() -> None:
    """Otherwise: python -m docs.skill."""
    assert (ROOT / FILE).read_text(encoding="utf-8") == skill()


def test_the_skill_has_the_front_matter_that_coding_agents_read() -> None:
    _, front, _ = skill().split("---\n", 2)
    head = yaml.safe_load(front)
    assert head.keys() == {"name", "description"} and head["name"] == FILE.parent.name
    assert len(head["description"]) <= 1024


def test_the_commands_of_the_skill_are_calls_that_the_program_takes() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    calls = re.findall(r"^dialectree (.+)$", skill(), re.MULTILINE)
    calls += re.findall(r"`dialectree ([a-z]+ (?:FILE|RUN)[^`]*)`", skill())
    assert len(calls) >= 8
    for name, *words in map(shlex.split, calls):
        commands[name].make_context(name, words)
