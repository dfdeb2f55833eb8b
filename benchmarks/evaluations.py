"""Evaluations: how busy hundreds of questions keep one endpoint, and what they leave in memory.

``python -m benchmarks.evaluations URL FOLDER COUNT`` runs one in this process and prints, as JSON,
what it took.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.endpoint import ROOT, LocalEndpoint
from benchmarks.figures import Figure
from benchmarks.ideal import role_switching_debate

SLOTS, QUESTIONS, EARLY = 64, 500, 50
LEAST = {0.5: 0.90, 0.2: 0.85}
"""Utilisation by seconds that a call takes."""
GROWTH_LIMIT = 1.2
OPTIONS = ["animal products", "oil products"]
RULES = [{"match": "", "set": {"label": "B", "answer": OPTIONS[1]}}]


class Taken(NamedTuple):
    """What one evaluation took."""

    results: int
    cpu_s: float
    early_mb: float
    """Resident memory when the first questions had ended."""
    late_mb: float
    """The same at the end."""


def evaluations(folder: Path) -> Iterator[Figure]:
    """Hundreds of role-switching debates over one endpoint."""
    calls = QUESTIONS * role_switching_debate().calls
    for latency_s, least in LEAST.items():
        part = f"an evaluation of {QUESTIONS} questions of RSD, {SLOTS} slots of {latency_s:g} s"
        options: dict[str, Any] = {"latency_ms": latency_s * 1000, "max_concurrency": SLOTS}
        with LocalEndpoint(rules=RULES, **options) as endpoint:
            taken = evaluated(endpoint.url, folder / f"{latency_s:g}", QUESTIONS)
            stats = endpoint.stats()
        yield Figure(
            part,
            "share of the slots' time left unused",
            1 - stats["utilisation"],
            limit=1 - least,
            note=f"utilisation {stats['utilisation']:.3f}; {stats['wall_s']:.1f} s",
        )
        yield Figure(part, "CPU of a call, the start included", 1000 * taken.cpu_s / calls, "ms")
        yield Figure(
            part,
            f"memory after {QUESTIONS} questions over that after {EARLY}",
            taken.late_mb / taken.early_mb,
            limit=GROWTH_LIMIT,
            note=f"{taken.early_mb:.0f} and {taken.late_mb:.0f} MB",
        )
        wrong = abs(stats["calls"] - calls) + stats["duplicate_requests"]
        wrong += abs(taken.results - QUESTIONS)
        yield Figure(part, "calls or results too many or too few", wrong, limit=0)


def evaluated(url: str, folder: Path, count: int) -> Taken:
    """An evaluation in a new process."""
    command = [sys.executable, "-m", "benchmarks.evaluations", url, str(folder), str(count)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Taken(**json.loads(done.stdout))


def _here(url: str, folder: Path, count: int) -> Taken:
    from dialectree import loop
    from dialectree.context import build
    from dialectree.evals import datasets, rows, running
    from dialectree.evals.matrix import of_methods
    from dialectree.evals.results_file import Folder
    from dialectree.models.limits import Budget

    os.environ["DIALECTREE_CACHE_DIR"] = str(folder / "cache")
    folder.mkdir(parents=True)
    data = folder / "questions.jsonl"
    asked = ({"id": f"q{n}", "question": f"What does car {n} burn?"} for n in range(count))
    more = {"options": OPTIONS, "gold": "B"}
    data.write_text("".join(json.dumps({**question, **more}) + "\n" for question in asked))
    loaded = datasets.load(data)
    given = {"model": "openai:any", "base_url": url, "concurrency": SLOTS}
    plan = running.Plan(
        loaded=loaded,
        task="decide",
        items=loaded.items,
        rows=rows.ready(of_methods(["rsd"], {}), "decide", given),
        judge=None,
        judge_spec=None,
        judge_demonstration=False,
        vote_first=0,
        seed=0,
    )
    early: list[float] = []

    def watch(standing: running.Standing) -> None:
        if standing.done == min(EARLY, count):
            early.append(_resident_mb())

    evaluation = Folder(folder / "out")
    gc.collect()
    gc.freeze()
    began = time.process_time()
    with evaluation.held():
        standing = loop.run(running.run(evaluation, plan, Budget(build()), watch))
    return Taken(standing.done, time.process_time() - began, early[0], _resident_mb())


def _resident_mb() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e6


if __name__ == "__main__":
    url, folder, count = sys.argv[1:]
    print(json.dumps(_here(url, Path(folder), int(count))._asdict()))
