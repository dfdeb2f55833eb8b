"""An evaluation with a scripted model: a data file, rows, and all that came of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialectree.evals.matrix import Matrix, MatrixEntry
from dialectree.evals.options import EvaluationOptions, read_options
from dialectree.evals.plan import Plan, prepare
from dialectree.evals.results import Result
from dialectree.evals.results_file import Folder
from dialectree.evals.running import conduct
from dialectree.evals.scorers import TruthReply
from dialectree.evals.standing import Standing
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.protocols.settings import ProtocolSettings, build_settings
from tests.graphs.role_switching_debate.switching import debaters
from tests.scripted import ScriptedModel

OPTIONS = ("animal products", "plant materials", "solar energy")
MARK = "Zanzibar"
"""Stands in what only a scorer may see."""


def write(rows: Sequence[Mapping[str, Any]], path: Path = Path("data.jsonl")) -> Path:
    """A data file of rows in our own words."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def choices(count: int, gold: str = "B") -> Path:
    """Questions with options."""
    return write(
        [
            {"id": f"q{n}", "question": f"What do cows eat on day {n}?", "options": OPTIONS}
            | {"gold": gold, "true": [f"{MARK} {n}"], "best": f"{MARK} {n}"}
            for n in range(1, count + 1)
        ]
    )


def opens(count: int) -> Path:
    """Questions without options."""
    return write(
        [
            {"id": f"q{n}", "question": f"What do cows eat on day {n}?"}
            | {"true": [f"{MARK} grass"], "false": [f"{MARK} stones"]}
            for n in range(1, count + 1)
        ]
    )


def claims(count: int) -> Path:
    """Claims, every second one true."""
    return write(
        [
            {"id": f"q{n}", "claim": f"Cows eat grass on day {n}.", "label": bool(n % 2)} | {"best": MARK}
            for n in range(1, count + 1)
        ]
    )


def model(winner: str = OPTIONS[1]) -> ScriptedModel:
    """Plays every role of a role-switching debate and of ``single_shot``, and judges answers."""
    spoken = debaters(winner=winner)
    spoken.will_say(AnswererReply(answer="Grass.", explanation="Known.", confidence=0.9))
    spoken.will_say("TRUE", to=TruthReply)
    return spoken


def row(method: str = "basic", name: str = "", **settings: Any) -> MatrixEntry:
    return MatrixEntry(name=name or method, method=method, settings=settings)


def plan(
    data: Path,
    speaker: ScriptedModel,
    *written: MatrixEntry,
    judge: ScriptedModel | None = None,
    **given: Any,
) -> Plan:
    """What is to be run; ``given`` are options, and settings that flags would give."""
    Path("rows.yaml").write_text(Matrix(rows=[*written] or [row()]).model_dump_json())
    options = {name: given.pop(name) for name in EvaluationOptions.model_fields if name in given}
    if judge is not None:
        options["judge"] = judge
    options = {"matrix": "rows.yaml", "out": "out", **options}
    return prepare(data, read_options(options), {"model": speaker, **given})


def evaluate(planned: Plan, out: str = "out", **budgets: Any) -> Standing:
    """Run it to its end, or to whatever ends it."""
    planned = replace(planned, folder=Folder(Path(out)), shared=build_settings(ProtocolSettings, **budgets))
    return asyncio.run(conduct(planned))


def results(out: str = "out") -> list[Result]:
    """Every result."""
    return list(Folder(Path(out)).results())


def by_item(out: str = "out") -> dict[tuple[str, str], Result]:
    """The results by row and item; every one is there once."""
    found = results(out)
    known = {(one.row, one.item): one for one in found}
    assert len(known) == len(found)
    return known
