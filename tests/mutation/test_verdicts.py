"""Verdicts on a toy: a package of the same layout, with tests of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mutation import sessions
from tests.mutation.mutants import find_mutants
from tests.mutation.recording import Recording, record
from tests.mutation.sessions import Session
from tests.mutation.settling import Settler, Verdict

FILE = "dialectree/sums.py"
SOURCE = """
import time
from functools import cache


def sign(number):
    return 1 if number > 0 else -1


def is_large(number):
    return number >= 10


def count_down(number):
    while number > 0:
        time.sleep(0.01)
        number -= 1
    return number


def greet():
    print("hello", end="!")


def double(number, factor=2):
    return number * factor


@cache
def table():
    return [number for number in range(3) if number]


TABLE = table()


def wrap(function):
    def wrapped(number):
        return function(number) + 1
    return wrapped


successor = wrap(int)


def process_id(number):
    return number + 1


def unused(number):
    return number + 1
"""
TESTS = """
import os
import subprocess
import sys

import pytest
from dialectree import sums

STARTED = os.getpid()


def test_sign():
    assert (sums.sign(0), sums.sign(5)) == (-1, 1)


def test_is_large():
    assert sums.is_large(11)


def test_count_down():
    assert sums.count_down(3) == 0


@pytest.fixture(scope="module")
def greeting():
    command = [sys.executable, "-c", "from dialectree import sums; sums.greet()"]
    path = {"PYTHONPATH": os.getcwd()}
    return subprocess.run(command, stdout=subprocess.PIPE, env=path).stdout


def test_somebody_says_something(greeting):
    assert greeting


def test_the_greeting_ends(greeting):
    assert greeting == b"hello!"


def test_double():
    assert sums.double(2) == 4


def test_table():
    assert sums.TABLE == [1, 2]


def test_successor():
    assert sums.successor("6") == 7


def test_no_fork():
    assert sums.process_id(STARTED) == os.getpid() + 1


def test_that_fails():
    assert sums.sign(1) == 2
"""


CHANGES = {
    "sign": "return 1 if number >= 0 else -1",
    "is_large": "return number > 10",
    "count_down": "pass",
    "greet": 'print("hello")',
    "double": "def double(number, factor=3):",
    "table": "return [number for number in range(3) if True]",
    "wrap.wrapped": "return function(number) - 1",
    "process_id": "return number + 2",
    "unused": "return number + 2",
}
"""For each function of the toy, what one of its lines becomes."""
DRAWN = [mutant for mutant in find_mutants(FILE, SOURCE) if CHANGES.get(mutant.function) == mutant.new]


@dataclass
class Settled:
    """What became of the toy and its mutants."""

    tree: Path
    recording: Recording
    unfit: set[str]
    verdicts: dict[str, Verdict]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Settled:
    """Record the toy's tests and settle its mutants."""
    tree, folder = (tmp_path_factory.mktemp(name) for name in ("toy", "mutants"))
    for name, text in ((FILE, SOURCE), ("tests/test_sums.py", TESTS)):
        (tree / name).parent.mkdir()
        (tree / name).write_text(text)
    (tree / "dialectree/__init__.py").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setattr(sessions, "GRACE_S", 2.0)
        recording = record(tree, DRAWN, folder, ways=1)
        with Session(tree, folder / "code") as session:
            settler = Settler(tree, session, recording, folder / "code")
            verdicts = {
                mutant.function: settler.settle(number, mutant) for number, mutant in enumerate(DRAWN)
            }
    return Settled(tree, recording, settler.unfit, verdicts)


@pytest.mark.parametrize(
    ("function", "verdict", "test"),
    [
        ("sign", "killed", "test_sign"),
        ("is_large", "survived", ""),
        ("count_down", "killed", "test_count_down"),
        ("greet", "killed", "test_the_greeting_ends"),  # runs in another process alone
        ("double", "killed", "test_double"),  # a default
        ("table", "killed", "test_table"),  # runs at import
        ("wrap.wrapped", "killed", "test_successor"),  # made at import
        ("process_id", "unsettled", ""),  # its test needs the first process
        ("unused", "unsettled", ""),
    ],
)
def test_a_mutant_comes_to_this_verdict(settled: Settled, function: str, verdict: str, test: str) -> None:
    found = settled.verdicts[function]
    assert (found.verdict, found.test.rpartition("::")[2]) == (verdict, test)


def test_an_endless_loop_is_killed_by_the_clock(settled: Settled) -> None:
    assert "no end after" in settled.verdicts["count_down"].reason


def test_a_test_that_fails_without_a_mutant_has_no_say(settled: Settled) -> None:
    assert settled.recording.failed == ["tests/test_sums.py::test_that_fails"]
    assert settled.unfit == {"tests/test_sums.py::test_no_fork"}


def test_the_tree_is_left_as_it_was(settled: Settled) -> None:
    assert (settled.tree / FILE).read_text() == SOURCE
