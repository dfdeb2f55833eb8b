"""Start: the processor's time that a command takes before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from benchmarks.figures import Figure

ROOT = Path(__file__).parents[1]
COMMANDS: dict[str, tuple[tuple[str, ...], float | None]] = {
    "python alone": (("-c", "pass"), None),
    "import dialectree": (("-c", "import dialectree"), None),
    "dialectree --version": (("-m", "dialectree", "--version"), 0.25),
    "dialectree --help": (("-m", "dialectree", "--help"), 0.5),
    "dialectree decide --help": (("-m", "dialectree", "decide", "--help"), 0.7),
}
"""The arguments of Python for each, and the most seconds that it may take on a quiet core."""


def startup(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure each command in turn, ``repeats`` times, after a first one that writes bytecode."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(repeats + 1):
        for name, (arguments, _) in COMMANDS.items():
            cpu_s = _cpu_s(arguments)
            if number:
                taken[name].append(cpu_s)
    for name, (_, limit) in COMMANDS.items():
        note = f"least {min(taken[name]):.3f}, of {repeats}"
        part = "CPU until a command has printed (median)"
        yield Figure(part, name, median(taken[name]), "s", limit=limit, note=note)


def _cpu_s(arguments: tuple[str, ...]) -> float:
    """Return the user's and the system's seconds of one process, as users run it: with bytecode."""
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True
    )
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
