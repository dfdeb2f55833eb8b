"""An evaluation by the command, in the current folder: its questions, and what it left."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("dialectree"))


def data(count: int) -> str:
    """A file of questions with two options; their ids are q0, q1 ..."""
    asked = [
        {"id": f"q{n}", "question": f"What grows on day {n}?", "options": ["a cow", "a tree"]}
        for n in range(count)
    ]
    Path("mine.jsonl").write_text("".join(json.dumps({**one, "gold": "B"}) + "\n" for one in asked))
    return "mine.jsonl"


def words(count: int, *more: str) -> list[str]:
    """A command that asks them in the folder ``out``."""
    command = [PROGRAM, "eval", data(count), "--methods", "basic", "--out", "out", "--no-cache"]
    return [*command, "-q", *more]


def results(folder: str = "out") -> list[dict[str, Any]]:
    """What is in results.jsonl."""
    return [json.loads(line) for line in Path(folder, "results.jsonl").read_text().splitlines()]


def paid() -> int:
    """Calls as the results count them."""
    return sum(int(one["usage"]["calls"]) for one in results())


def kept() -> int:
    """Calls as the journals have them."""
    return sum(len(p.read_text().splitlines()) for p in Path("out/runs").rglob("calls.jsonl"))
