"""An evaluation with a scripted model: a data file, rows, and all that came of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialectree.evals import datasets, rows, running
from dialectree.evals import plan as planning
from dialectree.evals.judges import TruthReply
from dialectree.evals.matrix import Written
from dialectree.evals.plan import Plan
from dialectree.evals.results import Result
from dialectree.evals.results_file import Folder
from dialectree.evals.standing import Spending, Standing
from dialectree.evals.tasks import TASKS
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.protocols.settings import ProtocolSettings, build
from tests.graphs.role_switching_debate.switching import debaters
from tests.scripted import ScriptedModel

OPTIONS = ("animal products", "plant materials", "solar energy")
OF_A_PLAN = (
    *("vote_first", "limit", "sample", "shard"),
    *("repeats", "cluster", "retry_failed"),
)
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
    columns: str | None = None,
    **options: Any,
) -> Plan:
    """What is to be run; ``options`` are those of a plan, and settings that flags would give."""
    chosen = {name: options.pop(name) for name in OF_A_PLAN if name in options}
    loaded = datasets.load(data, mapped=columns, cluster=chosen.get("cluster"))
    task = planning.task_of(loaded)
    ready = rows.ready(written or [row()], task, {"model": speaker, **options})
    marking = build(ProtocolSettings, model=judge or speaker) if TASKS[task].judged else None
    return planning.make_plan(loaded, ready, marking, seed=options.get("seed", 0), **chosen)


def evaluate(planned: Plan, out: str = "out", **budgets: Any) -> Standing:
    """Run it to its end, or to whatever ends it."""
    folder = Folder(Path(out))
    with folder.locked():
        return asyncio.run(
            running.run(folder, planned, Spending(build(ProtocolSettings, **budgets)))
        )


def results(out: str = "out") -> list[Result]:
    """Every result."""
    return list(Folder(Path(out)).results())


def by_item(out: str = "out") -> dict[tuple[str, str], Result]:
    """The results by row and item; every one is there once."""
    found = results(out)
    known = {(one.row, one.item): one for one in found}
    assert len(known) == len(found)
    return known
