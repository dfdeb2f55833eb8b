"""An evaluation spread over a Ray cluster on this machine."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from importlib.util import find_spec
from typing import Any

import psutil
import pytest

from tests.endpoint import LocalEndpoint
from tests.evals.commanded import kept, paid, results, words


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_workers_share_a_budget_and_a_killed_one_is_begun_again() -> None:
    command = words(30, "--concurrency", "8")
    with LocalEndpoint(seed=3, latency_ms=120) as endpoint:
        command += ["--model", f"openai:any@{endpoint.url}"]
        spread = [*command, "--engine", "ray", "--max-calls", "160"]
        with subprocess.Popen(spread, stderr=subprocess.PIPE, text=True) as begun:
            while endpoint.stats()["calls"] <= 40 and begun.poll() is None:
                time.sleep(0.05)
            _workers(begun.pid)[0].kill()
            errors = begun.communicate()[1]
        assert (begun.returncode, endpoint.stats()["calls"]) == (4, 160), errors
        assert "the budget --max-calls 160 is used up" in errors
        assert len(results()) > 15  # the killed worker had half of them
        assert subprocess.run(command).returncode == 0  # goes on without a cluster
        assert Counter(one["item"] for one in results()) == {f"q{n}": 1 for n in range(30)}
        assert paid() == kept() <= endpoint.stats()["calls"] <= paid() + 4  # a worker's slots
        alone = [word if word != "out" else "alone" for word in command]
        assert subprocess.run(alone).returncode == 0
    assert _outcomes("out") == _outcomes("alone")


def _outcomes(folder: str) -> dict[str, Any]:
    return {one["item"]: (one["status"], one["verdict"], one["scores"]) for one in results(folder)}


def _workers(pid: int) -> list[psutil.Process]:
    """Return the processes that ask questions."""
    children = psutil.Process(pid).children(recursive=True)
    return [one for one in children if one.cmdline()[:1] and "ray::Worker" in one.cmdline()[0]]
