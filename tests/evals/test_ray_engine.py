"""An evaluation spread over a Ray cluster on this machine."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import psutil
import pytest

from tests.endpoint import LocalEndpoint
from tests.evals.commanded import kept, paid, results, words


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_a_killed_worker_is_begun_again_and_all_share_a_budget() -> None:
    command = words(30, "--concurrency", "8")
    with LocalEndpoint(seed=3, latency_ms=60) as endpoint:
        command += ["--model", f"openai:any@{endpoint.url}"]
        spread = [*command, "--engine", "ray"]
        with subprocess.Popen(spread, stderr=subprocess.PIPE, text=True) as process:
            while endpoint.stats()["calls"] <= 40 and process.poll() is None:
                time.sleep(0.05)
            _kill_a_worker(process.pid)
            errors = process.communicate()[1]
        assert process.returncode == 0, errors
        assert Counter(one["item"] for one in results()) == {f"q{n}": 1 for n in range(30)}
        calls = endpoint.stats()["calls"]
        assert paid() == kept() <= calls <= paid() + 8  # those under way in the killed worker
        alone = [word if word != "out" else "alone" for word in command]
        assert subprocess.run(alone).returncode == 0
        assert _outcomes("out") == _outcomes("alone")

        before = endpoint.stats()["calls"]
        limited = [word if word != "out" else "limited" for word in spread]
        ended = subprocess.run([*limited, "--max-calls", "50"], capture_output=True, text=True)
        assert ended.returncode == 4
        assert "the budget --max-calls 50 is used up" in ended.stderr
        assert endpoint.stats()["calls"] - before == 50
        without_ray = [word if word != "out" else "limited" for word in command]
        assert subprocess.run(without_ray).returncode == 0
    assert _outcomes("limited") == _outcomes("alone")


def _outcomes(folder: str) -> dict[str, Any]:
    return {one["item"]: (one["status"], one["verdict"], one["scores"]) for one in results(folder)}


def _kill_a_worker(pid: int) -> None:
    """Kill one of the processes that ask questions; children that end meanwhile are none."""
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.cmdline()[:1] and "ray::Worker" in child.cmdline()[0]:
                child.kill()
                return
