"""Measure the cost of a trace: the CPU of the client, and the bytes that it sends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.cases import TREE
from benchmarks.figures import Figure
from tests.endpoint import ROOT, LocalEndpoint
from tests.trace.trace_recorder import recorder, tracing_to

PROGRAM = """
import sys, time, dialectree
from langchain_core.tracers.langchain import wait_for_all_tracers
for seed in range(int(sys.argv[1]) + 1):
    began = time.process_time()
    dialectree.answer("Why do cities grow?", max_depth=2, max_nodes=21, seed=seed)
    if "traced" in sys.argv:
        wait_for_all_tracers()
    if seed:  # the first one imports
        print(time.process_time() - began)
"""
LIMIT = 1.5


def tracing(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure the same debates untraced and traced, each in a process of its own."""
    part = f"a TSD debate traced to LangSmith, median of {repeats}"
    with LocalEndpoint(rules=TREE.rules) as served, recorder() as (url, kept):
        alone = _cpu_s(folder, served.url, repeats)
        traced = _cpu_s(folder, served.url, repeats, "traced", **tracing_to(url))
    nodes = sum(run["run_type"] == "chain" for run in kept.runs.values())
    yield Figure(part, "CPU of the client, traced over untraced", traced / alone, limit=LIMIT)
    yield Figure(part, "runs of a tree node", len(kept.runs) / nodes, note="its calls included")
    yield Figure(part, "sent, compressed", kept.transferred / nodes / 1000, "KB a node", limit=20)
    yield Figure(part, "sent, before", len(kept.sent) / nodes / 1000, "KB a node")


def _cpu_s(folder: Path, model: str, repeats: int, *flags: str, **environment: str) -> float:
    """Return the CPU seconds of one debate."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH", "LANGCHAIN"))}
    settings = {
        "DIALECTREE_MODEL": f"openai:any@{model}",
        "DIALECTREE_CACHE": "false",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(repeats), *flags],
        cwd=folder,
        env={**env, **settings, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return median(map(float, done.stdout.split()))
