"""Wall time over the ideal: what a debate takes beyond its critical path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import child
from benchmarks.driving import conducted, conducted_together, hosted
from benchmarks.endpoint import LocalEndpoint
from benchmarks.figures import Figure
from benchmarks.shapes import FOUR_LEAVES, SHAPES, Shape

LATENCY_S = 0.2
SLOTS = 64
TOGETHER = 20
RATIO_LIMIT = 1.15
RATIO_TARGET = 1.05

Drive = Callable[[Shape, str, Path], None]


class Way(NamedTuple):
    """How a debate is driven."""

    name: str
    drive: Drive
    checked: bool
    """Whether it has to keep the limit."""


def _as_the_command(shape: Shape, url: str, folder: Path) -> None:
    context = shape.context(url, cache_dir=folder)
    asyncio.run(conducted(context, folder))


def _in_a_new_process(shape: Shape, url: str, folder: Path) -> None:
    child.debate(shape, url, folder)


def _as_a_host(shape: Shape, url: str, folder: Path) -> None:
    context = shape.context(url, cache=False)
    asyncio.run(hosted(context, folder / "checkpoints.sqlite3"))


COMMAND = Way("journal and cache", _as_the_command, True)
NEW = Way("journal and cache, new process", _in_a_new_process, True)
HOST = Way("AsyncSqliteSaver", _as_a_host, False)


def walls(folder: Path, repeats: int) -> Iterator[Figure]:
    """Every shape, as the command drives it and as a host does."""
    for shape in SHAPES:
        ways = (COMMAND, NEW, HOST) if shape is FOUR_LEAVES else (COMMAND, HOST)
        with LocalEndpoint(latency_ms=LATENCY_S * 1000, rules=shape.rules()) as endpoint:
            for way in ways:
                yield from _wall(endpoint, shape, way, folder, repeats)


def _wall(
    endpoint: LocalEndpoint, shape: Shape, way: Way, folder: Path, repeats: int
) -> Iterator[Figure]:
    """The best of some runs, from the endpoint's first request to its last reply."""
    ratios: list[float] = []
    for n in range(repeats):
        endpoint.reset()
        place = folder / f"{shape.name} {way.name} {n}"
        place.mkdir()
        way.drive(shape, endpoint.url, place)
        stats = endpoint.stats()
        ratios.append(stats["wall_s"] / shape.cost.seconds(LATENCY_S))
        yield from _miscounted(stats, shape, way)
    checked = way.checked and shape is FOUR_LEAVES
    yield Figure(
        "wall time over the ideal, one question, 200 ms a call",
        f"{shape.name}: {way.name}",
        min(ratios),
        limit=RATIO_LIMIT if checked else None,
        target=RATIO_TARGET,
        note=f"{shape.cost.calls} calls, path {shape.cost.path}; worst {max(ratios):.3f}",
    )


def _miscounted(stats: dict[str, Any], shape: Shape, way: Way) -> Iterator[Figure]:
    """A figure for each count that is not what it must be."""
    wrong = {
        "calls too many or too few": abs(stats["calls"] - shape.cost.calls),
        "duplicate requests": stats["duplicate_requests"],
    }
    for name, value in wrong.items():
        if value:
            yield Figure("counts", f"{shape.name}: {way.name}: {name}", value, limit=0)


def many(folder: Path) -> Iterator[Figure]:
    """Many questions at once on one endpoint."""
    shape, part = FOUR_LEAVES, f"{TOGETHER} questions at once on {SLOTS} slots of 200 ms"
    options: dict[str, Any] = {"latency_ms": LATENCY_S * 1000, "max_concurrency": SLOTS}
    with LocalEndpoint(rules=shape.rules(), **options) as endpoint:
        context = shape.context(endpoint.url, cache_dir=folder, concurrency=SLOTS)
        asyncio.run(conducted_together(context, folder, TOGETHER))
        stats = endpoint.stats()
    ideal = shape.cost.seconds(LATENCY_S, SLOTS, TOGETHER)
    wrong = abs(stats["calls"] - TOGETHER * shape.cost.calls) + stats["duplicate_requests"]
    yield Figure(part, "utilisation of the slots", stats["utilisation"], note=_why_not_one(ideal))
    yield Figure(part, "wall time over the lower bound", stats["wall_s"] / ideal)
    yield Figure(part, "calls a second", stats["calls"] / stats["wall_s"])
    yield Figure(part, "calls that should not be, or are missing", wrong, limit=0)


def _why_not_one(ideal_s: float) -> str:
    most = TOGETHER * FOUR_LEAVES.cost.calls * LATENCY_S / (ideal_s * SLOTS)
    return f"at most {most:.2f}: all begin together, and each begins with a chain of single calls"
