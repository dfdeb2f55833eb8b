"""Evaluations: how busy hundreds of questions keep one endpoint, and what they leave in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks.figures import Figure
from benchmarks.ideal import role_switching_debate
from tests.endpoint import LocalEndpoint

PROGRAM = Path(sys.executable).with_name("dialectree")
SLOTS, QUESTIONS, EARLY = 64, 300, 50
PAUSE_S = 0.2
"""Seconds between two looks at the memory."""
LEAST = {1.0: 0.92}
"""Utilisation by seconds that a call takes."""
GROWTH_LIMIT = 1.2
OPTIONS = ["animal products", "oil products"]
RULES = [{"match": "", "set": {"label": "B", "answer": OPTIONS[1]}}]


class Taken(NamedTuple):
    """What one evaluation took."""

    results: int
    early_mb: float
    """Resident memory when the first questions had ended."""
    late_mb: float
    """The same at the end."""


def evaluations(folder: Path) -> Iterator[Figure]:
    """Hundreds of role-switching debates over one endpoint."""
    calls = QUESTIONS * role_switching_debate().calls
    for latency_s, least in LEAST.items():
        part = f"an evaluation of {QUESTIONS} questions of RSD, {SLOTS} slots of {latency_s:g} s"
        options: dict[str, Any] = {"latency_ms": latency_s * 1000, "max_concurrency": SLOTS}
        with LocalEndpoint(rules=RULES, **options) as endpoint:
            taken = evaluated(endpoint.url, folder / f"{latency_s:g}", QUESTIONS)
            stats = endpoint.stats()
        yield Figure(
            part,
            "share of the slots' time left unused",
            1 - stats["utilisation"],
            limit=1 - least,
            note=f"utilisation {stats['utilisation']:.3f}; {stats['wall_s']:.1f} s",
        )
        yield Figure(
            part,
            f"memory after {QUESTIONS} questions over that after {EARLY}",
            taken.late_mb / taken.early_mb,
            limit=GROWTH_LIMIT,
            note=f"{taken.early_mb:.0f} and {taken.late_mb:.0f} MB",
        )
        wrong = abs(stats["calls"] - calls) + stats["duplicate_requests"]
        wrong += abs(taken.results - QUESTIONS)
        yield Figure(part, "calls or results too many or too few", wrong, limit=0)


def evaluated(url: str, folder: Path, count: int) -> Taken:
    """An evaluation, by the command, and its memory while it lasts."""
    folder.mkdir(parents=True)
    data, results = folder / "questions.jsonl", folder / "out" / "results.jsonl"
    asked = ({"id": f"q{n}", "question": f"What does car {n} burn?"} for n in range(count))
    more = {"options": OPTIONS, "gold": "B"}
    data.write_text("".join(json.dumps({**question, **more}) + "\n" for question in asked))
    command = [str(PROGRAM), "eval", "run", str(data), "--methods", "rsd", "--quiet"]
    command += ["--model", f"openai:any@{url}", "--concurrency", str(SLOTS)]
    environment = {**os.environ, "DIALECTREE_CACHE_DIR": str(folder / "cache")}
    early = late = 0.0
    with subprocess.Popen(
        [*command, "--out", str(folder / "out")], env=environment, stdout=subprocess.DEVNULL
    ) as begun:
        while begun.poll() is None:
            time.sleep(PAUSE_S)
            done = _lines(results)
            if EARLY <= done < count:  # the report comes after the last one
                late = _resident_mb(begun.pid)
                early = early or late
    if begun.returncode:
        raise SystemExit(f"the evaluation ended with status {begun.returncode}")
    return Taken(_lines(results), early, late)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _resident_mb(pid: int) -> float:
    """Memory of a process and of those that it has begun."""
    try:
        one = psutil.Process(pid)
        return sum(float(p.memory_info().rss) for p in (one, *one.children(recursive=True))) / 1e6
    except psutil.Error:
        return 0.0
