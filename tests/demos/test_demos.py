"""Play the recorded debates of our protocols, and keep them in step with their scripts."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from itertools import groupby
from pathlib import Path

import pytest

from dialectree.flow.steps import ILLUSTRATION as NOTE
from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.records import ILLUSTRATION, Event
from dialectree.records.folder import RunFolder
from dialectree.running.recordings import count_words, list_recordings, play
from dialectree.testing import check_demo
from tests.cli.commands import command, refused, runs
from tests.demos.__main__ import SCRIPTS
from tests.endpoint import LocalEndpoint

NAMES = sorted(one.name for one in load_protocols().values() if one.graph.startswith("dialectree."))


def played(name: str) -> RunFolder:
    """Play a debate without a word and return its run."""
    before = {*runs()}
    assert command("demo", name, "--quiet").status == 0
    (path,) = {*runs()} - before
    return RunFolder(path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_recording_is_what_the_code_makes_of_its_script(script: Path) -> None:
    check_demo(script)


def test_each_of_our_protocols_has_a_recording_and_they_stay_small() -> None:
    assert [script.stem for script in SCRIPTS] == NAMES
    handwritten = [one.folder for one in list_recordings().values() if not one.about]
    assert sum(file.stat().st_size for folder in handwritten for file in folder.iterdir()) < 600_000
    real = [one.folder for one in list_recordings().values() if one.about]
    assert sum(file.stat().st_size for folder in real for file in folder.iterdir()) < 200_000


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_prints_the_result_and_says_everywhere_that_it_was_written_by_hand(name: str) -> None:
    done = command("demo", name)
    assert done.status == 0 and done.out.strip()
    assert done.out.rstrip().endswith(f"Note: {NOTE}")
    assert done.err.startswith(f"dialectree: {NOTE}\n")
    (path,) = runs()
    record = RunFolder(path).record()
    assert record.run_id == path.name and record.started == record.ended != ""
    assert {*record.models.values()} == {ILLUSTRATION}
    assert record.usage.cost is None and record.usage.wall_s == 0
    assert all(event.run_id == path.name for event in RunFolder(path).events())
    for words in (("show", str(path)), ("show", str(path), "--md"), ("show", str(path), "--html")):
        shown = command(*words).out
        assert "An illustration." in shown and NOTE in " ".join(shown.split()), words
    assert "illustration: " in command("show").out
    for report in ("report.html", "report.md"):
        assert "An illustration." in (path / report).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_what_a_demo_suggests_can_be_done(name: str) -> None:
    err = command("demo", name).err
    suggested = re.findall(r"^  dialectree (.+)$", err, re.MULTILINE)
    assert [words.split()[0] for words in suggested] == ["show", "contest", "demo"]
    (path,) = runs()
    assert (path / "report.html").is_file() and f"report: {path}/report.html" in err
    for words in suggested:
        done = command(*words.replace('"..."', "Otherwise.").split())
        asks_a_model = words.startswith("contest") and "needs no model" not in err
        if asks_a_model:
            refused(done, "the run did not keep its live model; give a model")
        else:
            assert done.status == 0, done.err


def test_a_contested_argument_moves_the_claim_without_a_model_and_still_says_what_it_is() -> None:
    folder = played("art")
    for change in ("--set=0.0=0.1", "--drop=0.0"):
        done = command("contest", str(folder.path), change, "--json")
        assert done.status == 0, done.err
        assert done.record["usage"]["calls"] == 0
        before = folder.record().verdict
        assert before is not None and before.confidence is not None
        assert done.record["verdict"]["confidence"] < before.confidence
        assert NOTE in done.record["verdict"]["notes"]


def test_a_contested_turn_asks_the_model_that_is_given_for_what_depends_on_it_alone() -> None:
    folder = played("tsd")
    with LocalEndpoint() as endpoint:
        model = ("--model", "openai:any", "--base-url", endpoint.url)
        change = ("--replace", "0.1/B2", "No.", *model)
        done = command("contest", str(folder.path), *change, "--json")
    assert done.status == 0, done.err
    assert done.record["usage"]["calls"] == 1 + 4 + 1 + 1  # leaf judge, synthesis, judge, writer
    assert NOTE in done.record["verdict"]["notes"]
    assert done.record["models"]["leaf_judge"] == f"{ILLUSTRATION}, openai:any@{endpoint.url}"


def test_without_a_name_all_are_listed_and_two_who_face_each_other_are_played() -> None:
    done = command("demo", "--json")
    assert done.status == 0
    assert json.loads(done.out)["protocol"] == "rsd"
    listed = [line for line in done.err.splitlines() if re.match("  [a-z_]+  [A-Z]", line)]
    assert [line.split()[0] for line in listed] == [*list_recordings()]
    for line in listed:
        one = list_recordings()[line.split()[0]]
        assert len(line) <= 80
        assert ("A real model" if one.about else one.protocol.title) in line
    first, *others = (name for name in list_recordings() if name != "rsd")
    assert f"dialectree demo {first}\n" in done.err
    assert f"there are also {', '.join(others)}\n" in done.err


def test_an_unknown_name_is_refused_with_those_that_are_there() -> None:
    refused(command("demo", "chess"), f"chess: no such recorded debate; choose from {NAMES[0]}, ")
    assert runs() == []


def test_an_interrupt_skips_the_rest_of_the_pauses(tmp_path: Path) -> None:
    run = play("rsd", tmp_path, paced=True)
    heard: list[Event] = []

    async def interrupted() -> None:
        task = asyncio.ensure_future(run.conduct(watch=heard.append))
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(asyncio.wait_for(interrupted(), 20))
    assert heard == run.folder.events()


@pytest.mark.parametrize("name", NAMES)
def test_a_debate_is_paced_by_its_words_and_plays_a_minute_at_most(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play(name, tmp_path, paced=True)
    words: list[int] = []
    pauses: list[float] = []

    def heard(event: Event) -> None:
        if event.kind == "spoke" and (count := count_words(run.record, event)):
            assert len(pauses) == len(words)  # the first one is told at once
            words.append(count)

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("dialectree.system.clock.sleep", sleep)
    asyncio.run(run.conduct(watch=heard))
    assert len(pauses) == len(words) > 5 and 15 < sum(pauses) < 60.1
    assert pauses == pytest.approx([count * sum(pauses) / sum(words) for count in words])


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("art", ["0", "0.0", "0.1", "0.2", "0.3"]),
        ("rsd", ["0"]),
        ("tod", ["0", "0.0", "0.1", "0"]),
        ("tsd", ["0", "0.0", "0.1", "0.2", "0"]),
    ],
)
def test_what_was_said_at_one_place_is_read_in_one_piece(
    name: str, places: list[str], tmp_path: Path
) -> None:
    run = play(name, tmp_path, paced=False)
    spoken = [event.node for event in run.events if event.kind == "spoke"]
    read = [place for place, _ in groupby(spoken)]
    assert read == places or (name == "art" and read == places[:-1])  # its tournament goes beside
    assert sorted(map(repr, run.events)) == sorted(map(repr, run.folder.events()))


def test_a_place_is_read_before_what_opened_below_it_and_said_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = play("art", tmp_path, paced=False).folder
    record, events, calls = folder.record(), folder.events(), folder.ledger()
    silent = {"text": "Who knows?", "depth": 2, "parent": "0.0"}
    below = events[-1].model_copy(update={"node": "0.0.0", "kind": "opened", "data": silent})
    folder.write_whole(record, [*events, below], calls)
    monkeypatch.setattr(Protocol, "recording", lambda protocol: folder.path)
    read = [event.node for event in play("art", tmp_path, paced=False).events]
    assert [node for node, _ in groupby(read) if node.startswith("0.0")] == ["0.0", "0.0.0"]


def test_a_terminal_sees_the_last_turn_and_no_larger_package_is_needed() -> None:
    missing = ["faiss", "bm25s", "nupunkt", "sentence_transformers", "pypdfium2", "scipy", "pandas"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
        "from dialectree.interfaces.cli import main; main()"
    )
    words = [sys.executable, "-c", code, "demo", "tod", "--fast"]
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as screen:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # its end of the terminal is closed
            while chunk := screen.read(65536):
                shown += chunk
    result, _ = process.communicate()
    assert process.returncode == 0, shown.decode()
    assert shown.startswith(f"dialectree: {NOTE}".encode()) and b"20 calls" in shown
    assert b"Summary: " in shown  # what was said last
    assert NOTE.encode() in result
