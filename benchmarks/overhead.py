"""Measure the cost of a debate against the same steps written by hand with LangGraph.

All take turns in one process, so that a busy moment of the machine affects all of them. The ratios
compare the processor's time with LangChain's ``ChatOpenAI``, plain and with
``with_structured_output``, and the wall time with the leanest client.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, get_args

from benchmarks import bare
from benchmarks.cases import CASES, COMPARISON, DEBATE, WIDEST_TREE, Case, conduct
from benchmarks.figures import Figure
from dialectree.interfaces.cli.process import collect_garbage_seldom
from dialectree.system import loop
from tests.endpoint import LocalEndpoint

LATENCY_S = 0.2
REPEATS = 3
"""The most repeats, so that this part takes five minutes."""
CPU_LIMITS = {"RSD": 1.2, "TSD, 64 leaves": 1.1, "ToD": 1.4}
"""The targets for the processor's time over plain ``ChatOpenAI``."""
WALL_LIMITS = {"TSD, 64 leaves": 1.3}


class Taken(NamedTuple):
    """Wall time and CPU of one debate."""

    wall_s: float
    cpu_s: float


def overhead(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure RSD, ToD and the widest tree against three ways to write the same steps by hand."""
    repeats = min(repeats, REPEATS)
    for case in (DEBATE, COMPARISON, WIDEST_TREE):
        taken, calls, wrong = _measure(case, folder, repeats, get_args(bare.Client))
        part = f"{case.name}: {calls} calls of {1000 * LATENCY_S:.0f} ms, median of {repeats}"
        ours = taken["ours"]
        for client, over in (("plain", "plain ChatOpenAI"), ("structured", "structured output")):
            ratios = [a.cpu_s / b.cpu_s for a, b in zip(ours, taken[client], strict=True)]
            limit = CPU_LIMITS[case.name] if client == "plain" else None
            value, spread = _middle(ratios)
            yield Figure(part, f"CPU over {over}", value, limit=limit, note=spread)
        ratios = [a.wall_s / b.wall_s for a, b in zip(ours, taken["leanest"], strict=True)]
        value, spread = _middle(ratios)
        limit = WALL_LIMITS.get(case.name)
        yield Figure(part, "wall time over the leanest client", value, limit=limit, note=spread)
        for name, debates in taken.items():
            value, spread = _middle([1000 * debate.cpu_s / calls for debate in debates])
            yield Figure(part, f"CPU of a call: {name}", value, "ms", note=spread)
        yield Figure(part, "calls too many, too few or made twice", wrong, limit=0)


def walls(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure the wall time of every case over that of the bare steps."""
    for case in CASES:
        taken, calls, wrong = _measure(case, folder, repeats, ["leanest"])
        part = f"wall time of a debate, {1000 * LATENCY_S:.0f} ms a call, median of {repeats}"
        pairs = zip(taken["ours"], taken["leanest"], strict=True)
        value, spread = _middle([a.wall_s / b.wall_s for a, b in pairs])
        note = f"{spread}; {calls} calls"
        yield Figure(part, f"{case.name}: ours over bare", value, limit=case.limit, note=note)
        yield Figure(part, f"{case.name}: calls too many or twice", wrong, limit=0)


def _measure(
    case: Case, folder: Path, repeats: int, clients: Sequence[bare.Client]
) -> tuple[Mapping[str, list[Taken]], int, int]:
    """Return the times of ours and each client, the calls, and the number of wrong calls."""
    collect_garbage_seldom()  # as a command does
    bodies, wrong = _record_requests(case, folder / f"{case.name}, recorded"), 0
    taken: dict[str, list[Taken]] = {name: [] for name in ("ours", *clients)}
    with LocalEndpoint(latency_ms=1000 * LATENCY_S, rules=case.rules, array_items=3) as served:
        for n in range(repeats + 1):
            served.reset()
            taken["ours"].append(_take(conduct(case, served.url, folder / f"{case.name} {n}")))
            stats = served.stats()
            wrong += abs(stats["calls"] - len(bodies)) + stats["duplicate_requests"]
            for client in clients:
                taken[client].append(_take(bare.run(case.shape, served.url, bodies, client)))
    # The first ones import what they need.
    return {name: debates[1:] for name, debates in taken.items()}, len(bodies), wrong


def _middle(values: list[float]) -> tuple[float, str]:
    """Return the median and the range of the values."""
    return median(values), f"{min(values):.2f} to {max(values):.2f}"


def _take(work: Coroutine[Any, Any, object]) -> Taken:
    gc.collect()  # a command's own process has nothing to collect yet
    began, cpu = time.perf_counter(), time.process_time()
    loop.run(work)
    return Taken(time.perf_counter() - began, time.process_time() - cpu)


def _record_requests(case: Case, folder: Path) -> list[str]:
    """Return the requests of one run."""
    with LocalEndpoint(rules=case.rules, array_items=3, keep_bodies=True) as endpoint:
        loop.run(conduct(case, endpoint.url, folder))
        return [call["body"] for call in endpoint.calls()]
