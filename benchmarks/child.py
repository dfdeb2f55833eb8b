"""One debate in a new process: ``python -m benchmarks.child`` prints what it took, as JSON."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.shapes import GROWING, SHAPES, Shape
from tests.endpoint import ROOT


class Taken(NamedTuple):
    """What a process took for one debate."""

    imported_mb: float
    """Peak resident memory when everything was imported."""
    peak_mb: float
    """The same at the end."""


def debate(shape: Shape, url: str, folder: Path) -> Taken:
    """Debate in a new process; its run folder and its cache lie in ``folder``."""
    command = [sys.executable, "-m", "benchmarks.child", shape.name, url, str(folder.resolve())]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Taken(**json.loads(done.stdout))


def _here(name: str, url: str, folder: Path) -> Taken:
    from benchmarks.driving import conducted
    from dialectree import loop

    shape = next(shape for shape in (*SHAPES, *GROWING) if shape.name == name)
    imported = _peak_mb()
    loop.tune()
    loop.run(conducted(shape.context(url), folder))
    return Taken(imported, _peak_mb())


def _peak_mb() -> float:
    """Peak resident memory of this process, in MB.

    Linux tells it in ``/proc``. What ``getrusage`` tells there is never below the peak of the
    process that started this one.
    """
    if (status := Path("/proc/self/status")).exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    name, url, folder = sys.argv[1:]
    print(json.dumps(_here(name, url, Path(folder))._asdict()))
