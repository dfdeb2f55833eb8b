"""An evaluation spread over a Ray cluster of two workers on this machine."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from importlib.util import find_spec

import psutil
import pytest

from benchmarks.endpoint import LocalEndpoint
from dialectree.context import build
from dialectree.errors import BudgetReached, Unreachable
from dialectree.evals.workers import Fault, Purse
from tests.evals.commanded import kept, paid, results, words

with_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


def test_a_purse_is_shared_and_says_when_it_is_empty() -> None:
    purse = Purse(build(max_calls=2, max_tokens=50))
    assert [purse.begin(), purse.begin()] == [None, None]
    assert purse.begin() == ("BudgetReached", "the budget --max-calls 2 is used up")
    purse = Purse(build(max_tokens=50))
    purse.add(50, 0.0)
    assert purse.begin() == ("BudgetReached", "the budget --max-tokens 50 is used up")


def test_a_closed_purse_says_why() -> None:
    purse = Purse(build())
    purse.close(Fault.of(Unreachable("nobody is there")))
    purse.close(Fault.of(BudgetReached("later")))
    assert purse.begin() == ("Unreachable", "nobody is there")
    error = Fault(*(purse.begin() or ("", ""))).error()
    assert (type(error), str(error)) == (Unreachable, "nobody is there")


@with_ray
def test_one_of_two_workers_is_killed_and_every_question_has_one_result() -> None:
    command = words(30, "--engine", "ray", "--workers", "2", "--concurrency", "8")
    with LocalEndpoint(seed=3, latency_ms=120) as endpoint:
        command += ["--model", f"openai:any@{endpoint.url}"]
        with subprocess.Popen(command) as begun:
            while endpoint.stats()["calls"] <= 40 and begun.poll() is None:
                time.sleep(0.05)
            _workers(begun.pid)[0].kill()
        assert begun.returncode == 0
        stats = endpoint.stats()
    found = results()
    assert Counter(one["item"] for one in found) == {f"q{n}": 1 for n in range(30)}
    assert {one["status"] for one in found} <= {"answered", "unresolved"}
    ledger = paid()
    assert ledger == kept() <= stats["calls"] <= ledger + 4  # one worker's slots


@with_ray
def test_no_call_starts_when_the_budget_of_all_workers_is_spent() -> None:
    command = words(30)
    spread = ["--engine", "ray", "--workers", "2", "--max-calls", "50"]
    with LocalEndpoint(seed=3, latency_ms=20) as endpoint:
        command += ["--model", f"openai:any@{endpoint.url}"]
        done = subprocess.run([*command, *spread], capture_output=True, text=True)
        assert (done.returncode, endpoint.stats()["calls"]) == (4, 50)
        assert "the budget --max-calls 50 is used up" in done.stderr
        assert subprocess.run(command).returncode == 0  # without a cluster
        stats = endpoint.stats()
    assert len(results()) == 30
    assert paid() == stats["calls"]


def _workers(pid: int) -> list[psutil.Process]:
    """The processes that ask questions."""
    children = psutil.Process(pid).children(recursive=True)
    return [one for one in children if one.cmdline()[:1] and "Worker" in one.cmdline()[0]]
