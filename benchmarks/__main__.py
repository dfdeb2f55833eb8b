"""``python -m benchmarks``: measure, print a table, and say by the exit status whether it held."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from benchmarks import figures
from benchmarks.figures import Figure

WIDTH = 140
"""Columns where the table goes to a file."""

Part = Callable[[Path, int], Iterator[Figure]]


def _walls(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.walls import walls

    return walls(folder, repeats)


def _many(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.walls import many

    return many(folder)


def _protocols(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.protocols import protocols

    return protocols(folder, repeats)


def _cpu(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.cpu import cpu

    return cpu(folder, repeats)


def _memory(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.footprint import memory

    return memory(folder)


def _checkpoints(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.footprint import checkpoints

    return checkpoints(folder)


def _start(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.footprint import start

    return start(repeats + 2)


def _retrieval(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.retrieval import retrieval

    return retrieval(folder, repeats)


def _evaluations(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.evaluations import evaluations

    return evaluations(folder)


def _evaluation_report(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.evaluation_report import evaluation_report

    return evaluation_report(folder)


def _false_findings(folder: Path, repeats: int) -> Iterator[Figure]:
    from benchmarks.false_findings import false_findings

    return false_findings()


PARTS: dict[str, Part] = {
    "start": _start,
    "walls": _walls,
    "many": _many,
    "protocols": _protocols,
    "cpu": _cpu,
    "memory": _memory,
    "checkpoints": _checkpoints,
    "retrieval": _retrieval,
    "evaluation-report": _evaluation_report,
    "false-findings": _false_findings,
    "evaluations": _evaluations,
}


def main() -> int:
    """Measure the parts that are asked for; 1 when a limit was not kept.

    ``equivalence`` compares two checkouts instead, and has flags of its own.
    """
    if sys.argv[1:2] == ["equivalence"]:
        from benchmarks.equivalence import main as compare

        return compare(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="leave the figures there too")
    parser.add_argument("--repeats", type=int, default=3, help="measure so often, keep the best")
    given = parser.parse_args()
    if unknown := sorted(set(given.parts) - set(PARTS)):
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    measured: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for name in given.parts or PARTS:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            folder = Path(place) / name
            folder.mkdir()
            measured.extend(PARTS[name](folder, given.repeats))
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    figures.show(measured, console)
    console.print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for figure in measured:
        if not figure.held:
            console.print(f"not kept: {figure.name}: {figure.value:.3f}, limit {figure.limit:g}")
    if given.json:
        figures.write(measured, given.json)
    return 0 if all(figure.held for figure in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
