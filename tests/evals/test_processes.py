"""An evaluation spread over processes of this machine."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks.endpoint import LocalEndpoint
from dialectree import clock
from dialectree.context import build
from dialectree.errors import Halted
from dialectree.evals import datasets, processes, rows, running, worker
from dialectree.evals.matrix import of_methods
from dialectree.evals.results import Result
from dialectree.evals.workers import Answer, Fault, Given, Lost, Purse, Team
from tests.evals.commanded import data, kept, paid, results, words


def test_two_processes_ask_every_question_once() -> None:
    with LocalEndpoint(seed=3, latency_ms=20) as endpoint:
        done = subprocess.run(_words(endpoint, 24), capture_output=True, text=True)
        stats = endpoint.stats()
    assert (done.returncode, done.stderr) == (0, "")
    assert Counter(one["item"] for one in results()) == {f"q{n}": 1 for n in range(24)}
    assert paid() == kept() == stats["calls"] == stats["unique_requests"]


def test_one_that_is_killed_is_replaced() -> None:
    with LocalEndpoint(seed=3, latency_ms=120) as endpoint:
        with subprocess.Popen(_words(endpoint, 30)) as begun:
            _wait_for(endpoint, 30)
            _workers(begun.pid)[0].kill()
        stats = endpoint.stats()
    assert begun.returncode == 0
    assert Counter(one["item"] for one in results()) == {f"q{n}": 1 for n in range(30)}
    assert paid() == kept() <= stats["calls"] <= paid() + 4  # one worker's slots


def test_they_end_with_the_one_that_drives_them_and_the_rest_is_asked_once() -> None:
    with LocalEndpoint(seed=3, latency_ms=120) as endpoint:
        command = _words(endpoint, 24)
        with subprocess.Popen(command) as begun:
            _wait_for(endpoint, 30)
            workers = _workers(begun.pid)
            begun.kill()
        assert len(workers) == 2
        assert psutil.wait_procs(workers, timeout=10)[1] == []
        assert len(results()) < 24
        assert subprocess.run(command).returncode == 0
        stats = endpoint.stats()
    assert Counter(one["item"] for one in results()) == {f"q{n}": 1 for n in range(24)}
    assert paid() == kept() <= stats["calls"] <= paid() + 8  # all slots


def test_no_call_starts_when_their_common_budget_is_spent() -> None:
    with LocalEndpoint(seed=3, latency_ms=20) as endpoint:
        command = _words(endpoint, 24)
        done = subprocess.run([*command, "--max-calls", "50"], capture_output=True, text=True)
        assert (done.returncode, endpoint.stats()["calls"]) == (4, 50)
        assert "the budget --max-calls 50 is used up" in done.stderr
        assert subprocess.run([*command, "--workers", "1"]).returncode == 0
        stats = endpoint.stats()
    assert len(results()) == 24
    assert paid() == stats["calls"]


def test_an_interrupt_keeps_what_was_paid() -> None:
    with LocalEndpoint(seed=3, latency_ms=400) as endpoint:
        begun = subprocess.Popen(_words(endpoint, 24), stderr=subprocess.PIPE, text=True)
        _wait_for(endpoint, 12)
        os.kill(begun.pid, signal.SIGINT)
        _, said = begun.communicate(timeout=30)
        stats = endpoint.stats()
    assert begun.returncode == 130
    assert "the same command goes on" in said and "Traceback" not in said
    assert kept() == stats["calls"]


def test_an_endpoint_that_nobody_serves_ends_it() -> None:
    away = ["--model", "openai:any@http://127.0.0.1:9/v1", "--call-deadline", "1"]
    done = subprocess.run([*_start(8), *away], capture_output=True, text=True)
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr and "Traceback" not in done.stderr


def test_a_grant_for_who_was_broken_off_meanwhile_is_let_go() -> None:
    async def granted() -> None:
        given = Given(_plan(2, concurrency=9, model="openai:any").rows, Path("runs"), [], None, 0)
        said = io.BytesIO()
        served = worker.Served(worker.written(given, limited=True), said)
        asking = asyncio.create_task(served._may_i())
        await asyncio.sleep(0)
        assert json.loads(said.getvalue()) == ["may_i", 0]
        asking.cancel()
        await asyncio.sleep(0)
        served.hear("granted", [0, None])
        assert served._waiting == {}

    asyncio.run(granted())


def test_where_nothing_is_asked_no_process_begins() -> None:
    async def children() -> int:
        plan = _plan(2, concurrency=9, model="openai:any")
        given = Given(plan.rows, Path("runs"), ["choice"], None, 0)
        async with processes.processes(given, build(), 2):
            await asyncio.sleep(0.1)
            return len(psutil.Process().children())

    before = len(psutil.Process().children())
    assert asyncio.run(children()) == before


def test_a_process_that_cannot_begin_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> None:
        plan = _plan(2, concurrency=9, model="openai:any")
        given = Given(plan.rows, Path("runs"), ["choice"], None, 0)
        async with processes.processes(given, build(), 2) as (work, _):
            await work(plan.rows[0], plan.items[0])

    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(Halted, match="no process can be begun: No such file or directory"):
        asyncio.run(ask())


def test_the_seconds_of_a_purse_count_from_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    purse = Purse(build(max_seconds=5))
    began = clock.seconds()
    monkeypatch.setattr(clock, "seconds", lambda: began + 100)
    assert purse.begin() is None
    monkeypatch.setattr(clock, "seconds", lambda: began + 106)
    assert purse.begin() == ("BudgetReached", "the budget --max-seconds 5 is used up")
    assert purse.closed is None
    purse.close(Fault("Halted", "enough"))
    assert purse.closed == ("Halted", "enough")


def test_an_item_stays_with_the_worker_that_has_it() -> None:
    hired: list[_Fake] = []

    def hire() -> _Fake:
        hired.append(_Fake(f"w{len(hired)}"))
        return hired[-1]

    async def ask() -> None:
        team, items = Team(plan.rows, 2, hire), plan.items
        for row in plan.rows:
            await asyncio.gather(*(team.ask(row, item) for item in items))
        assert [len(worker.asked) for worker in hired] == [2, 2]
        assert all(len({item for _, item in worker.asked}) == 1 for worker in hired)
        hired[0].lost = True
        await team.ask(plan.rows[0], items[0])
        assert [len(worker.asked) for worker in hired] == [2, 2, 1]

    plan = _plan(2, concurrency=9, model="openai:any")
    asyncio.run(ask())


class _Fake:
    """A worker that knows every answer."""

    def __init__(self, name: str) -> None:
        self.name, self.lost = name, False
        self.asked: list[tuple[int, str]] = []

    async def ask(self, row: int, item: str) -> Answer:
        if self.lost:
            raise Lost
        self.asked.append((row, json.loads(item)["id"]))
        await asyncio.sleep(0)
        result = Result(row="r", item="i", run="x", status="answered", ended="")
        return Answer(result.model_dump_json())


@pytest.mark.parametrize(
    ("count", "slots", "model", "most"),
    [
        (500, 64, "openai:any", 2),
        (500, 200, "openai:any", 6),
        (500, 32, "openai:any", 1),
        (40, 64, "openai:any", 1),
        (120, 200, "openai:any", 2),
        (500, 64, "local:smollm2", 1),
    ],
)
def test_there_are_as_many_as_the_slots_need(
    count: int, slots: int, model: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert processes.useful(_plan(count, concurrency=slots, model=model)) == most


def test_what_a_worker_is_told_is_what_was_meant() -> None:
    plan = _plan(2, concurrency=9, model="openai:any@http://me:word@127.0.0.1:9/v1?key=x", seed=7)
    judge = build(model="openai:judge", requests_per_minute=60)
    tried = (("basic", "q1"),)
    given = Given(plan.rows, Path("runs"), ["choice"], judge, 3, tried, True).shared(2)
    told = json.loads(json.dumps(worker.written(given, limited=True)))
    assert worker.read(told) == given
    assert (given.rows[0].context.concurrency, given.runs.is_absolute()) == (4, True)
    assert given.judge and given.judge.requests_per_minute == 30


def _plan(count: int, **given: Any) -> running.Plan:
    loaded = datasets.load(Path(data(count)))
    return running.Plan(
        loaded=loaded,
        task="decide",
        items=loaded.items,
        rows=rows.ready(of_methods(["rsd", "basic"][: 1 if count > 2 else 2], {}), "decide", given),
        judge=None,
        judge_spec=None,
        judge_demonstration=False,
        vote_first=0,
        seed=0,
    )


def _start(count: int) -> list[str]:
    return words(count, "--workers", "2", "--concurrency", "8")


def _words(endpoint: LocalEndpoint, count: int) -> list[str]:
    return [*_start(count), "--model", f"openai:any@{endpoint.url}"]


def _workers(pid: int) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(pid).children()
        if "dialectree.evals.worker" in child.cmdline()
    ]


def _wait_for(endpoint: LocalEndpoint, calls: int) -> None:
    ends = time.monotonic() + 60
    while endpoint.stats()["calls"] < calls and time.monotonic() < ends:
        time.sleep(0.02)
