"""A pytest plugin that tells the probes which test runs, and keeps what each test took.

Each process of pytest writes to a folder of its own, below that of ``MUTATION_ENTRIES``. What runs
in a fixture that several tests share counts for all of them, not for the first alone.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

IMPORT, BETWEEN_TESTS = 0, 1
"""Numbers that ``running`` holds before the first test and after each; tests have higher ones."""


def pytest_configure(config: pytest.Config) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker or not config.getoption("numprocesses", None):
        folder = Path(os.environ["MUTATION_ENTRIES"], worker or "main")
        config.pluginmanager.register(Recorder(folder))


class Recorder:
    """Numbers tests and shared fixtures, and writes a line on each."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.number = self.current = BETWEEN_TESTS
        self.running = folder / "running"
        self.parts = folder / "parts.jsonl"
        self.tell(IMPORT)
        self.seconds = self.setup_cpu_s = 0.0
        self.failed = False
        os.environ["MUTATION_ENTRIES"] = str(folder)
        sys.modules["sitecustomize"].note_entries(str(folder))

    def tell(self, number: int) -> None:
        """Tell the probes of all processes that the part with ``number`` runs."""
        with open(self.running, "r+b" if self.running.exists() else "wb") as file:
            file.write(number.to_bytes(8, "little"))

    def keep(self, part: dict[str, Any]) -> None:
        with open(self.parts, "a") as file:
            file.write(json.dumps(part) + "\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.number += 1
        test = self.current = self.number
        self.seconds, self.setup_cpu_s, self.failed = 0.0, 0.0, False
        start_cpu_s = cpu_s()
        self.tell(test)
        try:
            return (yield)
        finally:
            self.tell(BETWEEN_TESTS)
            names = getattr(item, "fixturenames", [])
            own_cpu_s = cpu_s() - start_cpu_s - self.setup_cpu_s
            about = {"failed": self.failed, "fixtures": names, "cpu_s": own_cpu_s}
            self.keep({"number": test, "test": item.nodeid, "seconds": self.seconds, **about})

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        self.number += 1
        number, start_s, start_cpu_s = self.number, time.monotonic(), cpu_s()
        self.tell(number)
        try:
            return (yield)
        finally:
            self.tell(self.current)
            took = {"seconds": time.monotonic() - start_s, "cpu_s": cpu_s() - start_cpu_s}
            self.seconds -= took["seconds"]
            self.setup_cpu_s += took["cpu_s"]
            about = {"fixture": fixturedef.argname, "base": fixturedef.baseid}
            self.keep({"number": number, **about, **took})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds += report.duration
        self.failed = self.failed or report.failed


def cpu_s() -> float:
    """Return the seconds that this process, and those it started that have ended, computed."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)
