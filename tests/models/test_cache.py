"""The reply cache: one file, many processes, every kind of damage."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.models.cache import ReplyCache
from dialectree.models.endpoints import Completion

DONE = Completion("text é", "stop", None, 2, 10, 5, 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "replies.sqlite3"


async def putting(cache: ReplyCache, key: str, done: Completion) -> None:
    await cache.put(key, done)


def put(path: Path, key: str, done: Completion) -> None:
    asyncio.run(putting(ReplyCache(path), key, done))


def get(path: Path, key: str) -> Completion | None:
    return asyncio.run(ReplyCache(path).get(key))


def test_what_was_put_in_comes_out_whole(path: Path) -> None:
    assert get(path, "key") is None
    put(path, "key", DONE)
    assert get(path, "key") == DONE
    assert get(path, "other") is None


WRITER = """
import asyncio, sys
from pathlib import Path
from dialectree.models.cache import ReplyCache
from dialectree.models.endpoints import Completion

async def main():
    cache, name = ReplyCache(Path(sys.argv[1])), sys.argv[2]
    for n in range(20):
        await cache.put(f"{name}.{n}", Completion(f"{name} says {n}"))
        assert (await cache.get(f"{name}.{n}")).text == f"{name} says {n}"

asyncio.run(main())
"""


def test_processes_share_the_file(path: Path) -> None:
    words = [sys.executable, "-W", "error", "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*words, name], stderr=subprocess.PIPE, text=True) for name in "ab"]
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert (writer.returncode, said) == (0, "")
    found = [get(path, f"{name}.{n}") for name in "ab" for n in range(20)]
    assert all(found)


def test_a_file_that_is_no_database_is_one_clear_line(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database, and never was one " * 100)
    with pytest.raises(InputError, match="--no-cache") as error:
        get(path, "key")
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="--no-cache"):
        put(path, "key", DONE)


def test_an_entry_that_cannot_be_read_is_one_clear_line(path: Path) -> None:
    put(path, "key", DONE)
    for entry in ("{", "[]", json.dumps({"speech": "?"})):
        with sqlite3.connect(path) as other:
            other.execute("update completions set completion = ?", (entry,))
        other.close()
        with pytest.raises(InputError, match="delete the file"):
            get(path, "key")


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="DIALECTREE_CACHE_DIR"):
        get(tmp_path / "file" / "replies.sqlite3", "key")
