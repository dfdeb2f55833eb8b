"""``python -m benchmarks``: measure, print a table, and exit with 1 if a bound is broken."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from rich.console import Console

from benchmarks import figures
from benchmarks.figures import Figure

WIDTH = 140
"""Columns of a table that goes to a file."""
PARTS = (
    "startup",
    "overhead",
    "slots",
    "footprint",
    "retrieval",
    "documents",
    "false-findings",
    "tracing",
    "watchers",
)
"""Each names a function and its file, with _ for -."""
ON_REQUEST = ("corpus", "first-debate", "page", "recall", "walls")
"""Parts that are measured only by name: they take long, or need a browser."""


_HELP = f"of {', '.join(PARTS)} (all of them without a name), {', '.join(ON_REQUEST)}"


def main() -> int:
    """Measure the named parts, or all; return 1 if a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="leave the figures there too")
    parser.add_argument("--repeats", type=int, default=8, help="number of measurements")
    asked = parser.parse_args()
    if unknown := sorted({*asked.parts} - {*PARTS, *ON_REQUEST}):
        parser.error(f"no part {unknown[0]}; use {', '.join(PARTS + ON_REQUEST)}")
    measured: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for name in asked.parts or PARTS:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            folder = Path(place) / name
            folder.mkdir()
            function = name.replace("-", "_")
            part = getattr(import_module(f"benchmarks.{function}"), function)
            for figure in part(folder, asked.repeats):
                measured.append(figure)
                print(f"  {figure.part}: {figure.name}: {figure.value:,.4g}", file=sys.stderr, flush=True)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    figures.show(measured, console)
    console.print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for figure in measured:
        if not figure.held:
            console.print(f"not kept: {figure.name}: {figure.value:.4g}")
    if asked.json:
        figures.write(measured, asked.json)
    return 0 if all(figure.held for figure in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
