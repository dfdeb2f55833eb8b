"""RSD, ART and ToD: wall time over the ideal, and how busy many debates keep one endpoint.

Beside each wide tree stands what a bare program of the same steps takes (:mod:`benchmarks.bare`).
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import bare
from benchmarks.figures import Figure
from benchmarks.ideal import Cost, argument_tree, role_switching_debate, tree_of_debate
from dialectree import loop
from dialectree.context import build
from dialectree.protocol import method
from dialectree.records import RunRecord
from dialectree.runner import start
from tests.endpoint import LocalEndpoint

LATENCY_S = 0.2
SLOTS, TOGETHER, SLOW_S = 64, 100, 0.5
UTILISED = 0.88
RATIO_LIMIT, RATIO_TARGET = 1.15, 1.05
WALLS = "wall time over the ideal, one debate of RSD or ToD or one tree of ART, 200 ms a call"
QUESTION = "Which of these does the engine of a car burn?"
CLAIM = "The engine of a car burns oil products."
OPTIONS = ["animal products", "oil products"]
_SPLIT = {"progression_of_arguments": True, "clear_winner": False}
RULES = [{"match": "", "set": {"label": "B", "answer": OPTIONS[1], **_SPLIT}}]
"""The judge's label and answer agree; debaters hold their candidates whatever they are called.
Topics are split until the depth limit."""
PAPERS = [
    {
        "title": f"{name}: orbits from few observations",
        "abstract": f"We estimate orbits by {name} and bound the error.",
        "body": "\n\n".join(
            f"{name} treats {subject} as a part of the estimate, and says how far it can be wrong. "
            f"The {subject} of a night is known before the next one begins, which {name} relies on."
            for subject in ("noise", "priors", "memory", "outliers", "sampling", "scaling")
        ),
    }
    for name in ("ladders", "meshes")
]


class Case(NamedTuple):
    """One way to debate, and what it must cost."""

    name: str
    method: str
    cost: Cost
    settings: dict[str, Any]
    checked: bool = True
    """Whether it has to keep the limit. Where dozens of calls go out at once their CPU shows."""
    bare: bare.Shape | None = None
    """A wide tree: its steps from LangGraph and an HTTP client alone."""

    @property
    def asked(self) -> str:
        """What is debated."""
        return CLAIM if self.method == "art" else QUESTION


CASES = (
    Case("RSD", "rsd", role_switching_debate(), {}),
    Case(
        "RSD, cross-examination at once",
        "rsd",
        role_switching_debate(in_turn=False),
        {"cross_examination": "simultaneous"},
    ),
    Case("ART, breadth 1, depth 1", "art", argument_tree(1, 1), {}),
    Case(
        "ART, breadth 2, depth 2",
        "art",
        argument_tree(2, 2),
        {"breadth": 2, "depth": 2},
        checked=False,
        bare=bare.argument_tree(2, 2),
    ),
    Case(
        "ToD, k 3, depth 2",
        "tod",
        tree_of_debate(3, 2),
        {"max_depth": 2, "embeddings": "bm25"},
        bare=bare.tree_of_debate(3, 2),
    ),
)


async def conducted(case: Case, url: str, runs: Path, question: str, **more: Any) -> RunRecord:
    """One run with its folder and journal; the reply cache lies beside it."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(runs)
    chosen = method(case.method)
    settings = {"model": "openai:any", "base_url": url, **case.settings, **more}
    context = build(chosen.protocol.settings, **settings)
    inputs: dict[str, dict[str, Any]] = {
        "rsd": {"question": question, "options": OPTIONS},
        "art": {"claim": question},
        "tod": {"paper_a": PAPERS[0], "paper_b": PAPERS[1], "topic": question},
    }
    return await start(chosen, inputs[case.method], context, runs).conduct()


def protocols(folder: Path, repeats: int) -> Iterator[Figure]:
    """Every case alone, and many debates of RSD at once."""
    wrong = 0
    loop.tune()  # as a command does
    for case in CASES:
        walls_s: list[float] = []
        bare_s: list[float] = []
        bodies = _bodies(case, folder / f"{case.name}, bodies") if case.bare else []
        options: dict[str, Any] = {"latency_ms": LATENCY_S * 1000, "array_items": 3}
        with LocalEndpoint(rules=RULES, **options) as endpoint:
            for n in range(repeats + 1):  # in turns: a machine has better and worse minutes
                place = folder / f"{case.name} {n}"
                work = conducted(case, endpoint.url, place, case.asked)
                walls_s.append(_wall_s(work, endpoint))
                stats = endpoint.stats()
                wrong += abs(stats["calls"] - case.cost.calls) + stats["duplicate_requests"]
                if case.bare:
                    bare_s.append(_wall_s(bare.run(case.bare, endpoint.url, bodies), endpoint))
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
        if bare_s:
            yield Figure(
                WALLS,
                f"{case.name}: its steps alone",
                min(bare_s) / ideal,
                note=f"LangGraph and an HTTP client; worst {max(bare_s) / ideal:.3f}",
            )
    yield Figure(WALLS, "calls too many, too few or made twice", wrong, limit=0)
    yield from _together(folder / "together")


def _wall_s(work: Coroutine[Any, Any, object], endpoint: LocalEndpoint) -> float:
    """From the first request of ``work`` to its last reply."""
    endpoint.reset()
    gc.collect()  # a command's own process has nothing to collect yet
    loop.run(work)
    return float(endpoint.stats()["wall_s"])


def _bodies(case: Case, folder: Path) -> list[str]:
    """The requests of one run."""
    with LocalEndpoint(rules=RULES, array_items=3, keep_bodies=True) as endpoint:
        loop.run(conducted(case, endpoint.url, folder, case.asked))
        return [call["body"] for call in endpoint.calls()]


def _together(folder: Path) -> Iterator[Figure]:
    part = f"{TOGETHER} questions of RSD at once on {SLOTS} slots of {SLOW_S * 1000:.0f} ms"
    options: dict[str, Any] = {"latency_ms": SLOW_S * 1000, "max_concurrency": SLOTS}
    with LocalEndpoint(rules=RULES, **options) as endpoint:
        began, cpu = time.perf_counter(), time.process_time()
        records = loop.run(_all(endpoint.url, folder))
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
    questions = (f"{QUESTION} ({n})" for n in range(1, TOGETHER + 1))
    return await asyncio.gather(
        *(conducted(CASES[0], url, folder, q, concurrency=SLOTS) for q in questions)
    )
