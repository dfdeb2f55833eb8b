"""Runs, cached documents and paid replies go when a person says so, and nothing else does."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialectree.interfaces.cli.stored_replies import count_replies
from dialectree.models.asking import Completion
from dialectree.models.cache import SqliteCache
from dialectree.protocols.sources import cache_folder
from dialectree.records.folder import RunFolder
from dialectree.retrieval.corpus import Corpus
from dialectree.retrieval.sources import read_sources
from dialectree.system import clock
from tests.cli.commands import command

OLD = Path(__file__).parents[1] / "running" / "old_runs"
DAY = 86_400


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder with two runs, of which one has sources."""
    monkeypatch.chdir(tmp_path)
    for name in ("grounded", "rsd"):
        shutil.copytree(OLD / name / "finished", Path("runs", name))
    yield Path("runs")


def ls(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[!.]*"))


def test_nothing_is_deleted_before_a_person_agrees(runs: Path) -> None:
    before = ls(runs)
    said = command("delete", "rsd", "grounded", "--dry-run")
    assert said.status == 0 and ls(runs) == before
    assert "runs/rsd: " in said.out + said.err and "(rsd, answered), " in said.out + said.err
    assert " kB" in said.out + said.err
    said = command("delete", "rsd")
    assert said.status == 2 and ls(runs) == before
    assert "nothing was deleted: give --yes" in said.out + said.err


def test_the_runs_that_are_named_are_deleted_each_once(runs: Path) -> None:
    assert "What do cows eat?" in command("show").out
    said = command("delete", "grounded", "runs/grounded", "--yes")
    assert said.status == 0 and ls(runs) == ["rsd"]
    assert said.out.count("runs/grounded: ") == 1
    assert "cache clear --documents" in said.out + said.err
    said = command("delete", "last", "--yes")
    assert said.status == 0 and "cache clear" not in said.err and not [*runs.glob("*/")]
    index = [file.read_text() for file in runs.glob(".heads*")]
    assert "cows" not in " ".join(index)


@pytest.mark.parametrize("name", ["", "../files", "files", "no-such-run"])
def test_no_other_folder_is_deleted(name: str, runs: Path) -> None:
    Path("files").mkdir()
    Path("files", "mine.txt").write_text("It is mine.")
    Path("runs", "link").symlink_to(Path("files").absolute())
    for named in (name, "link"):
        assert command("delete", named, "--yes").status != 0
    assert ls(Path("files")) == ["mine.txt"] and len(ls(runs)) == 3


def test_a_run_under_way_stays_and_a_damaged_one_goes(runs: Path) -> None:
    with RunFolder(runs / "rsd").lock():
        said = command("delete", "rsd", "--yes")
    assert said.status != 0 and "another process is working on" in said.out + said.err
    (runs / "grounded" / "run.json").write_text("{")
    said = command("delete", "grounded", "--yes")
    assert said.status == 0 and "a run that cannot be read" in said.out + said.err
    assert ls(runs) == ["rsd"]


def pay(*keys: str) -> SqliteCache:
    """Keep a reply for each key in the cache of replies."""
    cache = SqliteCache(cache_folder() / "replies.sqlite3")

    async def put() -> None:
        for key in keys:
            await cache.put(key, Completion(text=f"confidential {key}"))

    asyncio.run(put())
    return cache


def read_notes(name: str = "notes.md") -> None:
    Path(name).write_text(f"Hay of {name} is dry grass. Cows eat it.")
    Corpus(read_sources(name).documents)


def test_documents_and_replies_leave_the_cache_apart_or_together() -> None:
    read_notes()
    cache = pay("a", "b")
    said = command("cache", "clear", "--dry-run")
    assert "files of documents, " in said.out + said.err and "2 replies of models, " in said.out + said.err
    assert command("cache", "clear").status == 2 and count_replies(cache)[0] == 2
    assert command("cache", "clear", "--documents", "--yes").status == 0
    assert ls(cache_folder()) == ["replies.sqlite3", "replies.sqlite3-shm", "replies.sqlite3-wal"]
    assert count_replies(cache)[0] == 2
    read_notes()
    assert command("cache", "clear", "--replies", "--yes").status == 0
    assert count_replies(cache) == (0, 0) and (cache_folder() / "documents").is_dir()
    cache.close()
    for file in cache_folder().glob("replies*"):
        assert b"confidential" not in file.read_bytes()
    assert command("cache", "clear", "--yes").status == 0
    assert command("cache", "clear", "--yes").out == "nothing to delete\n"


def test_only_what_was_not_used_for_so_long_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    read_notes("old.md")
    now = clock.read_utc_time()
    for path in cache_folder().rglob("*"):
        then = now.timestamp() - 40 * DAY
        os.utime(path, (then, then))
    kept = {*ls(cache_folder() / "documents")}
    read_notes("new.md")
    assert command("cache", "clear", "--older", "30", "--yes").status == 0
    left = {*ls(cache_folder() / "documents")}
    assert len(left) == 1 and left.isdisjoint(kept)
    read_notes("new.md")
    assert "nothing to delete" in command("cache", "clear", "--older", "30", "--yes").out


def test_replies_are_as_old_as_they_were_paid_and_those_of_before_as_their_file() -> None:
    file = cache_folder() / "replies.sqlite3"
    file.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(file) as before:  # as an earlier version left it
        before.execute(
            "create table completions (key text primary key, completion text not null) without rowid"
        )
        before.execute("insert into completions values ('old', '{}')")
    cache = pay("new")
    now = clock.read_utc_time().timestamp()
    assert count_replies(cache, now - DAY) == (0, 0) and count_replies(cache, now + 1)[0] == 2
    with sqlite3.connect(file) as aged:
        aged.execute("update kept set at = at - 864000 where key = ''")
    assert count_replies(cache, now - DAY)[0] == 1
    said = command("cache", "clear", "--replies", "--older", "5", "--yes")
    assert said.status == 0 and "1 reply of models" in said.out + said.err
    assert count_replies(cache)[0] == 1 and asyncio.run(cache.get("new")) is not None


def test_replies_that_several_machines_share_are_not_cleared_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_URL", "redis://127.0.0.1:9/0")
    said = command("cache", "clear", "--replies", "--yes")
    assert said.status != 0 and "several machines share; clear it there" in said.out + said.err
