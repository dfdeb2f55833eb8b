"""The graph in a host's hands: its checkpointer, its budget, its own ways to drive it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from dialectree.errors import BudgetReached, DialectreeError, KeyRefused
from dialectree.graphs.tree_structured_debate import best_of_n
from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.leaf_judge import LeafJudgeReply
from tests.graphs.debating import QUESTION, context, debaters, rule
from tests.scripted import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]
CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


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


@pytest.mark.parametrize("calls", [3, 35])
def test_a_host_whose_budget_was_reached_goes_on_where_the_run_stopped(calls: int) -> None:
    model = debaters(2)

    async def twice() -> dict[str, Any]:
        thread = graph.copy({"checkpointer": InMemorySaver()})
        with pytest.raises(BudgetReached):
            first = context(model, max_depth=2, max_calls=calls)
            await thread.ainvoke({"question": QUESTION}, CONFIG, context=first)
        assert len(model.calls) == calls
        found: dict[str, Any] = await thread.ainvoke(
            None, CONFIG, context=context(model, max_depth=2)
        )
        return found

    assert asyncio.run(twice())["verdict"]["answer"] == "In the end, this."
    assert len(set(model.calls)) == 53
    assert len(model.calls) - 53 < 4  # what the other three leaves had under way


@pytest.mark.parametrize("error", [KeyRefused("no"), ZeroDivisionError("ours")])
def test_a_host_goes_on_after_any_error_that_ended_the_run(
    error: Exception, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    model = debaters(2)
    model.will_say(error, rule(), at="0.1.0", to=LeafJudgeReply)

    async def twice() -> dict[str, Any]:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "host.db")) as saver:
            thread = graph.copy({"checkpointer": saver})
            given = context(model, max_depth=2)
            with pytest.raises(type(error)):
                await thread.ainvoke({"question": QUESTION}, CONFIG, context=given)
            found: dict[str, Any] = await thread.ainvoke(None, CONFIG, context=given)
            return found

    with caplog.at_level(logging.WARNING, logger="langgraph"):
        verdict = asyncio.run(twice())["verdict"]
    assert verdict["confidence"] == pytest.approx(0.9 * 0.9 * 0.8)
    assert not isinstance(error, DialectreeError) or caplog.records == []


async def stored(depth: int, path: Path) -> float:
    """Bytes of checkpoints and writes for each node of a full tree with four children a node."""
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        thread = graph.copy({"checkpointer": saver})
        given = context(debaters(4), max_depth=depth, max_nodes=100)
        await thread.ainvoke({"question": QUESTION}, CONFIG, context=given, durability="async")
        total = 0
        for table, columns in (("checkpoints", "checkpoint, metadata"), ("writes", "value")):
            sizes = " + ".join(f"length({column})" for column in columns.split(", "))
            async with saver.conn.execute(f"SELECT sum({sizes}) FROM {table}") as rows:
                total += next(size for (size,) in await rows.fetchall())
    return float(total / sum(4**level for level in range(depth + 1)))


def test_checkpoints_grow_in_step_with_the_tree_and_hold_plain_data(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="langgraph"):
        small, large = (asyncio.run(stored(d, tmp_path / f"{d}.db")) for d in (1, 2))
    assert large < 1.5 * small
    assert small < 40_000
    assert caplog.records == []


def test_a_hosts_run_that_is_cancelled_starts_no_further_call() -> None:
    model = ScriptedModel(wait=lambda _: 0.05)
    model.will_say(AnswererReply(answer="Yes.", explanation="So.", confidence=0.9))

    async def cancelled() -> None:
        given = context(model, samples=20, concurrency=1)
        debate = asyncio.create_task(best_of_n.graph.ainvoke({"question": QUESTION}, context=given))
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
