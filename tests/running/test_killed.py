"""A run that is killed, stopped or replayed: nothing is paid twice, and the answer is the same."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import BudgetReached, ReplayMiss
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.running.runner import again
from tests import running
from tests.endpoint import LocalEndpoint
from tests.rules import children
from tests.waiting import PATIENCE_S, wait_until

QUESTION = "Which language do all people in Europe speak?"
CALLS = 23  # a question that is split once, into two: 3 + 2 x 7 + 5 + 1

processes = multiprocessing.get_context("forkserver")
PRELOADED = ("graphs.tree_structured_debate.graph", "models.clients", "report.pages", "running.runner")
processes.set_forkserver_preload([f"dialectree.{name}" for name in PRELOADED])


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=children(2), latency_ms=30) as started:
        yield started


def settings(url: str, **more: Any) -> dict[str, Any]:
    return {"model": "openai:any", "base_url": url, "max_depth": 1, "cache": False, **more}


def run(url: str, runs: Path, **more: Any) -> RunRecord:
    """A run from its start to its end."""
    begun = running.begin("tsd", QUESTION, runs, **settings(url, **more))
    return asyncio.run(begun.conduct())


def go_on(run: Path, **more: Any) -> RunRecord:
    """A run that was broken off, to its end."""
    return asyncio.run(again(RunFolder.find(str(run), run.parent), more).conduct())


def process(work: Callable[..., object], *given: object) -> BaseProcess:
    """``work`` in a process of its own."""
    started = processes.Process(target=work, args=given)
    started.start()
    return started


def in_a_process(work: Callable[..., object], *given: object) -> None:
    ended = process(work, *given)
    ended.join(PATIENCE_S)
    assert ended.exitcode == 0


def only(runs: Path) -> Path:
    (path,) = runs.iterdir()
    return path


def of(path: Path) -> RunRecord:
    return RunRecord.read((path / "run.json").read_text())


def lines(path: Path) -> list[dict[str, Any]]:
    """Every line, each one whole."""
    text = path.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def but_for_times_and_ids(record: RunRecord) -> dict[str, Any]:
    told = record.model_dump(exclude={"run_id", "started", "ended"})
    for name in ("wall_s", "calls_from_cache", "tokens_from_cache"):
        del told["usage"][name]
    return told


def kill_after(calls: int, work: Callable[..., object], endpoint: LocalEndpoint, runs: Path) -> None:
    """Kill the process that does ``work`` once the endpoint was asked for so many calls."""
    endpoint.reset()
    victim = process(work, endpoint.url, runs)
    wait_until(lambda: endpoint.stats()["calls"] >= calls)
    victim.kill()
    victim.join()
    wait_until(lambda: endpoint.stats()["running"] == 0)


def test_a_run_that_is_killed_at_any_moment_pays_nothing_twice_and_ends_as_it_would_have(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    undisturbed = run(endpoint.url, tmp_path / "undisturbed")
    assert undisturbed.usage.calls == CALLS
    for moment, calls in enumerate((1, 13, 21)):
        runs = tmp_path / str(moment)
        kill_after(calls, run, endpoint, runs)
        folder = RunFolder(only(runs))
        finished = {call.key for call in folder.calls()}
        found = folder.record()
        assert found.status == "running"
        assert (found.usage.calls, found.usage.attempts) == (len(finished), len(finished))
        assert found.usage.critical_path_calls <= len(finished)
        assert found.prompts.items() <= undisturbed.prompts.items()
        assert len(finished) < CALLS

        endpoint.reset()
        in_a_process(go_on, folder.path)
        keys = [line["key"] for line in lines(folder.path / "calls.jsonl")]
        assert len(keys) == len(set(keys)) == CALLS
        assert finished < set(keys)
        assert endpoint.stats()["calls"] == CALLS - len(finished)
        assert but_for_times_and_ids(of(folder.path)) == but_for_times_and_ids(undisturbed)
        assert lines(folder.path / "events.jsonl")


def test_a_run_that_is_killed_inside_a_debate_of_another_protocol_pays_nothing_twice(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    inside: dict[str, Any] = {"leaf_protocol": "rsd", "max_depth": 0}
    undisturbed = run(endpoint.url, tmp_path / "undisturbed", **inside)
    whole = undisturbed.usage.calls
    for calls in (3, 8):
        runs = tmp_path / str(calls)
        kill_after(calls, partial(run, **inside), endpoint, runs)
        folder = RunFolder(only(runs))
        finished = {call.key for call in folder.calls()}
        assert 0 < len(finished) < whole
        endpoint.reset()
        in_a_process(go_on, folder.path)
        keys = [line["key"] for line in lines(folder.path / "calls.jsonl")]
        assert len(keys) == len(set(keys)) == whole
        assert endpoint.stats()["calls"] == whole - len(finished)
        assert but_for_times_and_ids(of(folder.path)) == but_for_times_and_ids(undisturbed)


def test_a_resumed_run_that_is_killed_tells_what_it_came_to_and_not_how_it_ended_before(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    endpoint.reset()
    with pytest.raises(BudgetReached):
        run(endpoint.url, tmp_path, max_calls=9)
    folder = RunFolder(only(tmp_path))
    stopped = folder.record()
    assert (stopped.status, stopped) == ("partial", of(folder.path))
    victim = process(go_on, folder.path)
    wait_until(lambda: len(folder.calls()) >= 13)
    under_way = folder.record()
    victim.kill()
    victim.join()
    wait_until(lambda: endpoint.stats()["running"] == 0)
    killed = folder.record()
    for record in (under_way, killed):
        assert (record.status, record.ended, record.notices) == ("running", None, [])
        assert record.usage.wall_s == stopped.usage.wall_s > 0
        assert 9 < record.usage.calls <= len(folder.calls())
        said = sum(len(node.transcript) for node in record.tree.nodes.values())
        assert said > sum(len(node.transcript) for node in stopped.tree.nodes.values())
    assert killed.usage.calls == len(folder.calls()) < CALLS
    ended = go_on(folder.path)
    assert (ended.status, ended.usage.calls) == ("answered", CALLS)
    assert ended.usage.wall_s > stopped.usage.wall_s


def test_a_replay_needs_no_endpoint_and_gives_the_same_record(tmp_path: Path) -> None:
    with LocalEndpoint(rules=children(2), malformed_json=0.2, http_500=0.05) as short_lived:
        url = short_lived.url
        first = run(url, tmp_path / "first", cache=True)
        second = run(url, tmp_path / "second", cache=True)
        paid = short_lived.stats()["calls"]
        assert paid == first.usage.attempts
    replayed = run(url, tmp_path / "replayed", replay=True, cache=True)
    assert (first.usage.calls_from_cache, first.usage.tokens_from_cache) == (0, 0)
    for record in (second, replayed):
        assert record.usage.calls_from_cache == first.usage.calls
        used = record.usage.prompt_tokens + record.usage.completion_tokens
        assert record.usage.tokens_from_cache == used > 0
    assert first.status == "answered"
    assert first.usage.calls > CALLS  # some replies were repaired
    assert but_for_times_and_ids(first) == but_for_times_and_ids(second)
    assert but_for_times_and_ids(first) == but_for_times_and_ids(replayed)
    with pytest.raises(ReplayMiss):
        run(url, tmp_path / "other", replay=True, cache=True, seed=1)


def test_a_run_without_the_cache_is_replayed_from_its_own_calls(
    tmp_path: Path, endpoint: LocalEndpoint
) -> None:
    first = run(endpoint.url, tmp_path)
    endpoint.reset()
    again_told = go_on(tmp_path / first.run_id, replay=True)
    assert (again_told.verdict, endpoint.stats()["calls"]) == (first.verdict, 0)
