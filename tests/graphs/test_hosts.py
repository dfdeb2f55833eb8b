"""The graph in a host's hands: its checkpointer, its budget, its own ways to drive it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialectree.graphs.tree_structured_debate.baselines import best_of_n
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from tests.graphs.debating import QUESTION, context
from tests.scripted import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]


def host(folder: Path, hang: str = "") -> subprocess.Popen[str]:
    """One process of a host that debates in ``folder``."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.graphs.interrupted_host", str(folder), hang],
        cwd=ROOT,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def log(folder: Path) -> list[list[Any]]:
    path = folder / "calls.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def wait_until_only_one_node_hangs(folder: Path, process: subprocess.Popen[str]) -> None:
    """For a while nothing is asked or stored: all but one leaf are done, and that one waits."""
    seen: list[int] = []
    since = time.monotonic()
    while time.monotonic() - since < 0.8 or len(log(folder)) < 60:
        assert process.poll() is None, process.communicate()[1]
        files = [folder / name for name in ("calls.jsonl", "host.db-wal")]
        now = [path.stat().st_mtime_ns for path in files if path.exists()]
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.02)


def test_killed_among_parallel_leaves_a_host_goes_on_and_repeats_no_finished_call(
    tmp_path: Path,
) -> None:
    process = host(tmp_path, hang="0.1.1")
    try:
        wait_until_only_one_node_hangs(tmp_path, process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = log(tmp_path)
    replied = [line[1:] for line in before if line[0] == "replied"]
    hanging = [line[1:] for line in before if line[0] == "asked" and line[1:] not in replied]
    assert {node for node, *_ in hanging} == {"0.1.1"}
    verdict, said = host(tmp_path).communicate()
    assert json.loads(verdict)["answer"] == "In the end, this."
    assert said == ""
    asked = Counter(json.dumps(line[1:]) for line in log(tmp_path) if line[0] == "asked")
    repeated = [json.loads(call) for call, times in asked.items() if times > 1]
    assert repeated == hanging
    assert sum(asked.values()) == 96 + len(hanging)


def test_a_hosts_run_that_is_cancelled_starts_no_further_call() -> None:
    model = ScriptedModel(wait=lambda _: 0.05)
    model.will_say(AnswererReply(answer="Yes.", explanation="So.", confidence=0.9))

    async def cancelled() -> None:
        given = context(model, samples=20, concurrency=1)
        debate = asyncio.create_task(best_of_n.ainvoke({"question": QUESTION}, context=given))
        while not model.calls:
            await asyncio.sleep(0.01)
        debate.cancel()
        with pytest.raises(asyncio.CancelledError):
            await debate
        so_far = len(model.calls)
        while under_way := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(under_way)
        assert len(model.calls) == so_far < 20

    asyncio.run(cancelled())
