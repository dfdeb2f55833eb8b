"""Debates about a person's documents, as a person or a script meets them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialectree.interfaces.cli import progress
from dialectree.records.folder import RunFolder
from dialectree.system import clock
from tests.cli.commands import Done, command, refused, runs
from tests.endpoint import LocalEndpoint
from tests.grounding import written

CLAIM = "Cows eat grass."
BM25 = ["--embeddings", "bm25", "--no-cache", "--quiet"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=5) as started:
        yield started


@pytest.fixture
def model(endpoint: LocalEndpoint) -> list[str]:
    return ["--model", f"openai:any@{endpoint.url}"]


@pytest.fixture(autouse=True)
def notes() -> Path:
    """Return a folder with documents, and with files that are none."""
    folder = written(Path("notes"))
    (folder / "empty.md").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "tool.exe").write_bytes(b"MZ")
    Path("outside.md").write_text("A secret. It lies elsewhere.")
    os.symlink(Path("outside.md").resolve(), folder / "link.md")
    return folder


def decide(*words: str) -> Done:
    options = ["--option", "grass", "--option", "meat"]
    return command("decide", "What do cows eat?", *options, *words)


def kept() -> list[Path]:
    """Return the folders of all runs."""
    return [path for path in runs() if path.is_dir()]


def test_a_debate_argues_from_a_folder_and_says_what_it_could_not_read(model: list[str]) -> None:
    done = decide("--sources", "notes", *BM25, *model, "--json")
    assert done.status in (0, 5), done.err
    assert [one["name"] for one in done.record["input"]["sources"]] == ["clay.md", "cows.txt", "tides.md"]
    for name in ("empty.md: an empty file", "broken.pdf: ", "tool.exe: files that end", "link.md"):
        assert name in done.err and name in str(done.record["notices"])
    assert "secret" not in str(done.record["tree"])
    shown = command("show", "last")
    assert re.search(r"s2.*cows\.txt", shown.out) and command("show").status == 0
    (path,) = kept()
    assert len([*(path / "sources").iterdir()]) == 3
    exported = command("export", "preferences", "last")
    assert exported.status == 0, exported.err


def test_a_dry_run_reads_the_sources_and_begins_no_run(model: list[str]) -> None:
    done = decide("--sources", "notes", *BM25, *model, "--dry-run")
    assert done.status == 0 and " calls, " in done.out
    assert runs() == []


WRONG = {
    "nothing there": (["--sources", "nowhere"], "nowhere: no such file or folder"),
    "nothing to read": (["--sources", "notes/tool.exe"], "tool.exe: files that end in .exe"),
    "nothing at all": (["--sources", "void"], "none of the 0 files of sources can be read"),
    "no text": (["--sources", "notes/empty.md"], "empty.md: an empty file"),
    "a strange check": (["--sources", "notes", "--check", "all"], "--check"),
}


@pytest.mark.parametrize(("words", "why"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_argued_from_is_refused(words: list[str], why: str) -> None:
    Path("void").mkdir()
    done = decide(*words, "--model", "openai:any")
    assert (done.status, done.out) == (2, "") and why in done.err, done
    assert runs() == []


def test_a_method_that_reads_no_sources_says_which_do() -> None:
    done = command("verify", CLAIM, "--sources", "notes", "--method", "argllm", "-q")
    refused(done, "--sources: argllm does not argue from sources; art can")


def test_settings_on_evidence_without_sources_are_remarked_on(model: list[str]) -> None:
    words = ["--memory", "forbidden", "--role", "checker=openai:other", "--dry-run", *model]
    done = command("verify", CLAIM, "--judge-sees", "pool", *words[:2], "--dry-run", *model)
    for flag in ("--memory", "--judge-sees"):
        assert f"{flag}: there are no sources, so it changes nothing" in done.err
    assert "--role checker: there are no sources" in decide(*words).err


def test_a_source_is_dropped_added_and_restored_by_flags(model: list[str]) -> None:
    first = decide("--sources", "notes", *BM25, *model, "--json").record
    words = [*model, "--quiet", "--json"]
    dropped = command("contest", "last", "--drop", "s2", "--add-source", "outside.md", *words)
    assert dropped.record["contest"]["changes"] == ["s2 (cows.txt) dropped", "s4 (outside.md) added"]
    back = command("contest", "last", "--restore", "s2", "--restore", "s4", *words)
    assert back.record["verdict"] == first["verdict"] and back.record["usage"]["calls"] == 0
    refused(command("contest", "last", "--drop", "s7"), "--drop s7: the run has no such source")
    refused(command("contest", "last", "--add-source", "gone.md"), "gone.md: no such file")
    priced = command("contest", "last", "--drop", "s2", "--dry-run", "--json", *model[:2])
    assert priced.status == 0 and len(kept()) == 3
    assert sorted(len([*(path / "sources").iterdir()]) for path in kept()) == [3, 3, 4]


def test_a_run_whose_source_changed_is_not_resumed(model: list[str]) -> None:
    assert decide("--sources", "notes", *BM25, *model, "--max-calls", "2").status == 4
    Path("notes/cows.txt").write_text("Cows eat meat.")
    done = command("resume", "last", *model, "--quiet")
    refused(done, "s2 (")
    assert "have changed since the run began" in done.err and "cows.txt" in done.err
    Path("notes/cows.txt").unlink()
    assert command("resume", "last", *model, "--quiet").status in (0, 5)


def test_documents_that_take_long_are_counted_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = iter(range(0, 1000, 7))
    monkeypatch.setattr(clock, "seconds", lambda: float(next(moments)))
    with progress.reading(quiet=False) as told:
        assert told is not None
        for done in range(1, 4):
            told("reading", done, 3)
    lines = capsys.readouterr().err.splitlines()
    assert "dialectree: reading documents: 2 of 3" in lines and "" not in lines
    with progress.reading(quiet=True) as told:
        assert told is None


def test_the_folder_of_a_run_is_removed_with_its_texts(model: list[str]) -> None:
    record = decide("--sources", "notes/cows.txt", *BM25, *model, "--json").record
    folder = RunFolder(Path("runs") / record["run_id"])
    assert json.loads((folder.path / "run.json").read_text())["input"]["sources"]
    folder.remove()
    assert runs() == []
