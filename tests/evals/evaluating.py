"""An evaluation with a scripted model: a data file, rows, and all that came of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialectree.context import build
from dialectree.evals import datasets, rows, running, scoring
from dialectree.evals.items import Task
from dialectree.evals.judges import TruthReply
from dialectree.evals.matrix import Written
from dialectree.evals.results import Result
from dialectree.evals.results_file import Folder
from dialectree.evals.running import Plan, Standing
from dialectree.models.limits import Budget
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
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
            {"id": f"q{n}", "claim": f"Cows eat grass on day {n}.", "label": bool(n % 2)}
            | {"best": MARK}
            for n in range(1, count + 1)
        ]
    )


def model(winner: str = OPTIONS[1]) -> ScriptedModel:
    """Plays every role of a role-switching debate and of ``single_shot``, and judges answers."""
    spoken = debaters(winner=winner)
    spoken.will_say(AnswererReply(answer="Grass.", explanation="Known.", confidence=0.9))
    spoken.will_say("TRUE", to=TruthReply)
    return spoken


def row(method: str = "basic", name: str = "", **settings: Any) -> Written:
    return Written(name or method, method, settings, {})


def plan(
    data: Path,
    speaker: ScriptedModel,
    *written: Written,
    judge: ScriptedModel | None = None,
    vote_first: int = 0,
    limit: int | None = None,
    sample: int | None = None,
    shard: str | None = None,
    repeats: int = 1,
    cluster: str | None = None,
    columns: str | None = None,
    retry_failed: bool = False,
    **given: Any,
) -> Plan:
    """What is to be run; ``given`` is what flags would give."""
    loaded = datasets.load(data, mapped=columns, cluster=cluster)
    task: Task = running.task_of(loaded)
    given = {"model": speaker, **given}
    marking = build(model=judge or speaker) if scoring.judged(task) else None
    return Plan(
        loaded=loaded,
        task=task,
        items=running.taken(
            loaded.items,
            limit,
            shard,
            sample=sample,
            seed=given.get("seed", 0),
            repeats=repeats,
        ),
        rows=rows.ready(written or [row()], task, given),
        judge=marking,
        judge_spec="live:ScriptedModel" if marking else None,
        judge_demonstration=False,
        vote_first=vote_first,
        seed=given.get("seed", 0),
        limit=limit,
        sample=sample,
        shard=shard,
        repeats=repeats,
        cluster=cluster,
        retry_failed=retry_failed,
    )


def evaluate(planned: Plan, out: str = "out", **budgets: Any) -> Standing:
    """Run it to its end, or to whatever ends it."""
    folder = Folder(Path(out))
    with folder.held():
        return asyncio.run(running.run(folder, planned, Budget(build(**budgets))))


def results(out: str = "out") -> list[Result]:
    """Every result."""
    return list(Folder(Path(out)).results())


def by_item(out: str = "out") -> dict[tuple[str, str], Result]:
    """The results by row and item; every one is there once."""
    found = results(out)
    known = {(one.row, one.item): one for one in found}
    assert len(known) == len(found)
    return known
