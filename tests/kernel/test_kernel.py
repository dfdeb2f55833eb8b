"""What the kernel does alone: debate, go on after it was killed, and run a stranger's protocol."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dialectree
from tests.kernel.endpoint import ANSWER, Endpoint

QUESTION, OPTIONS = "What do cows eat?", [ANSWER, "meat"]
MODEL = "openai:any"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield served


def debate(runs: Path, **settings: Any) -> dialectree.RunRecord:
    given = {"options": OPTIONS, "model": MODEL, "runs": runs, "cache": False, **settings}
    return dialectree.run("rsd", QUESTION, **given)


def test_two_debaters_and_a_judge_debate(endpoint: Endpoint, tmp_path: Path) -> None:
    record = debate(tmp_path)
    assert (record.status, record.verdict and record.verdict.answer) == ("answered", ANSWER)
    assert record.usage.calls == len(endpoint.questions) > 6
    again = dialectree.load(record.run_id, runs=tmp_path)
    assert again.verdict == record.verdict


def test_a_baseline_asks_one_model(endpoint: Endpoint, tmp_path: Path) -> None:
    record = debate(tmp_path, method_name="judge_alone")
    assert (record.status, len(endpoint.questions)) == ("answered", 1)


KILLED = """
import sys
import dialectree
dialectree.run("rsd", sys.argv[1], options=sys.argv[2:4], model="openai:any", runs=sys.argv[4],
               cache=False)
"""


def test_a_run_that_was_killed_goes_on_and_pays_nothing_twice(endpoint: Endpoint, tmp_path: Path) -> None:
    whole = debate(tmp_path / "whole")
    endpoint.questions.clear()
    endpoint.latency_s = 0.2
    command = [sys.executable, "-c", KILLED, QUESTION, *OPTIONS, str(tmp_path / "killed")]
    process = subprocess.Popen(command)
    until = time.monotonic() + 60
    while len(endpoint.questions) < 5 and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    endpoint.latency_s = 0.0
    time.sleep(0.3)  # the endpoint still answers what was under way
    paid = len(endpoint.questions)
    [folder] = (tmp_path / "killed").iterdir()
    kept = len((folder / "calls.jsonl").read_text().splitlines())
    record = dialectree.resume(folder, runs=tmp_path / "killed")
    assert record.status == "answered"
    assert record.verdict == whole.verdict
    under_way = paid - kept
    assert 0 <= under_way <= 2  # two debaters speak side by side
    assert len(endpoint.questions) <= whole.usage.calls + under_way
