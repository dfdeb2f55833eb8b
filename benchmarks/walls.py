"""Wall time over the ideal: what a debate takes beyond its critical path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import child
from benchmarks.driving import conducted, conducted_together, hosted
from benchmarks.figures import Figure
from benchmarks.shapes import FOUR_LEAVES, SHAPES, Shape
from dialectree import loop
from tests.endpoint import LocalEndpoint

LATENCY_S = 0.2
SLOTS = 64
TOGETHER = (20, 100)
WALLS = "wall time over the ideal, one question, 200 ms a call"
WRONG = "calls too many, too few or made twice"
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
    loop.run(conducted(shape.context(url), folder))


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
    wrong = 0
    for shape in SHAPES:
        ways = (COMMAND, NEW, HOST) if shape is FOUR_LEAVES else (COMMAND, HOST)
        with LocalEndpoint(latency_ms=LATENCY_S * 1000, rules=shape.rules()) as endpoint:
            for way in ways:
                runs = [_run(endpoint, shape, way, folder, n) for n in range(repeats)]
                wrong += sum(_wrong(stats, shape.cost.calls) for stats in runs)
                yield _ratio(shape, way, [stats["wall_s"] for stats in runs])
    yield Figure(WALLS, f"{WRONG}, in all of these", wrong, limit=0)


def _run(endpoint: LocalEndpoint, shape: Shape, way: Way, folder: Path, n: int) -> dict[str, Any]:
    """What the endpoint saw of one debate."""
    endpoint.reset()
    place = folder / f"{shape.name} {way.name} {n}"
    place.mkdir()
    way.drive(shape, endpoint.url, place)
    return endpoint.stats()


def _wrong(stats: dict[str, Any], calls: int) -> int:
    """Calls too many or too few, and requests that came twice."""
    return abs(int(stats["calls"]) - calls) + int(stats["duplicate_requests"])


def _ratio(shape: Shape, way: Way, walls_s: list[float]) -> Figure:
    """The best of some runs, from the endpoint's first request to its last reply."""
    ideal = shape.cost.seconds(LATENCY_S)
    return Figure(
        WALLS,
        f"{shape.name}: {way.name}",
        min(walls_s) / ideal,
        limit=RATIO_LIMIT if way.checked and shape is FOUR_LEAVES else None,
        target=RATIO_TARGET,
        note=f"{shape.cost.calls} calls, path {shape.cost.path}; worst {max(walls_s) / ideal:.3f}",
    )


def many(folder: Path) -> Iterator[Figure]:
    """Many questions at once on one endpoint: a few, and enough to keep it busy."""
    for count in TOGETHER:
        yield from _crowd(folder / str(count), count)


def _crowd(folder: Path, count: int) -> Iterator[Figure]:
    shape, part = FOUR_LEAVES, f"{count} questions at once on {SLOTS} slots of 200 ms"
    options: dict[str, Any] = {"latency_ms": LATENCY_S * 1000, "max_concurrency": SLOTS}
    with LocalEndpoint(rules=shape.rules(), **options) as endpoint:
        context = shape.context(endpoint.url, concurrency=SLOTS)
        loop.run(conducted_together(context, folder, count))
        stats = endpoint.stats()
    calls = count * shape.cost.calls
    ideal = shape.cost.seconds(LATENCY_S, SLOTS, count)
    most = calls * LATENCY_S / (ideal * SLOTS)
    yield Figure(part, "utilisation", stats["utilisation"], note=f"can be {most:.2f} at most")
    yield Figure(part, "wall time over the lower bound", stats["wall_s"] / ideal)
    yield Figure(part, "calls a second", stats["calls"] / stats["wall_s"])
    yield Figure(part, WRONG, _wrong(stats, calls), limit=0)
