"""RSD and ART: wall time over the ideal, and how busy many debates keep one endpoint."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.endpoint import LocalEndpoint
from benchmarks.figures import Figure
from benchmarks.ideal import Cost, argument_tree, role_switching_debate
from dialectree.conduct import start
from dialectree.context import build
from dialectree.graphs import method
from dialectree.records import RunRecord

LATENCY_S = 0.2
SLOTS, TOGETHER, SLOW_S = 64, 100, 0.5
UTILISED = 0.88
RATIO_LIMIT, RATIO_TARGET = 1.15, 1.05
WALLS = "wall time over the ideal, one debate of RSD or one tree of ART, 200 ms a call"
QUESTION = "Which of these does the engine of a car burn?"
OPTIONS = ["animal products", "oil products"]
RULES = [{"match": "", "set": {"label": "B", "answer": OPTIONS[1]}}]
"""The judge's label and answer agree; debaters hold their candidates whatever they are called."""


class Case(NamedTuple):
    """One way to debate, and what it must cost."""

    name: str
    method: str
    cost: Cost
    settings: dict[str, Any]
    checked: bool = True
    """Whether it has to keep the limit. Where dozens of calls go out at once their CPU shows."""


CASES = (
    Case("RSD", "rsd", role_switching_debate(), {}),
    Case(
        "RSD, cross-examination at once",
        "rsd",
        role_switching_debate(in_turn=False),
        {"cross_examination": "simultaneous"},
    ),
    Case("ART, breadth 1, depth 1", "art", argument_tree(1, 1), {}),
    Case("ART, breadth 2, depth 2", "art", argument_tree(2, 2), {"breadth": 2, "depth": 2}, False),
)


async def conducted(case: Case, url: str, runs: Path, question: str, **more: Any) -> RunRecord:
    """One run with its folder and journal; the reply cache lies beside it."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(runs)
    context = build(model="openai:any", base_url=url, **case.settings, **more)
    options: dict[str, Any] = {"options": OPTIONS} if case.method == "rsd" else {}
    return await start(method(case.method), question, context, runs, **options).conduct()


def protocols(folder: Path, repeats: int) -> Iterator[Figure]:
    """Every case alone, and many debates of RSD at once."""
    wrong = 0
    for case in CASES:
        walls_s: list[float] = []
        with LocalEndpoint(latency_ms=LATENCY_S * 1000, rules=RULES) as endpoint:
            for n in range(repeats + 1):
                endpoint.reset()
                place = folder / f"{case.name} {n}"
                asyncio.run(conducted(case, endpoint.url, place, QUESTION))
                stats = endpoint.stats()
                wrong += abs(stats["calls"] - case.cost.calls) + stats["duplicate_requests"]
                walls_s.append(stats["wall_s"])
        ideal = case.cost.seconds(LATENCY_S)
        yield Figure(
            WALLS,
            case.name,
            min(walls_s) / ideal,
            limit=RATIO_LIMIT if case.checked else None,
            target=RATIO_TARGET,
            note=f"{case.cost.calls} calls, path {case.cost.path}; "
            f"worst {max(walls_s) / ideal:.3f}",
        )
    yield Figure(WALLS, "calls too many, too few or made twice", wrong, limit=0)
    yield from _together(folder / "together")


def _together(folder: Path) -> Iterator[Figure]:
    part = f"{TOGETHER} questions of RSD at once on {SLOTS} slots of {SLOW_S * 1000:.0f} ms"
    options: dict[str, Any] = {"latency_ms": SLOW_S * 1000, "max_concurrency": SLOTS}
    with LocalEndpoint(rules=RULES, **options) as endpoint:
        began, cpu = time.perf_counter(), time.process_time()
        records = asyncio.run(_all(endpoint.url, folder))
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        stats = endpoint.stats()
    calls = TOGETHER * CASES[0].cost.calls
    waves = -(-calls // SLOTS)
    most = calls / (waves * SLOTS)
    missed = 1 - stats["utilisation"]
    note = f"utilisation {stats['utilisation']:.3f}; can be {most:.4f} at most"
    yield Figure(
        part,
        "share of the slots' time left unused",
        missed,
        limit=0.15,
        target=1 - UTILISED,
        note=note,
    )
    yield Figure(
        part,
        "wall time over the waves' own",
        wall_s / (waves * SLOW_S),
        note="start of the runs included",
    )
    yield Figure(part, "CPU of a call", 1000 * cpu_s / calls, "ms")
    wrong = abs(stats["calls"] - calls) + stats["duplicate_requests"]
    wrong += sum(record.status != "answered" for record in records)
    yield Figure(part, "calls too many, too few or made twice; runs not answered", wrong, limit=0)


async def _all(url: str, folder: Path) -> list[RunRecord]:
    gc.collect()
    gc.freeze()
    questions = (f"{QUESTION} ({n})" for n in range(1, TOGETHER + 1))
    return await asyncio.gather(
        *(conducted(CASES[0], url, folder, q, concurrency=SLOTS) for q in questions)
    )
