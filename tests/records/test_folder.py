"""A run's folder: written whole or not at all, held by one process, read back whatever happened."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.errors import DiskFull, RunFolderError, RunNotFound
from dialectree.records import VOID, Call, Event, RunRecord
from dialectree.records.event_log import EventLog
from dialectree.records.folder import RunFolder
from dialectree.records.journal import Journal


def call(key: str = "key", **fields: Any) -> Call:
    line = dict(node="0", role="judge", phase="debate", step=0, prompt="p@1", model="m", seed=1)
    return Call(key=key, **{**line, "started": "", "ended": "", **fields})


def event(node: str = "0", kind: str = "noted", t: str = "now", **data: Any) -> Event:
    return Event.model_validate({"t": t, "run_id": "r", "node": node, "kind": kind, "data": data})


def record(**fields: Any) -> RunRecord:
    given = dict(run_id="r", protocol="tsd", method="tsd", input={"question": "Q?"}, started="now")
    return RunRecord.model_validate({**given, **fields})


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs")


@contextmanager
def journal(path: Path) -> Iterator[Journal]:
    opened = Journal(path)
    try:
        yield opened
    finally:
        opened.close()


def appended(path: Path, *calls: Call) -> None:
    async def append() -> None:
        with journal(path) as opened:
            for each in calls:
                opened.append(each)

    asyncio.run(append())


def no_room(number: int = errno.ENOSPC) -> Any:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    return full


# The journal


def test_what_was_appended_is_found_again(folder: RunFolder) -> None:
    calls = [call(str(n), reply=f"é {n}\n") for n in range(50)]
    appended(folder.path / "calls.jsonl", *calls)
    assert folder.calls() == calls
    with journal(folder.path / "calls.jsonl") as opened:
        assert dict(opened.past) == {each.key: each for each in calls}


def test_a_line_is_in_the_file_at_once_and_the_disk_is_told_once_for_many(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = folder.path / "calls.jsonl", []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(len(path.read_bytes())))

    async def append() -> None:
        opened = Journal(path)
        for n in range(100):
            opened.append(call(str(n)))
            assert len(folder.calls()) == n + 1
        assert synced == []
        await opened.settle()
        assert synced == [path.stat().st_size]
        opened.close()
        assert len(synced) == 1

    asyncio.run(append())


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    whole = [call("a", reply="one"), call("b", reply="two\r\u2028 three")]
    appended(path, *whole)
    data = path.read_bytes()
    start = data.index(b"\n") + 1
    for end in range(start, len(data)):
        path.write_bytes(data[:end])
        with journal(path) as opened:
            assert list(opened.past) == ["a"]
        assert path.read_bytes() == data[:start]
    path.write_bytes(data[: start // 2])
    appended(path, whole[1])
    with journal(path) as opened:
        assert dict(opened.past) == {"b": whole[1]}


def test_a_line_that_cannot_be_read_is_named(folder: RunFolder) -> None:
    path = folder.path / "calls.jsonl"
    appended(path, call("a"))
    with path.open("ab") as file:
        file.write(b'{"key": "b"}\n')
    with pytest.raises(RunFolderError, match=r"calls\.jsonl, line 2 cannot be read"):
        folder.calls()
    with pytest.raises(RunFolderError, match="line 2"):
        journal(path).__enter__()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("opened", {"parent": None, "depth": 0}),
        ("branched", {"why": "max_depth"}),
        ("spoke", {"role": "judge", "speaker": "judge", "phase": "x", "step": "one", "fields": {}}),
        ("settled", {"verdict": 5}),
        ("branched", {"children": None}),
    ],
)
def test_events_that_tell_of_no_tree_are_one_clear_line(
    kind: str, data: dict[str, Any], folder: RunFolder
) -> None:
    folder.write_record(record())
    folder.tell(event(kind="opened", text="Q?", parent=None, depth=0))
    with folder._events_path.open("a") as file:
        file.write(event(kind=kind, **data).model_dump_json() + "\n")
    for read in (folder.record, folder.resume_events):
        with pytest.raises(RunFolderError, match=r"events\.jsonl cannot be read: .*\Z"):
            read()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_leaves_whole_lines_only(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "calls.jsonl"
    appended(path, call("a"))
    before = path.read_bytes()

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            half = super().write(data[: len(data) // 2])
            monkeypatch.setattr(Full, "write", no_room(number))
            return half

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", lambda path, mode, **_: Full(path, mode))
        with pytest.raises(DiskFull, match=r"no room left to write .*calls\.jsonl") as error:
            appended(path, call("b"))
    assert error.value.status == 4
    assert path.read_bytes() == before
    appended(path, call("b"))
    with journal(path) as opened:
        assert list(opened.past) == ["a", "b"]


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.EIO, r"calls\.jsonl: Input/output error"), (errno.ENOSPC, "no room left to write")],
)
def test_a_disk_that_cannot_keep_a_line_is_named_by_the_next_one_and_at_the_end(
    number: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_room(number))
    path = tmp_path / "calls.jsonl"
    with pytest.raises((RunFolderError, DiskFull), match=says):
        appended(path, call("a"))

    async def go_on() -> None:
        opened = Journal(path)
        opened.append(call("b"))
        await opened.settle()
        with pytest.raises((RunFolderError, DiskFull), match=says):
            opened.append(call("c"))
        with pytest.raises((RunFolderError, DiskFull), match=says):
            opened.close()

    asyncio.run(go_on())


# The folder


def test_ids_are_never_used_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = iter(["aaaaaa", "aaaaaa", "bbbbbb", "aaaaaa", "cccccc"])
    monkeypatch.setattr("dialectree.system.chance.token", lambda: next(tokens))
    monkeypatch.setattr("dialectree.system.clock.read_utc_time", lambda: datetime(2026, 1, 31, tzinfo=UTC))
    names = [RunFolder.create(tmp_path).run_id for _ in range(3)]
    assert len(set(names)) == 3


def test_a_run_is_found_by_id_and_by_path(folder: RunFolder, tmp_path: Path) -> None:
    folder.write_record(record())
    runs = tmp_path / "runs"
    for name in (folder.run_id, str(folder.path), str(folder.path / "run.json")):
        assert RunFolder.find(name, runs).path == folder.path
    for name in ("20200101-000000-abcdef", str(tmp_path), "", "x" * 300):
        with pytest.raises(RunFolderError, match="there is no run"):
            RunFolder.find(name, runs)


def test_a_record_is_replaced_whole_or_not_at_all(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_record(record())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room())
        with pytest.raises(DiskFull):
            folder.write_record(record(status="answered"))
    assert folder.record().status == "running"
    assert [path.name for path in folder.path.iterdir()] == ["run.json"]
    folder.write_record(record(status="answered"))
    assert folder.record().status == "answered"


SMALL = """
import resource, sys
from pathlib import Path
from dialectree.errors import DialectreeError
from dialectree.records.event_log import EventLog
from dialectree.records.folder import RunFolder
folder = RunFolder(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    folder.write("report.md", "x" * 5000)
except DialectreeError as error:
    print(type(error).__name__, error.status)
"""


def test_a_file_that_grows_too_large_is_not_there(folder: RunFolder) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SMALL, str(folder.path)], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("DiskFull 4\n", "")
    assert list(folder.path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "run.json is not a run's record"),
        (b"{", "run.json is not a run's record: invalid JSON"),
        (b'{"schema": "dialectree.run/3"}', "run_id"),
        (b'{"schema": "dialectree.run/3-draft"}', "report.html and report.md stay readable"),
        (b'{"schema": "dialectree.run/2"}', "report.html and report.md stay readable"),
        (b"\xff\xfe", "run.json is not a run's record"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_line(folder: RunFolder, text: bytes, says: str) -> None:
    (folder.path / "run.json").write_bytes(text)
    with pytest.raises(RunFolderError, match=says) as error:
        folder.record()
    assert "\n" not in str(error.value)


def _take_up(folder: RunFolder) -> None:
    with folder.lock(), journal(folder.path / "calls.jsonl"):
        folder.resume_events()


@pytest.mark.parametrize(
    ("name", "read"), [("calls.jsonl", RunFolder.ledger), ("events.jsonl", RunFolder.events)]
)
@pytest.mark.parametrize("content", [b"mine", b"mine\n", None])
def test_a_symbolic_link_is_not_followed_to_what_it_leads_to(
    folder: RunFolder, name: str, read: Callable[[RunFolder], object], content: bytes | None, tmp_path: Path
) -> None:
    folder.write_record(record(status="running"))
    target = tmp_path / "target"
    if content is not None:
        target.write_bytes(content)
    (folder.path / name).symlink_to(target)
    for work in (read, RunFolder.record, _take_up):
        with pytest.raises(RunFolderError, match=f"{name}: a symbolic link, which is not followed"):
            work(folder)
    assert (target.read_bytes() if target.exists() else None) == content


def test_a_symbolic_link_to_a_folder_is_no_run(folder: RunFolder, tmp_path: Path) -> None:
    folder.write_record(record())
    runs, link = folder.path.parent, tmp_path / "runs" / "link"
    link.symlink_to(folder.path)
    assert [one.path for one in RunFolder.all(runs)] == [folder.path]
    for name in ("link", str(link), str(link / "run.json")):
        with pytest.raises(RunNotFound):
            RunFolder.find(name, runs)


HOLDER = """
import sys
from pathlib import Path
from dialectree.records.event_log import EventLog
from dialectree.records.folder import RunFolder
with RunFolder(Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_two_processes_do_not_work_on_one_run(folder: RunFolder) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RunFolderError, match="another process is working on"), folder.lock():
        pass
    holder.kill()
    holder.communicate()
    with folder.lock():
        pass


def test_drafts_of_a_process_that_was_killed_are_cleared_away(folder: RunFolder) -> None:
    (folder.path / ".run.json.12345.draft").write_text("{")
    with folder.lock():
        assert not list(folder.path.glob("*.draft")) + list(folder.path.glob(".*.draft"))


# Events


def test_telling_the_same_again_changes_nothing(folder: RunFolder) -> None:
    assert folder.tell(event(note="one"))
    assert not folder.tell(event(note="one", t="later"))
    assert folder.tell(event(note="two"))
    assert folder.tell(event(kind="settled", verdict=None))
    assert len(folder.events()) == len(folder.list_logged_events()) == 3


def test_events_are_taken_up_where_they_were_broken_off(folder: RunFolder) -> None:
    folder.tell(event(note="one"))
    path = folder.path / "events.jsonl"
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"t": "now", "run_')
    again = RunFolder(folder.path)
    assert len(again.events()) == 1
    again.resume_events()
    assert path.read_bytes() == whole
    assert not again.tell(event(note="one", t="later"))
    assert again.tell(event(note="two"))
    assert [e.data["note"] for e in again.events()] == ["one", "two"]


TOLD = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=12)


@given(TOLD, TOLD)
def test_a_run_that_walks_from_its_start_tells_nothing_twice(
    told: list[tuple[str, int]], more: list[tuple[str, int]]
) -> None:
    first, again = EventLog(), EventLog()
    for name, value in told:
        first.tell(event(kind="scored", scores={name: value}))
    again.take_up(first.list_logged_events(), from_start=True)
    for name, value in told:
        assert not again.tell(event(kind="scored", scores={name: value}))
    for name, value in more:
        first.tell(event(kind="scored", scores={name: value}))
        again.tell(event(kind="scored", scores={name: value}))
    assert again.list_logged_events() == first.list_logged_events()
    assert [one.n for one in again.list_logged_events()] == [*range(1, len(again.list_logged_events()) + 1)]


def test_a_run_that_is_not_finished_shows_what_was_told(folder: RunFolder) -> None:
    folder.write_record(record())
    folder.tell(event(kind="opened", text="Q?", depth=0))
    folder.tell(event(note="so far"))
    assert folder.record().tree.nodes["0"].notes == ["so far"]
    assert json.loads((folder.path / "run.json").read_text())["tree"]["nodes"] == {}


@pytest.mark.parametrize("logged", range(5))
def test_paid_calls_that_a_killed_process_did_not_log_are_numbered_after_the_log_and_void_ones_named(
    logged: int, folder: RunFolder
) -> None:
    calls = [call(f"{VOID if n % 2 else ''}{n}", step=n) for n in range(4)]
    appended(folder.path / "calls.jsonl", call("before", run="contested"), *calls)
    folder.tell(event(kind="opened", text="Q?", depth=0))
    told: list[dict[str, Any]] = [{**one.make_event_data()} for one in calls]
    for data in told[:logged]:
        folder.tell(event(kind="called", **data))
    for added in [*folder.resumption(record())]:
        folder.tell(added)
    *events, resumed = folder.list_logged_events()
    assert [one.data for one in events[1:]] == told
    void: Any = resumed.data["void"]
    assert [events[n - 1].data["step"] for n in void] == [1, 3]
    (resumed_again,) = folder.resumption(record())
    assert "void" not in resumed_again.data


@pytest.mark.parametrize("status", ["running", "partial"])
def test_a_run_that_is_not_finished_counts_its_calls_and_writes_nothing(
    status: str, folder: RunFolder
) -> None:
    folder.write_record(record(status=status, prompts={"old": 3}))
    folder.tell(event(kind="opened", text="Q?", depth=0))
    own = (
        call("one", attempts=2, prompt_tokens=5, completion_tokens=3),
        call("two", step=1, prompt_tokens=5, started="2026-01-31T12:00:00Z", ended="2026-01-31T12:00:01.5Z"),
    )
    earlier = call("before", node="0.1", run="contested", prompt="q@2")
    appended(folder.path / "calls.jsonl", earlier, *own)
    for one in own:
        told = {"node": "0", "kind": "called", "data": one.make_event_data()}
        folder.tell(Event.model_validate({"t": one.ended, "run_id": "r", **told}))
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    found = folder.record()
    assert (found.usage.calls, found.usage.attempts, found.usage.critical_path_calls) == (2, 3, 2)
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (10, 3)
    assert (found.usage.wall_s, found.usage.embedding_s) == (1.5, 0.0)
    assert found.prompts == {"old": 3, "p": 1, "q": 2}
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before
