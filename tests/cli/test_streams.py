"""What a command prints where stdout or stderr is not a terminal that reads UTF-8."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from dialectree.system.streams import program
from tests.cli.commands import command, ended, runs
from tests.endpoint import LocalEndpoint

PROGRAM = Path(sys.executable).with_name("dialectree")
QUESTION = "Schläft man in 日本?"


@pytest.fixture
def asked(endpoint: LocalEndpoint) -> list[str]:
    """A debate, as it is given on the command line."""
    return ["answer", QUESTION, "--max-depth", "0", "--model", f"openai:any@{endpoint.url}"]


@pytest.mark.parametrize(
    ("path", "on_path", "typed"),
    [
        (".venv/bin/dialectree", "", ".venv/bin/dialectree"),
        (".venv/bin/dialectree", ".venv/bin", "dialectree"),
        (".venv/bin/dialectree", "other", ".venv/bin/dialectree"),
        ("my venv/dialectree", "", "'my venv/dialectree'"),
        ("tool.py", "", "dialectree"),
    ],
)
def test_a_command_that_is_printed_can_be_typed(
    path: str, on_path: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (path, "other/dialectree"):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).touch(mode=0o755)
    monkeypatch.setenv("PATH", on_path)
    monkeypatch.setattr(sys, "argv", [path, "demo"])
    assert program() == typed


def printed(encoding: str, *words: str) -> tuple[int, bytes]:
    """How ``dialectree`` ends, and its stdout, where both streams have ``encoding``."""
    written = io.BytesIO()
    out, err = io.TextIOWrapper(written, encoding), io.TextIOWrapper(io.BytesIO(), encoding)
    with patch.multiple(sys, stdout=out, stderr=err):
        status = ended(*words)
    return status, written.getvalue()


def test_what_a_stream_has_no_code_for_is_replaced(asked: list[str]) -> None:
    command(*asked)
    run = str(runs()[0])
    for words in (["show", run], ["show", run, "--node", "0"]):
        status, said = printed("cp437", *words)
        assert status == 0
        assert QUESTION.encode("cp437", errors="replace") in said


def test_what_is_a_file_by_another_way_is_utf_8_on_any_stream(asked: list[str]) -> None:
    status, said = printed("latin-1", *asked, "--json")
    assert (status, json.loads(said)["input"]["question"]) == (0, QUESTION)
    run = runs()[0]
    for form, file in (("--json", "run.json"), ("--md", "report.md"), ("--html", "report.html")):
        status, said = printed("latin-1", "show", str(run), form)
        assert status == 0
        assert said.strip() == (run / file).read_bytes().strip()


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("shown", ["out", "err"])
def test_each_stream_is_a_terminal_by_itself(
    shown: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    out, err = (Screen() if shown == name else io.StringIO() for name in ("out", "err"))
    with patch.multiple(sys, stdout=out, stderr=err):
        assert ended(*asked) == 0
    record = (runs()[0] / "run.json").as_posix()
    assert record in err.getvalue().replace("\n", "") and record not in out.getvalue()
    assert "\x1b" not in (err if shown == "out" else out).getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes streams")
def test_a_question_from_an_input_that_is_closed_is_empty() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" answer - <&-', PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dialectree: the question is empty\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe that nobody reads")
def test_a_reader_that_has_gone_is_no_fault_and_nothing_is_said_of_it(asked: list[str]) -> None:
    command(*asked)
    for words in (["show", str(runs()[0])], ["answer", "--help"], [*asked, "--json", "--quiet"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [PROGRAM, *words], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writing)
        assert done.returncode == 141
        assert all(line.startswith("dialectree: ") for line in done.stderr.splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file on a full disk")
def test_an_error_that_cannot_be_printed_keeps_its_status() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "answer", ""], stdout=subprocess.PIPE, stderr=full, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
