"""``dialectree contest`` on a real run, as a person or a script meets it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Done, command, refused, runs
from tests.endpoint import LocalEndpoint

CLAIM = "Chameleons change colour mainly for camouflage."
WINS = [{"match": "You compare two arguments", "set": {"winner": "SUPPORT"}}]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=3, rules=WINS) as started:
        yield started


@pytest.fixture(scope="module")
def made(endpoint: LocalEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of breadth 2 (0.0 and 0.1 support, 0.2 and 0.3 attack), made once."""
    folder = tmp_path_factory.mktemp("made")
    words = ["--breadth", "2", "--no-cache", "--runs", str(folder), "--quiet"]
    done = command("verify", CLAIM, *words, "--model", f"openai:any@{endpoint.url}")
    assert done.status == 0, done.err
    (path,) = folder.iterdir()
    return path


@pytest.fixture
def run(made: Path) -> str:
    """The id of the run, in the working folder."""
    shutil.copytree(made, Path("runs") / made.name)
    return made.name


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def record_of(run: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((Path("runs") / run / "run.json").read_text())
    return record


def contest(run: str, *words: str) -> Done:
    return command("contest", run, *words, "--json")


def test_a_contest_is_a_run_of_its_own_with_reports(run: str) -> None:
    before, old = contents(Path("runs") / run), record_of(run)
    done = contest(run, "--drop", "0.2", "--set", "0.0=0.25", "--flip", "0.0:0.3")
    assert done.status == 0, done.err
    new = done.record
    assert contents(Path("runs") / run) == before
    assert new["contest"]["run"] == run
    assert new["contest"]["before"] == old["verdict"]["confidence"]
    assert new["contest"]["after"] == new["verdict"]["confidence"]
    assert [change.split()[0] for change in new["contest"]["changes"]] == ["strength", "0.2", "comparison"]
    assert new["usage"]["calls"] == 0 and new["models"] == old["models"]
    folder = Path("runs") / new["run_id"]
    names = {path.name for path in folder.iterdir()} - {".lock"}
    journal = {"calls.jsonl", "prompts.jsonl", "contested.json"}
    assert names == {"run.json", "events.jsonl", "report.html", "report.md", *journal}
    assert json.loads((folder / "run.json").read_text()) == new
    assert run in (folder / "report.html").read_text()
    back = contest(new["run_id"], "--restore", "0.2", "--set", _set_back(old), "--flip", "0.3:0.0")
    assert back.record["verdict"] == old["verdict"]
    assert back.record["contest"]["run"] == new["run_id"]


def _set_back(old: dict[str, Any]) -> str:
    return f"0.0={old['tree']['nodes']['0.0']['scores']['tau']}"


def test_what_it_prints_says_what_moved_and_why(run: str) -> None:
    done = command("contest", run, "--flip", "0.0:0.2", "--void", "0.1:0.3")
    assert done.status == 0
    assert "more likely" in done.out.splitlines()[0]
    assert "P(claim) goes from " in done.out
    assert "comparison of 0.0 and 0.2 flipped; comparison of 0.1 and 0.3 voided; " in done.out
    assert "\n0.2 " in done.out and " → " in done.out
    assert done.err.startswith("dialectree: 0 calls")
    (new,) = (path.name for path in runs() if path.name != run)
    shown = command("show", new)
    assert shown.status == 0 and f"This contests run {run}" in shown.out
    assert "flipped" in command("show", new, "--md").out
    assert command("show", new, "--node", "0.2").status == 0


WRONG = {
    "an id that is none": (["--drop", "0.9"], "0.9: the run has no such turn, node"),
    "no strength": (["--set", "0.1"], "write ID=STRENGTH"),
    "a strength above 1": (["--set", "0.1=1.01"], "write ID=STRENGTH"),
    "half a pair": (["--flip", "0.1"], "write ID:ID"),
    "friends": (["--flip", "0.0:0.1"], "these two were not compared"),
    "not void": (["--restore", "0.0:0.2"], "no change of the run to take back"),
    "not dropped": (["--restore", "0.0"], "--restore 0.0: no change of the run to take back"),
    "no stance": (["--add", "0", "Yes."], "write support:ID or attack:ID"),
    "a parent that is none": (["--add", "support:7", "Yes."], "7: the run has no such argument"),
    "no text": (["--add", "support:0", "  "], "the argument is empty"),
    "two additions": (["--add", "support:0", "A", "--add=attack:0", "B"], "one at a time"),
    "a role that is none": (["--add", "support:0", "A", "--role", "poet=openai:x"], "poet"),
}


@pytest.mark.parametrize(("words", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_wish_is_one_line_and_nothing_is_written(words: list[str], said: str, run: str) -> None:
    before = contents(Path("runs") / run)
    refused(command("contest", run, *words), said)
    assert [path.name for path in runs()] == [run]
    assert contents(Path("runs") / run) == before


def test_a_run_that_is_none_or_has_no_such_thing_is_refused(run: str, endpoint: LocalEndpoint) -> None:
    refused(command("contest", "nothing", "--drop", "0.1"), "there is no run 'nothing'")
    refused(command("contest", "..", "--drop", "0.1"), "there is no run '..'")
    (Path("runs") / run / "calls.jsonl").unlink()
    refused(command("contest", run, "--drop", "0.1"), "calls.jsonl")
    model = ("--model", f"openai:any@{endpoint.url}", "--runs", "others", "--json", "--quiet")
    for words in (
        ["verify", CLAIM, "--method", "direct"],
        ["decide", "Which?", "--option", "a", "--option", "b"],
    ):
        other = command(*words, *model).record["run_id"]
        refused(command("contest", f"others/{other}", "--drop", "0.1"), "the run has no such turn, node")
    partial = command("verify", CLAIM, *model, "--max-calls", "1", "--no-cache").record["run_id"]
    done = command("contest", f"others/{partial}", "--drop", "0.1")
    refused(done, f"is not finished; first: dialectree resume others/{partial}")
    assert [path.name for path in runs()] == [run]


def test_an_addition_that_is_broken_off_is_resumed(run: str) -> None:
    words = ["--add", "attack:0", "No.", "--no-cache"]
    with LocalEndpoint(key="secret") as closed:
        done = contest(run, *words, "--model", f"openai:any@{closed.url}")
        assert (done.status, done.record["status"]) == (3, "partial")
        assert closed.url in done.err
    budget = contest(run, *words, "--max-calls", "1")
    assert (budget.status, budget.record["usage"]["calls"]) == (4, 1)
    new = budget.record["run_id"]
    assert f"go on with: dialectree resume runs/{new}" in budget.err
    refused(command("contest", new, "--drop", "0.1"), f"first: dialectree resume runs/{new}")
    assert command("show", new).status == 0
    resumed = command("resume", new, "--json")
    assert (resumed.status, resumed.record["usage"]["calls"]) == (0, 3), resumed.err
    assert resumed.record["contest"]["why"]


def test_the_line_that_goes_on_names_the_address_again(run: str) -> None:
    words = ["--add", "attack:0", "No.", "--no-cache", "--max-calls", "1", "--model", "openai:any"]
    with LocalEndpoint() as other:
        budget = contest(run, *words, "--base-url", other.url)
    again = f"dialectree resume runs/{budget.record['run_id']} --base-url {other.url}"
    assert budget.status == 4 and again in budget.err


def test_an_addition_that_nobody_can_judge_is_left_out_and_said(run: str) -> None:
    with LocalEndpoint(empty=1.0) as silent:
        words = ["--add", "attack:0", "No.", "--model", f"openai:any@{silent.url}"]
        done = contest(run, *words)
    assert (done.status, done.record["status"]) == (5, "degraded")
    assert "node 0.4: Scorer failed" in done.err
    assert "0.4 is left out: it has no strength" in done.record["tree"]["nodes"]["0"]["notes"]
    assert done.record["verdict"] == record_of(run)["verdict"]
