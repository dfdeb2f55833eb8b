"""The list of runs: what it shows of them, whoever changed them and whatever broke."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dialectree.errors import RunFolderError
from dialectree.records import RunSummary
from dialectree.records.folder import RunFolder
from dialectree.report import run_index
from dialectree.service.debates import Debates
from tests.records.test_folder import appended, call, event, record

INDEX = ".heads.json"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a finished run, an unfinished one and one that cannot be read."""
    runs = tmp_path / "runs"
    verdict = {"answer": "yes", "label": "A", "confidence": 0.7, "rationale": "long"}
    done = dict(status="answered", verdict=verdict, usage={"calls": 3, "cost": 0.5}, ended="later")
    RunFolder.create(runs, "done").write_record(record(**done, started="2", owner="alice"))
    RunFolder.create(runs, "going").write_record(record(started="3"))
    RunFolder.create(runs, "bad").write("run.json", "{")
    return runs


def listed(runs: Path) -> tuple[list[RunSummary], list[str]]:
    faults: list[str] = []
    return run_index.list_runs(runs, faults.append), faults


def test_a_head_has_what_a_list_shows(runs: Path) -> None:
    (going, done), (fault,) = listed(runs)
    assert (going.run_id, going.status, going.verdict, going.question) == (*("going", "running", None, "Q?"),)
    assert done.verdict is not None and done.verdict.label == "A"
    assert (done.owner, done.calls, done.cost, done.verdict.rationale) == ("alice", 3, 0.5, None)
    assert "bad/run.json is not a run's record" in fault


def _contest(runs: Path) -> None:
    about: dict[str, object] = dict(run="done", changes=[], before=None, after=None, why="stayed")
    RunFolder.create(runs, "contest").write_record(record(contest=about, started="4"))


def _link(runs: Path) -> Path:
    (runs / "link").symlink_to("x")
    return runs / "link"


CHANGES: dict[str, Callable[[Path], object]] = {
    "told": lambda runs: RunFolder(runs / "going").tell(event(kind="concluded", answer="no")),
    "asked": lambda runs: RunFolder(runs / "going").tell(event(kind="asked", note="Who?")),
    "called": lambda runs: appended(runs / "going" / "calls.jsonl", call("a", cost=0.25)),
    "ended": lambda runs: RunFolder(runs / "going").write_record(record(status="unresolved")),
    "rewritten": lambda runs: (runs / "done" / "run.json").write_text(
        (runs / "done" / "run.json").read_text().replace('"alice"', '"carol"')
    ),
    "mended": lambda runs: RunFolder(runs / "bad").write_record(record()),
    "torn": lambda runs: (runs / "done" / "run.json").write_text('{"schema"'),
    "added": _contest,
    "removed": lambda runs: shutil.rmtree(runs / "done"),
    "renamed": lambda runs: (runs / "done").rename(runs / "other"),
    "of another version": lambda runs: (runs / "done" / "run.json").write_text('{"schema": "x"}'),
    "index broken": lambda runs: (runs / INDEX).write_text("{"),
    "index of another format": lambda runs: (runs / INDEX).write_text('{"format": "x"}'),
    "index removed": lambda runs: (runs / INDEX).unlink(),
    "index led away": lambda runs: os.replace(_link(runs), runs / INDEX),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_list_is_the_same_with_an_index_and_without(
    runs: Path, change: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(runs)
    change(runs)
    found = listed(runs)
    (runs / INDEX).unlink()
    assert found == listed(runs)
    with monkeypatch.context() as patch:
        patch.setattr(run_index, "read_run_file", lambda *_: pytest.fail("a run was read again"))
        assert found == listed(runs)


def test_an_unfinished_run_follows_its_events_and_calls(runs: Path) -> None:
    listed(runs)
    CHANGES["told"](runs)
    CHANGES["called"](runs)
    going = listed(runs)[0][0]
    assert going.verdict is not None
    assert (going.verdict.answer, going.calls, going.cost) == ("no", 1, 0.25)


def test_a_run_waits_from_a_question_to_a_person_to_the_answer(runs: Path) -> None:
    CHANGES["asked"](runs)
    assert [one.run_id for one in listed(runs)[0] if one.waits] == ["going"]
    RunFolder(runs / "going").tell(event(kind="answered", answer="B"))
    assert not any(one.waits for one in listed(runs)[0])


def test_an_index_that_cannot_be_written_is_done_without(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    assert len(listed(runs)[0]) == 2
    assert not (runs / INDEX).exists()
    assert listed(runs / "nowhere") == ([], [])
    assert not (runs / "nowhere").exists()


def test_many_list_while_runs_come_and_end(runs: Path) -> None:
    def begin(number: int) -> str:
        RunFolder.create(runs, f"r{number}").write_record(record(started=f"5{number}"))
        return listed(runs)[0][-1].run_id

    def end(number: int) -> str:
        done = record(status="answered", started=f"5{number}")
        RunFolder(runs / f"r{number}").write_record(done, sync=False)
        return next(h.status for h in listed(runs)[0] if h.run_id == f"r{number}")

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(begin, range(24))} == {"done"}
        assert {*pool.map(end, range(24))} == {"answered"}
    assert len(listed(runs)[0]) == 26


def test_last_is_the_run_that_was_started_last_and_readable(runs: Path, tmp_path: Path) -> None:
    assert Debates(runs).find("last").run_id == "going"
    assert Debates(runs, owner="alice").find("last").run_id == "done"
    with pytest.raises(RunFolderError):
        Debates(runs, owner="bob").find("last")
    (tmp_path / "elsewhere").symlink_to(runs)
    assert Debates(tmp_path / "elsewhere").find("last").run_id == "going"
