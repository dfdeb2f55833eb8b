"""The reply cache: one file, many processes, every kind of damage."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from dialectree.errors import InputError, MissingPackage, SettingsError
from dialectree.models.asking import Completion
from dialectree.models.cache import SqliteCache, reply_cache
from dialectree.system import packages
from tests.waiting import PATIENCE_S

DONE = Completion("text é", "stop", None, 2, 10, 5, 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "replies.sqlite3"


def put(path: Path, key: str, done: Completion) -> None:
    async def work() -> None:
        await SqliteCache(path).put(key, done)

    asyncio.run(work())


def get(path: Path, key: str) -> Completion | None:
    return asyncio.run(SqliteCache(path).get(key))


def test_what_was_put_in_comes_out_whole(path: Path) -> None:
    assert get(path, "key") is None
    put(path, "key", DONE)
    assert get(path, "key") == DONE
    assert get(path, "other") is None


WRITER = """
import asyncio, sys
from pathlib import Path
from dialectree.models.cache import SqliteCache
from dialectree.models.asking import Completion

async def main():
    cache, name = SqliteCache(Path(sys.argv[1])), sys.argv[2]
    for n in range(20):
        await cache.put(f"{name}.{n}", Completion(f"{name} says {n}"))
        assert (await cache.get(f"{name}.{n}")).text == f"{name} says {n}"

asyncio.run(main())
"""


def test_processes_share_the_file(path: Path) -> None:
    words = [sys.executable, "-W", "error", "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*words, name], stderr=subprocess.PIPE, text=True) for name in "ab"]
    for writer in writers:
        _, said = writer.communicate(timeout=PATIENCE_S)
        assert (writer.returncode, said) == (0, "")
    found = [get(path, f"{name}.{n}") for name in "ab" for n in range(20)]
    assert all(found)


def test_a_file_that_cannot_be_used_is_one_clear_line(path: Path) -> None:
    put(path, "key", DONE)
    for entry in ("{", "[]", json.dumps({"speech": "?"})):
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("update completions set completion = ?", (entry,))
        with pytest.raises(InputError, match="delete the file"):
            get(path, "key")
    text = path.with_name("text.sqlite3")
    text.write_bytes(b"this is no database, and never was one " * 100)
    one_line = rf"\A[^\n]*{re.escape(str(text))}[^\n]*`cache=False`[^\n]*\Z"
    with pytest.raises(InputError, match=one_line):
        get(text, "key")
    with pytest.raises(InputError, match=one_line):
        put(text, "key", DONE)
    with pytest.raises(InputError, match="DIALECTREE_CACHE_DIR"):
        get(path / "deeper" / "replies.sqlite3", "key")


@pytest.mark.parametrize(
    ("url", "message"),
    {
        "mysql://me:s3cret@host/db": "DIALECTREE_CACHE_URL: .*postgresql://, redis:// or rediss://",
        "postgresql://me:s3/cret@host/db": r"postgresql://…host/db cannot be read.*%2F",
        "redis://me:s3/cret@host/db": r"redis://…host/db cannot be read.*%2F",
    }.items(),
)
def test_an_address_that_names_no_database_is_refused_without_its_password(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_URL", url)
    with pytest.raises(SettingsError, match=message) as error:
        asyncio.run(reply_cache(Path()).get("key"))
    assert "cret" not in str(error.value)


@pytest.mark.parametrize("extra", ["postgres", "redis"])
def test_a_missing_driver_is_named_with_its_pip_line(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_URL", f"{extra}://host/db")
    monkeypatch.setattr(packages, "is_installed", lambda name: name == "dialectree")
    with pytest.raises(MissingPackage, match=rf"pip install 'dialectree\[{extra}\]'"):
        reply_cache(Path())


def test_what_is_asked_while_the_file_is_read_is_done_in_one_more_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[int] = []
    asked, answer = Event(), SqliteCache._answer

    def wait_and_answer(cache: SqliteCache, batch: Any) -> Any:
        asked.wait(20)
        turns.append(len(batch))
        return answer(cache, batch)

    async def ask() -> list[Completion | None]:
        cache = SqliteCache(tmp_path / "replies.sqlite3")
        puts = [cache.put(str(n), Completion(text=str(n), finish="stop")) for n in range(40)]
        gets = [asyncio.ensure_future(cache.get(str(n))) for n in range(50)]
        await asyncio.sleep(0)  # each get has begun
        asked.set()
        await asyncio.gather(*puts)
        return await asyncio.gather(*gets)

    monkeypatch.setattr(SqliteCache, "_answer", wait_and_answer)
    found = asyncio.run(ask())
    assert [one.text for one in found if one] == [str(n) for n in range(40)]
    assert len(turns) <= 2 and sum(turns) == 90


def test_a_damaged_row_fails_the_request_for_it_alone(path: Path) -> None:
    put(path, "whole", DONE)
    put(path, "damaged", DONE)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("update completions set completion = '[' where key = 'damaged'")

    async def ask() -> list[Any]:
        cache = SqliteCache(path)
        keys = ("whole", "damaged", "whole")
        gets = [asyncio.ensure_future(cache.get(key)) for key in keys]
        kept = asyncio.ensure_future(cache.put("new", DONE))
        return await asyncio.gather(*gets, kept, return_exceptions=True)

    first, damaged, again, kept = asyncio.run(ask())
    assert (first, again, kept) == (DONE, DONE, None)
    assert isinstance(damaged, InputError) and "delete the file" in str(damaged)
    assert get(path, "new") == DONE
