"""``dialectree eval`` as a person or a script meets it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from dialectree.interfaces.cli.protocol_fields import FIELDS
from dialectree.protocols.protocol import load_protocols
from dialectree.protocols.settings import SHARED
from tests.cli.commands import Done, command, refused
from tests.endpoint import LocalEndpoint
from tests.waiting import PATIENCE_S, wait_until

PROGRAM = str(Path(sys.executable).with_name("dialectree"))
OPTIONS = ["a cow", "a tree"]


@pytest.fixture
def model(endpoint: LocalEndpoint) -> tuple[str, str]:
    endpoint.reset()
    return "--model", f"openai:any@{endpoint.url}"


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have tests of their own."""
    monkeypatch.setattr(
        "dialectree.interfaces.cli.evaluation_report.report_after_run", lambda folder: ["reported"]
    )


def data(count: int) -> str:
    """A file of questions with two options; their ids are q0, q1 ..."""
    asked = [
        {"id": f"q{n}", "question": f"What grows on day {n}?", "options": ["a cow", "a tree"]}
        for n in range(count)
    ]
    Path("mine.jsonl").write_text("".join(json.dumps({**one, "gold": "B"}) + "\n" for one in asked))
    return "mine.jsonl"


def asking(count: int, *more: str) -> list[str]:
    """A command that asks them in the folder ``out``."""
    command = [PROGRAM, "eval", data(count), "--methods", "basic", "--out", "out", "--no-cache"]
    return [*command, "-q", *more]


def results(folder: str = "out") -> list[dict[str, Any]]:
    """What is in results.jsonl."""
    return [json.loads(line) for line in Path(folder, "results.jsonl").read_text().splitlines()]


def paid() -> int:
    """Calls as the results count them."""
    return sum(int(one["usage"]["calls"]) for one in results())


def kept() -> int:
    """Calls as the journals have them."""
    return sum(len(p.read_text().splitlines()) for p in Path("out/runs").rglob("calls.jsonl"))


def evaluated(*words: str) -> Done:
    """A command that came to its end; its standard output is the folder."""
    done = command("eval", *words)
    assert done.status == 0, done.err
    return done


# What there is


def test_the_data_sets_are_listed_with_all_that_is_to_know_of_them() -> None:
    text = " ".join(command("eval", "list").out.split())
    for known in ("truthfulqa", "medqa", "tree-of-debate", "Apache-2.0", "8479930f7b8a2605", " 500 "):
        assert known in text
    assert "--data FILE only" in text and "fetched when asked for" in text


def test_every_setting_of_every_protocol_is_a_flag() -> None:
    own = frozenset[str]().union(*(one.own_settings() for one in load_protocols().values()))
    assert own - {"ask", "judge"} == {*FIELDS} - {*SHARED}
    help_text = command("eval", "mine.jsonl", "--help").out
    for flag in ("--methods", "--matrix", "--shard", "--vote-first", "--max-cost", "--breadth"):
        assert flag in help_text


# A run


def test_methods_over_a_file_and_the_same_again(model: tuple[str, str], endpoint: LocalEndpoint) -> None:
    words = [data(4), *model, "--methods", "rsd,self_consistency", "--samples", "3"]
    done = evaluated(*words)
    assert done.out == "evaluations/mine\n"
    found = results("evaluations/mine")
    assert Counter(one["row"] for one in found) == {"rsd": 4, "self_consistency, samples=3": 4}
    kept = json.loads(Path("evaluations/mine/evaluation.json").read_text())
    assert kept["schema"] == "dialectree.evaluation/1" and kept["ended"]
    assert kept["scorers"] == ["choice"] and kept["judge"] is None
    calls = endpoint.stats()["calls"]
    assert sum(one["usage"]["calls"] for one in found) == calls
    again = evaluated("run", *words)  # the word may be left out
    assert "8 results (8 were there)" in again.err
    assert (results("evaluations/mine"), endpoint.stats()["calls"]) == (found, calls)


def test_progress_is_plain_lines_where_there_is_no_terminal(model: tuple[str, str]) -> None:
    done = evaluated(data(3), *model)
    assert "3 of 3 questions, 0 failed" in done.err and "\x1b" not in done.err
    reported, command_line = done.err.split("dialectree: reported\n")[1].splitlines()
    assert reported.startswith("Next, step 2 of 4, audit: ") and command_line.startswith(
        "  dialectree eval audit "
    )
    assert evaluated(data(3), *model, "-q").err == ""


def test_a_budget_ends_it_with_status_4_and_the_same_goes_on(
    model: tuple[str, str], endpoint: LocalEndpoint
) -> None:
    done = command("eval", data(6), *model, "--max-calls", "20", "--out", "out")
    assert (done.status, done.out) == (4, "")
    assert "the budget --max-calls 20 is used up" in done.err
    assert "the same command goes on" in done.err
    assert endpoint.stats()["calls"] == 20
    evaluated(data(6), *model, "--out", "out")
    found = results("out")
    assert len(found) == 6
    assert sum(one["usage"]["calls"] for one in found) == endpoint.stats()["calls"]


def test_nobody_at_the_address_is_status_3_and_a_wrong_model_status_2() -> None:
    away = ("--model", "openai:x@http://127.0.0.1:9/v1")
    done = command("eval", data(2), *away, "--out", "out", "--call-deadline", "1")
    assert done.status == 3
    assert "127.0.0.1:9" in done.err and results("out") == []


def test_a_killed_evaluation_goes_on_and_pays_no_question_twice() -> None:
    with LocalEndpoint(seed=3, latency_ms=60, http_500=0.05, malformed_json=0.05) as endpoint:
        words = ["eval", data(24), "--model", f"openai:any@{endpoint.url}", "--out", "out"]
        words += ["--concurrency", "8", "--no-cache", "-q"]
        process = subprocess.Popen([PROGRAM, *words])
        wait_until(lambda: endpoint.stats()["calls"] > 50, process=process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(results("out")) < 24
        assert command(*words).status == 0
        stats = endpoint.stats()
    found = results("out")
    assert Counter(one["item"] for one in found) == {f"q{n}": 1 for n in range(24)}
    ledger = sum(one["usage"]["calls"] for one in found)
    lines = [
        json.loads(line)
        for path in Path("out/runs").rglob("calls.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert len(lines) == ledger == len({(line["key"], *_spot(line)) for line in lines})
    assert ledger <= stats["unique_requests"] <= ledger + 8
    assert stats["paid_twice"] <= 8  # answered, and killed before it was kept


def _spot(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("node", "phase", "role", "round", "take", "speaker"))


def test_an_interrupted_evaluation_ends_with_130(model: tuple[str, str]) -> None:
    with LocalEndpoint(latency_ms=1500) as slow:
        words = ["eval", data(20), "--model", f"openai:any@{slow.url}", "--out", "out"]
        process = subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: slow.stats()["running"], process=process)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
        paid = slow.stats()["calls"]
    assert process.returncode == 130
    kept = [path.read_text() for path in Path("out/runs").rglob("calls.jsonl")]
    assert sum(text.count("\n") for text in kept) == paid > 0
    assert "stopping: calls under way have up to 5 s" in said
    assert "the same command goes on" in said and "Traceback" not in said


# What is refused


def test_a_missing_key_is_said_before_the_first_call(
    model: tuple[str, str], endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "LANGSMITH_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    done = command("eval", data(2), *model, "--out", "out", "--langsmith", "spring")
    refused(done, "--langsmith: LANGSMITH_API_KEY is not set")
    assert endpoint.stats()["calls"] == 0 and not Path("out").exists()


def test_a_missing_key_of_the_judge_is_said_before_the_first_call(
    model: tuple[str, str], endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("open.jsonl").write_text(json.dumps({"question": "What grows?", "true": ["Grass."]}) + "\n")
    words = ["open.jsonl", *model, "--methods", "single_shot", "--judge", "openai:judge", "--out", "out"]
    done = command("eval", *words)
    assert done.status == 3 and "set OPENAI_API_KEY" in done.err
    assert endpoint.stats()["calls"] == 0


def test_ray_is_asked_for_only_where_it_is_installed(
    model: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialectree.evals.ray_engine.find_spec", lambda name: None)
    done = command("eval", data(1), *model, "--engine", "ray", "--out", "out", "--quiet")
    refused(done, "pip install 'dialectree[ray]'")


def test_a_matrix_of_methods_and_models(endpoint: LocalEndpoint) -> None:
    Path("m.yaml").write_text(
        "title: Votes beside debates\nmissing: [Nobody is asked.]\n"
        "axes:\n  methods: [basic, {name: samples, method: self_consistency}]\n"
        "  models: {one: openai:one, two: openai:two}\n"
    )
    evaluated(data(2), "--matrix", "m.yaml", "--base-url", endpoint.url, "--out", "out")
    rows = {one["row"] for one in results("out")}
    assert rows == {"basic, one", "basic, two", "samples, one", "samples, two"}
    models = {call["model"] for call in endpoint.calls()}
    assert models >= {"one", "two"}
    kept = json.loads(Path("out/evaluation.json").read_text())
    assert (kept["title"], kept["missing"]) == ("Votes beside debates", ["Nobody is asked."])


def test_the_totals_of_debates_and_judge_come_first_and_then_apart(
    model: tuple[str, str], endpoint: LocalEndpoint
) -> None:
    asked = {"question": "What grows?", "true": ["Grass."], "false": ["Stones."]}
    Path("open.jsonl").write_text(json.dumps(asked) + "\n")
    words = ["open.jsonl", *model, "--methods", "single_shot", "--price", "openai:any=1,1"]
    done = command("eval", *words, "--out", "out")
    calls = endpoint.stats()["calls"]
    (found,) = results("out")
    judging = found["judging"]["calls"] + found["controlling"]["calls"]
    assert (len(found["controls"]), found["usage"]["calls"] + judging) == (2, calls)
    total = r"(\d+) calls, ([\d,]+) tokens, cost [\d.]+"
    closing = re.search(rf"^dialectree: {total}; debates: {total}; judge: {total}$", done.err, re.M)
    assert closing, done.err
    every, tokens, debates, own, judge, others = (int(part.replace(",", "")) for part in closing.groups())
    assert (every, debates, judge) == (calls, found["usage"]["calls"], judging)
    assert tokens == own + others
    assert done.err.index("; debates: ") < done.err.index("1 results, 0 failed")


def test_failed_questions_are_asked_again_where_that_is_asked_for(model: tuple[str, str]) -> None:
    asked = [{"id": f"q{n}", "question": "What?", "options": OPTIONS, "gold": "B"} for n in (1, 2)]
    asked[1]["options"] = ["a cow", "x" * 6001]  # too long for a debate to write out
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    words = ("eval", "mine.jsonl", *model, "--methods", "basic", "--out", "out")
    for more, there in (([], ""), ([], "2 were there"), (["--retry-failed"], "1 were there")):
        done = command(*words, *more)
        assert done.status == 5 and there in done.err
        assert "1 failed (q2 by basic)" in done.err and "--retry-failed" in done.err
    assert [one["status"] for one in results("out")].count("failed") == 1


# A Ray cluster


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_a_killed_worker_is_begun_again_and_all_share_a_budget() -> None:
    words = asking(30, "--concurrency", "8")
    with LocalEndpoint(seed=3, latency_ms=60) as endpoint:
        words += ["--model", f"openai:any@{endpoint.url}"]
        spread = [*words, "--engine", "ray"]
        with subprocess.Popen(spread, stderr=subprocess.PIPE, text=True) as process:
            wait_until(lambda: endpoint.stats()["calls"] > 40, process=process)
            _kill_a_worker(process.pid)
            errors = process.communicate()[1]
        assert process.returncode == 0, errors
        assert Counter(one["item"] for one in results()) == {f"q{n}": 1 for n in range(30)}
        calls = endpoint.stats()["calls"]
        assert paid() == kept() <= calls <= paid() + 8  # those under way in the killed worker
        alone = [word if word != "out" else "alone" for word in words]
        assert subprocess.run(alone).returncode == 0
        assert _outcomes("out") == _outcomes("alone")

        before = endpoint.stats()["calls"]
        limited = [word if word != "out" else "limited" for word in spread]
        ended = subprocess.run([*limited, "--max-calls", "50"], capture_output=True, text=True)
        assert ended.returncode == 4
        assert "the budget --max-calls 50 is used up" in ended.stderr
        assert endpoint.stats()["calls"] - before == 50
        without_ray = [word if word != "out" else "limited" for word in words]
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
