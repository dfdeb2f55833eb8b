"""Measure the memory and the checkpoints of a tree of questions."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from benchmarks.cases import QUESTION, TREE, WIDEST_TREE, Case
from benchmarks.figures import Figure
from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.settings import build_settings
from tests.endpoint import LocalEndpoint

NODES = {TREE.name: 5, WIDEST_TREE.name: 85}
GROWTH_LIMIT = 1.3


def footprint(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure the peak memory of the command, and the storage of a host's checkpointer."""
    part = "memory and checkpoints of a tree"
    stored_kb: list[float] = []
    for case in (TREE, WIDEST_TREE):
        nodes, database = NODES[case.name], folder / f"{case.name}.sqlite3"
        with LocalEndpoint(rules=case.rules) as endpoint:
            peak_mb = _command(case, endpoint.url, folder) / 1e6
            asyncio.run(_hosted(case, endpoint.url, database))
        stored_kb.append(database.stat().st_size / nodes / 1000)
        yield Figure(part, f"peak memory of the command, {nodes} nodes", peak_mb, "MB")
        yield Figure(
            part, f"checkpoints of a host, {nodes} nodes, AsyncSqliteSaver", stored_kb[-1], "KB a node"
        )
    small, large = stored_kb
    yield Figure(part, "a node of the large tree over the small", large / small, limit=GROWTH_LIMIT)


def _command(case: Case, url: str, folder: Path) -> int:
    """Run the debate by the command, and return the peak of resident bytes."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in case.settings.items()]
    command = [sys.executable, "-m", "dialectree", "answer", QUESTION, *flags, "--quiet"]
    command += ["--model", f"openai:any@{url}", "--runs", str(folder / "runs"), "--no-cache"]
    peak = 0
    with psutil.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, process.memory_info().rss)
            time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"the debate ended with status {process.returncode}")
    return peak


async def _hosted(case: Case, url: str, database: Path) -> None:
    """Debate as a host does, with its own checkpointer and without a run's folder."""
    context = build_settings(Settings, model="openai:any", base_url=url, cache=False, **case.settings)
    async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
        saving = graph.copy({"checkpointer": saver})
        await saving.ainvoke(
            {"question": QUESTION}, {"configurable": {"thread_id": "1"}}, context=context, durability="async"
        )
