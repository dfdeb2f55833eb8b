"""``dialectree decide`` and ``dialectree verify`` as a person or a script meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import BudgetReached
from dialectree.models.asking import Completion
from dialectree.models.endpoints import Endpoint
from dialectree.records.folder import RunFolder
from tests.cli.commands import command, runs
from tests.endpoint import LocalEndpoint
from tests.report import recorded
from tests.waiting import wait_until

PROGRAM = Path(sys.executable).with_name("dialectree")
QUESTION = "Which of them is right?"
CLAIM = "Chameleons change colour mainly for camouflage."


@pytest.fixture
def model(endpoint: LocalEndpoint) -> tuple[str, str]:
    return "--model", f"openai:any@{endpoint.url}"


Model = tuple[str, str]


def options(*texts: str) -> list[str]:
    return [word for text in texts for word in ("--option", text)]


# Options


def test_a_debate_of_two_proposals_names_the_options_that_it_leaves_out(model: Model) -> None:
    done = command("decide", QUESTION, *options("tea", "coffee", "water"), *model)
    assert re.search("left out of the debate: [ABC]; --candidates knockout debates every option", done.err)
    assert "left out" not in command("decide", QUESTION, *options("tea", "coffee"), *model).err


# What they print


# A person judges


def test_a_person_rules_with_a_label(model: Model) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--judge", "me"]
    done = command(*words, *model, stdin="both\nb\nA\n")
    assert done.status == 0, done.err
    assert done.out.startswith("B: no\n")
    assert "'BOTH' is no such label" in done.err or "'both' is no such label" in done.err
    assert done.err.count("Which answer is right?") == 2
    assert "rebuttal" in done.err.lower() or "debater a" in done.err.lower()


def test_a_debate_that_nobody_judged_goes_on_with_a_ruling(model: Model) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--judge", "me", "--json"]
    done = command(*words, *model)
    assert (done.status, done.record["status"]) == (4, "partial")
    assert "no ruling" in done.err and "dialectree resume" in done.err
    resumed = command("resume", done.record["run_id"], "--json", *model, stdin="B\n")
    assert (resumed.status, resumed.record["verdict"]["label"]) == (0, "B")
    assert resumed.record["usage"]["calls"] == 8


# What can go wrong


def test_an_error_in_the_middle_of_a_run_names_the_command_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def complete(*_: object) -> Completion:
        raise BudgetReached("so it is")

    monkeypatch.setattr(Endpoint, "complete", complete)
    done = command("verify", CLAIM, "--model", "openai:any@http://127.0.0.1:1/v1", "--quiet")
    (folder,) = runs()
    assert done.status == BudgetReached.status
    (line,) = [line for line in done.err.splitlines() if "so it is" in line]
    assert f"dialectree resume {folder}" in line


def test_what_a_debate_left_open_is_named_with_the_reason_at_its_end() -> None:
    found = recorded.record("tsd")
    for node, notes in {"0.0": ["nobody spoke", "in the verdict"], "0.1": [], "0.2": ["settled"]}.items():
        found.tree.nodes[node].notes = notes
        found.tree.nodes[node].status = "answered" if node == "0.2" else "missing"
    assert found.verdict is not None
    found.verdict.notes = ["in the verdict"]
    folder = RunFolder.create(Path("runs"))
    folder.write_record(found.model_copy(update={"run_id": folder.run_id, "status": "degraded"}))
    done = command("resume", folder.run_id)
    assert done.status == 5
    assert re.findall("node .*", done.err) == ["node 0.0: unresolved: nobody spoke", "node 0.1: unresolved"]


@pytest.mark.skipif(os.name == "nt", reason="a shell closes streams")
def test_a_debate_needs_no_standard_stream(endpoint: LocalEndpoint) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--model", f"openai:any@{endpoint.url}"]
    done = subprocess.run(["/bin/sh", "-c", '"$0" "$@" <&- >&- 2>&-', PROGRAM, *words], check=False)
    (run,) = runs()
    assert done.returncode in (0, 5)
    assert {"report.html", "report.md"} <= {path.name for path in run.iterdir()}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file on a full disk")
def test_what_cannot_be_printed_ends_with_status_4(endpoint: LocalEndpoint) -> None:
    words = ["decide", QUESTION, *options("yes", "no"), "--model", f"openai:any@{endpoint.url}"]
    for more in (words, ["show", "RUN", "--json"]):
        given = [str(runs()[0]) if word == "RUN" else word for word in more]
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PROGRAM, *given], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 4, done.stderr
        assert done.stderr.endswith("dialectree: no room left to write the output: free some and repeat\n")
        assert "Traceback" not in done.stderr


def but_for_times_and_ids(record: dict[str, Any]) -> dict[str, Any]:
    for name in ("run_id", "started", "ended"):
        del record[name]
    del record["usage"]["wall_s"]
    return record


def test_one_that_is_killed_is_resumed_and_nothing_is_paid_twice() -> None:
    with LocalEndpoint(seed=3, latency_ms=150, spread=0.5) as slow:
        words = ["verify", CLAIM, "--depth", "2", "--no-cache", "--json", "--model", f"openai:any@{slow.url}"]
        victim = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: slow.stats()["calls"] >= 3)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        wait_until(lambda: slow.stats()["running"] == 0)
        paid = {json.loads(line)["key"] for line in _lines(runs()[0] / "calls.jsonl")}
        slow.reset()
        went_on = command("resume", str(runs()[0]), "--json")
        assert went_on.status in (0, 5), went_on.err
        keys = [json.loads(line)["key"] for line in _lines(runs()[0] / "calls.jsonl")]
        assert len(keys) == len(set(keys)) == went_on.record["usage"]["calls"]
        assert slow.stats()["calls"] == len(keys) - len(paid) > 0
        undisturbed = command(*words).record
    assert but_for_times_and_ids(went_on.record) == but_for_times_and_ids(undisturbed)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
