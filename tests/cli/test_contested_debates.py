"""``dialectree contest`` on debates, as a person or a script meets it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.rules import children

QUESTION = "What is it?"
TEXT = "A word of a person's own."
RULING = {"match": "You judge a debate", "set": {"label": "A", "answer": "tin"}}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=3, rules=[*children(2), RULING]) as started:
        yield started


@pytest.fixture(scope="module")
def made(endpoint: LocalEndpoint, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two runs, made once: a tree with two leaves, and a debate between two options."""
    folders: dict[str, Path] = {}
    for name, words in {
        "answer": [QUESTION, "--max-depth", "1"],
        "decide": [QUESTION, "--option", "tin", "--option", "salt"],
    }.items():
        folder = tmp_path_factory.mktemp(name)
        model = ["--model", f"openai:any@{endpoint.url}", "--no-cache", "--quiet"]
        done = command(name, *words, *model, "--runs", str(folder))
        assert done.status == 0, done.err
        (folders[name],) = folder.iterdir()
    return folders


@pytest.fixture(params=["answer", "decide"])
def run(request: pytest.FixtureRequest, made: dict[str, Path]) -> str:
    """The id of a run, in the working folder."""
    return here(made[request.param])


def here(folder: Path) -> str:
    shutil.copytree(folder, Path("runs") / folder.name)
    return folder.name


def record_of(run: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((Path("runs") / run / "run.json").read_text())
    return record


def test_names_that_show_prints_are_names_that_contest_takes(run: str, endpoint: LocalEndpoint) -> None:
    old = record_of(run)
    name = "0.1/A1" if old["protocol"] == "tsd" else "0/A2"
    assert name in command("show", run, "--node", name.partition("/")[0]).out
    assert name in command("show", run, "--md").out and name in command("show", run, "--html").out
    endpoint.reset()
    done = command("contest", run, "--replace", name, TEXT, "--no-cache", "--json")
    assert done.status == 0, done.err
    new = done.record
    assert endpoint.stats()["calls"] == new["usage"]["calls"] > 0
    assert new["contest"]["run"] == run
    assert new["contest"]["verdict_before"]["answer"] == old["verdict"]["answer"]
    assert new["contest"]["verdict_after"]["answer"] == new["verdict"]["answer"]
    folder = Path("runs") / new["run_id"]
    for report in ("report.html", "report.md"):
        assert TEXT in (folder / report).read_text().replace("&#39;", "'")
    assert "before" in command("show", new["run_id"]).out
    endpoint.reset()
    back = command("contest", new["run_id"], "--restore", name, "--json")
    assert endpoint.stats()["calls"] == 0
    assert back.record["verdict"] == old["verdict"] and back.record["tree"] == old["tree"]


def test_what_it_prints_says_what_moved(made: dict[str, Path]) -> None:
    run = here(made["answer"])
    done = command("contest", run, "--verdict", "0.1", TEXT)
    assert done.status == 0
    assert "0.1 given another verdict; the verdict of 0.1, 0 moved" in done.out
    assert f"→ {TEXT} (" in done.out
    assert "6 calls" in done.err
    ruled = command("contest", here(made["decide"]), "--verdict", "0", "uncertain")
    refused(ruled, "give one of A, B")


WRONG = {
    "two texts": (["--replace", "0.1/A1", "x", "--replace=0.1/B1", "y"], "one at a time"),
    "two verdicts": (["--verdict", "0.1", "x", "--verdict", "0.0", "y"], "one at a time"),
    "an unknown turn": (["--replace", "0.1/A9", "x"], "0.1/A1"),
    "a strength": (["--set", "0.1=0.3"], "only runs of art"),
    "a segment": (["--drop", "a:12"], "a:12: the run has no such turn"),
}


@pytest.mark.parametrize(("words", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_wish_is_one_line_and_nothing_is_written(
    words: list[str], said: str, made: dict[str, Path]
) -> None:
    run = here(made["answer"])
    refused(command("contest", run, *words), said)
    assert [path.name for path in runs()] == [run]
