"""Files that another process writes while they are read: no line comes torn."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.records.event_log import lines_from
from dialectree.records.journal import split_lines, whole_lines

LINES = [json.dumps({"n": number, "text": "word " * 40}) for number in range(1500)]


@given(st.binary(max_size=60))
def test_lines_are_all_that_ends_with_a_newline(data: bytes) -> None:
    lines, torn = split_lines(data)
    rest = data[sum(map(len, lines)) :]
    assert b"".join(lines) + rest == data
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert (b"\n" in rest, bool(rest)) == (False, torn)


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.touch()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            for line in LINES:
                for part in (line[:20], line[20:], "\n"):
                    file.write(part.encode())

    threading.Thread(target=write).start()
    return path


def test_a_file_that_grows_is_read_line_by_line(growing: Path) -> None:
    read, found = 0, list[str]()
    while len(found) < len(LINES):
        new = lines_from(growing, read)
        read += sum(map(len, new))
        found += [line.decode().rstrip("\n") for line in new]
    assert found == LINES


def test_a_file_that_grows_is_read_whole(growing: Path) -> None:
    found: list[bytes] = []
    while len(found) < len(LINES):
        found, _ = whole_lines(growing)
        assert [json.loads(line)["n"] for line in found] == [*range(len(found))]
