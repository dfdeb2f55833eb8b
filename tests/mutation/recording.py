"""Run the tests once, to learn which of them enter which mutated function and what each takes."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath

from .byte_code import write_probes
from .drawing import PACKAGE, module_of
from .mutants import Mutant
from .sessions import pytest_command, pytest_environment

IMPORT = 0
"""What ``running`` holds before a process of pytest starts its first test."""


@dataclass
class Recording:
    """One run of all tests."""

    seconds: dict[str, float] = field(default_factory=dict)
    """What each test that passed took by the clock, with the fixtures that it shares."""
    cpu_s: dict[str, float] = field(default_factory=dict)
    """What each of them computed, without fixtures that it shares."""
    shared_cpu_s: dict[str, float] = field(default_factory=dict)
    """What the fixtures that it shares computed."""
    failed: list[str] = field(default_factory=list)
    """Tests that fail without any mutant."""
    entering: list[list[str]] = field(default_factory=list)
    """For each mutant in turn: the tests that enter its function."""
    at_import: list[int] = field(default_factory=list)
    """Numbers of mutants whose function also runs when tests are collected."""


def load_recording(tree: Path, drawn: Sequence[Mutant], folder: Path, ways: int) -> Recording:
    """Return the recording that ``folder`` keeps, or make one there."""
    kept = folder / "recording.json"
    if not kept.exists():
        recording = record(tree, drawn, folder, ways)
        kept.write_text(json.dumps(vars(recording)))
    return Recording(**json.loads(kept.read_text()))


def record(tree: Path, drawn: Sequence[Mutant], folder: Path, ways: int) -> Recording:
    """Run the tests of ``tree``, in ``ways`` processes, with a probe in each mutated function."""
    code, entries = folder / "probes", folder / "entries"
    for path in (code, entries):
        shutil.rmtree(path, ignore_errors=True)
    write_probes(tree, drawn, code)
    entries.mkdir(parents=True)
    (entries / "running").write_bytes(bytes(8))
    spread = ("-n", str(ways), "--dist", "worksteal") if ways > 1 else ()
    variables = {"MUTATION_CODE": code, "MUTATION_ENTRIES": entries}
    with open(folder / "recording.log", "wb") as log:
        subprocess.run(
            pytest_command("-p", "mutation_recorder", *spread, "tests"),
            cwd=tree,
            env=pytest_environment(tree, **variables),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    recording = read_entries(entries, len(drawn))
    if not recording.seconds:
        raise SystemExit(f"no test passes in {tree}; read {folder / 'recording.log'}")
    return recording


def read_entries(folder: Path, count: int) -> Recording:
    """Read what the processes of one run of the tests have written to ``folder``."""
    recording = Recording()
    entering: list[set[str]] = [set() for _ in range(count)]
    at_import: set[int] = set()
    for written in sorted(folder.rglob("entries.txt")):
        tests = _read_parts(written.parent / "parts.jsonl", recording)
        for line in written.read_text().splitlines():
            number, part = map(int, line.split())
            if part == IMPORT:
                at_import.add(number)
            entering[number].update(tests.get(part, ()))
    recording.entering = [sorted(tests & recording.seconds.keys()) for tests in entering]
    recording.at_import = sorted(at_import)
    return recording


def _read_parts(path: Path, recording: Recording) -> dict[int, list[str]]:
    """Add the tests of one process to ``recording``; return the tests that each number means.

    The number of a fixture means all tests of the process that share it.
    """
    lines = path.read_text().splitlines() if path.exists() else []
    parts = [json.loads(line) for line in lines]
    fixtures = [part for part in parts if "fixture" in part]
    meant: defaultdict[int, list[str]] = defaultdict(list)
    for part in parts:
        if (test := part.get("test")) is None:
            continue
        meant[part["number"]].append(test)
        seconds, shared_cpu_s = part["seconds"], 0.0
        for fixture in fixtures:
            if fixture["fixture"] in part["fixtures"] and test.startswith(fixture["base"]):
                meant[fixture["number"]].append(test)
                seconds += fixture["seconds"]
                shared_cpu_s += fixture["cpu_s"]
        if part["failed"]:
            recording.failed.append(test)
        else:
            recording.seconds[test] = round(seconds, 3)
            recording.cpu_s[test] = round(part["cpu_s"], 3)
            recording.shared_cpu_s[test] = round(shared_cpu_s, 3)
    return meant


def order_tests(mutant: Mutant, tests: Iterable[str], recording: Recording, budget_s: float) -> list[str]:
    """Return the tests to run for ``mutant``, those most likely to notice it first.

    Those of its own room come first, then what is cheap. Tests of one file that cost about the same
    stay together, as they share fixtures.

    Args:
        mutant: Change whose function the tests enter.
        tests: Node ids to choose from; those that were not recorded are left out.
        recording: What each test computes.
        budget_s: Sum of what they compute at which to stop.
    """

    def place(test: str) -> tuple[int, int, str, float]:
        cost_s, file = recording.cpu_s[test] + recording.shared_cpu_s[test], _file_of(test)
        return -closeness(file, mutant.file), round(math.log2(cost_s + 0.01)), file, cost_s

    chosen: list[str] = []
    spent_s = 0.0
    for test in sorted(recording.seconds.keys() & set(tests), key=place):
        spent_s += recording.cpu_s[test]
        if not chosen or _file_of(chosen[-1]) != _file_of(test):
            spent_s += recording.shared_cpu_s[test]
        if chosen and spent_s > budget_s:
            break
        chosen.append(test)
    return chosen


def closeness(test_file: str, file: str) -> int:
    """Count the folders that a file of tests has in common with a source file, and its name."""
    theirs, ours = PurePosixPath(test_file), PurePosixPath(file.removeprefix(f"{PACKAGE}/"))
    folders = zip(theirs.parent.parts[1:], ours.parent.parts, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], folders))
    return common + (common == len(ours.parent.parts) and ours.stem in theirs.stem)


def tests_near(mutant: Mutant, recording: Recording, tree: Path) -> set[str]:
    """Return the tests of the mutant's room, and those of files that name its module."""
    module = module_of(mutant.file)
    near = {
        file
        for file in set(map(_file_of, recording.seconds))
        if closeness(file, mutant.file) or module in (tree / file).read_text()
    }
    return {test for test in recording.seconds if _file_of(test) in near}


def _file_of(test: str) -> str:
    return test.partition("::")[0]
