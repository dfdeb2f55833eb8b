"""Only their owner reads what debates leave on disk, whatever the umask."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialectree.models.cache import SqliteCache
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:o}"


def test_records_reports_and_cache_are_their_owners(tmp_path: Path, open_umask: None) -> None:
    data = tmp_path / "data.csv"
    data.write_text("claim,label\nIt is so.,true\n")
    with LocalEndpoint() as endpoint:
        ask = ("--model", "openai:any", "--base-url", endpoint.url)
        done = command("answer", "Is it so?", "--method", "single_shot", *ask)
        assert done.status == 0, done.err
        done = command("eval", str(data), "--methods", "direct", *ask)
        assert done.status == 0, done.err
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path != data]
    names = {path.name for path in left}
    assert {"run.json", "calls.jsonl", "events.jsonl", "report.md", "report.html"} <= names
    assert {"evaluation.json", "results.jsonl", "replies.sqlite3"} <= names
    assert {path: mode(path) for path in left} == dict.fromkeys(left, "600")
    folders = [path for path in tmp_path.rglob("*") if path.is_dir() and path.parent != tmp_path]
    folders.append(tmp_path / "runs")  # in evaluations/ are closed folders only
    assert {path: mode(path) for path in folders} == dict.fromkeys(folders, "700")


def test_a_cache_that_others_could_read_is_closed_with_its_side_files(
    tmp_path: Path, open_umask: None
) -> None:
    path = tmp_path / "replies.sqlite3"
    sqlite3.connect(path).execute("create table other (x)").connection.close()
    assert mode(path) == "644"
    cache = SqliteCache(path)
    cache._open()
    beside = sorted(tmp_path.glob("replies*"))
    assert [one.name[15:] for one in beside] == ["", "-shm", "-wal"]
    assert {mode(one) for one in beside} == {"600"}
    cache.close()
