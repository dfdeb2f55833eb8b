"""Memory, checkpoints and start: what a debate takes beside time on its critical path."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child
from benchmarks.driving import hosted
from benchmarks.figures import Figure
from benchmarks.shapes import FOUR_LEAVES, GROWING
from tests.endpoint import ROOT, LocalEndpoint

GROWTH_LIMIT = 1.3
HELP_LIMIT_S = 0.5


def memory(folder: Path) -> Iterator[Figure]:
    """Peak resident memory of a new process, for a small tree and a large one."""
    part = "peak memory of a process"
    for shape in (FOUR_LEAVES, GROWING[-1]):
        with LocalEndpoint(rules=shape.rules()) as endpoint:
            taken = child.debate(shape, endpoint.url, folder)
        if shape is FOUR_LEAVES:
            yield Figure(part, "everything imported", taken.imported_mb, "MB")
        yield Figure(part, f"a debate over {shape.nodes} nodes", taken.peak_mb, "MB")


def checkpoints(folder: Path) -> Iterator[Figure]:
    """Bytes that a host's SQLite checkpointer holds for each node of the tree."""
    part = "checkpoints of a host, AsyncSqliteSaver"
    per_node: list[float] = []
    for shape in GROWING:
        database = folder / f"{shape.nodes}.sqlite3"
        with LocalEndpoint(rules=shape.rules()) as endpoint:
            context = shape.context(endpoint.url, cache=False)
            asyncio.run(hosted(context, database))
        per_node.append(database.stat().st_size / shape.nodes)
        note = f"{shape.cost.calls} calls"
        yield Figure(
            part, f"a tree of {shape.nodes} nodes", per_node[-1] / 1000, "KB a node", note=note
        )
    growth = per_node[-1] / per_node[-2]
    large, small = GROWING[-1].nodes, GROWING[-2].nodes
    yield Figure(part, f"a node of {large} over one of {small}", growth, limit=GROWTH_LIMIT)


def start(repeats: int) -> Iterator[Figure]:
    """How long a command takes before it does anything."""
    part = "start of a process"
    python = [sys.executable, "-c"]
    cases = (
        ("python with nothing", [*python, ""], None),
        ("import dialectree", [*python, "import dialectree"], None),
        ("import the tree-structured debate", [*python, _GRAPH], None),
        ("dialectree --help", [*python, _HELP], HELP_LIMIT_S),
    )
    for name, command, limit in cases:
        yield Figure(part, name, _quickest(command, repeats), "s", limit=limit)


_GRAPH = "import dialectree.graphs.tree_structured_debate.graph"
_HELP = "import sys; sys.argv = ['dialectree', '--help']; from dialectree.cli import main; main()"


def _quickest(command: Sequence[str], repeats: int) -> float:
    """The best of some runs."""
    taken: list[float] = []
    for _ in range(repeats):
        began = time.monotonic()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.monotonic() - began)
    return min(taken)
