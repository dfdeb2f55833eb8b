"""Measure how busy many debates keep one endpoint: RSD, all questions at once in one process."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import DEBATE, conduct
from benchmarks.figures import Figure
from dialectree.interfaces.cli.process import collect_garbage_seldom
from dialectree.records import RunRecord
from dialectree.system import loop
from tests.endpoint import LocalEndpoint

SLOTS, QUESTIONS = 64, 100
LATENCIES_S = (0.2, 0.5)
LEAST = 0.85
"""Share of the slots' time in use with calls of half a second."""


def slots(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure the share of the slots' time in use, and the CPU of a call."""
    collect_garbage_seldom()  # as a command does
    for latency_s in LATENCIES_S:
        part = f"{QUESTIONS} questions of RSD at once, {SLOTS} slots of {1000 * latency_s:.0f} ms"
        with LocalEndpoint(
            latency_ms=1000 * latency_s, max_concurrency=SLOTS, rules=DEBATE.rules
        ) as endpoint:
            cpu = time.process_time()
            records = loop.run(_together(endpoint.url, folder / f"{latency_s:g}"))
            cpu_s = time.process_time() - cpu
            stats = endpoint.stats()
        calls = sum(record.usage.calls for record in records)
        waves = -(-calls // SLOTS)
        yield Figure(
            part,
            "share of the slots' time in use",
            stats["utilisation"],
            least=LEAST if latency_s == max(LATENCIES_S) else None,
            note=f"can be {calls / (waves * SLOTS):.3f} at most",
        )
        yield Figure(part, "CPU of a call", 1000 * cpu_s / calls, "ms")
        wrong = abs(stats["calls"] - calls) + stats["duplicate_requests"]
        wrong += sum(record.status != "answered" for record in records)
        yield Figure(part, "calls made twice, runs not answered", wrong, limit=0)


async def _together(url: str, folder: Path) -> list[RunRecord]:
    gc.collect()
    numbers = range(1, QUESTIONS + 1)
    return await asyncio.gather(
        *(conduct(DEBATE, url, folder, number, concurrency=SLOTS) for number in numbers)
    )
