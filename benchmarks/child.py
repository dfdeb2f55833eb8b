"""One debate in a new process: ``python -m benchmarks.child`` prints what it took, as JSON."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.endpoint import ROOT
from benchmarks.shapes import GROWING, SHAPES, Shape


class Taken(NamedTuple):
    """What a process took for one debate."""

    imported_mb: float
    """Peak resident memory when everything was imported."""
    peak_mb: float
    """The same at the end."""
    cpu_s: float


def debate(shape: Shape, url: str, folder: Path) -> Taken:
    """Debate in a new process; its run folder and its cache lie in ``folder``."""
    command = [sys.executable, "-m", "benchmarks.child", shape.name, url, str(folder.resolve())]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Taken(**json.loads(done.stdout))


def _here(name: str, url: str, folder: Path) -> Taken:
    import asyncio

    from benchmarks.driving import conducted

    shape = next(shape for shape in (*SHAPES, *GROWING) if shape.name == name)
    imported = _peak_mb()
    asyncio.run(conducted(shape.context(url, cache_dir=folder), folder))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Taken(imported, _peak_mb(), usage.ru_utime + usage.ru_stime)


def _peak_mb() -> float:
    """Peak resident memory of this process, in MB (Linux counts KiB, macOS bytes)."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    name, url, folder = sys.argv[1:]
    print(json.dumps(_here(name, url, Path(folder))._asdict()))
