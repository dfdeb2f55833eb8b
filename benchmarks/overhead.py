"""Measure wall time and CPU of a debate beside those of the bare steps.

Both take turns in one process, so that a busy moment of the machine meets both.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import bare
from benchmarks.cases import CASES, Case, conduct
from benchmarks.figures import Figure
from dialectree.system import loop
from tests.endpoint import LocalEndpoint

LATENCY_S = 0.2
WALLS = f"wall time of a debate, {1000 * LATENCY_S:.0f} ms a call, median of {{}}"
CPU = "CPU of a call within a debate, median of {}"


class Taken(NamedTuple):
    """Wall time and CPU of one debate."""

    wall_s: float
    cpu_s: float


def overhead(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure every case, ours and bare in turns."""
    loop.tune()  # as a command does
    wrong = 0
    for case in CASES:
        bodies, path = _recorded(case, folder / f"{case.name}, recorded")
        ours: list[Taken] = []
        alone: list[Taken] = []
        with LocalEndpoint(latency_ms=1000 * LATENCY_S, rules=case.rules, array_items=3) as served:
            for n in range(repeats + 1):
                served.reset()
                ours.append(_take(conduct(case, served.url, folder / f"{case.name} {n}")))
                stats = served.stats()
                wrong += abs(stats["calls"] - len(bodies)) + stats["duplicate_requests"]
                alone.append(_take(bare.run(case.shape, served.url, bodies)))
        del ours[0], alone[0]  # of the first ones, imports
        yield from _figures(case, ours, alone, calls=len(bodies), path=path)
    yield Figure(WALLS.format(repeats), "calls too many, too few or made twice", wrong, limit=0)


def _figures(
    case: Case, ours: list[Taken], alone: list[Taken], *, calls: int, path: int
) -> Iterator[Figure]:
    part, ideal = WALLS.format(len(ours)), path * LATENCY_S
    shape = f"{calls} calls, {path} in a row"
    for name, taken in (("ours", ours), ("bare", alone)):
        value, spread = _middle([one.wall_s / ideal for one in taken])
        yield Figure(part, f"{case.name}: {name} over the ideal", value, note=f"{spread}; {shape}")
    value, spread = _middle([a.wall_s / b.wall_s for a, b in zip(ours, alone, strict=True)])
    yield Figure(part, f"{case.name}: ours over bare", value, limit=case.limit, note=spread)
    part = CPU.format(len(ours))
    for name, taken in (("ours", ours), ("bare", alone)):
        value, spread = _middle([1000 * one.cpu_s / calls for one in taken])
        yield Figure(part, f"{case.name}: {name}", value, "ms", note=spread)


def _middle(values: list[float]) -> tuple[float, str]:
    """Return the median, and how the values vary."""
    return median(values), f"{min(values):.2f} to {max(values):.2f}"


def _take(work: Coroutine[Any, Any, object]) -> Taken:
    gc.collect()  # a command's own process has nothing to collect yet
    began, cpu = time.perf_counter(), time.process_time()
    loop.run(work)
    return Taken(time.perf_counter() - began, time.process_time() - cpu)


def _recorded(case: Case, folder: Path) -> tuple[list[str], int]:
    """Return the requests of one run, and how many of them follow one another."""
    with LocalEndpoint(rules=case.rules, array_items=3, keep_bodies=True) as endpoint:
        record = loop.run(conduct(case, endpoint.url, folder))
        bodies = [call["body"] for call in endpoint.calls()]
    return bodies, record.usage.critical_path_calls
