"""A pytest plugin that tells the probes which test runs, and keeps what each test took.

Each process of pytest writes to a folder of its own, below that of ``MUTATION_ENTRIES``. What runs
in a fixture that several tests share counts for all of them, not for the first alone.
"""

from __future__ import annotations

import json
import os
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
        self.seconds = 0.0
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
        self.seconds, self.failed = 0.0, False
        self.tell(test)
        try:
            return (yield)
        finally:
            self.tell(BETWEEN_TESTS)
            names = getattr(item, "fixturenames", [])
            about = {"seconds": round(self.seconds, 3), "failed": self.failed, "fixtures": names}
            self.keep({"number": test, "test": item.nodeid, **about})

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        self.number += 1
        number, start = self.number, time.monotonic()
        self.tell(number)
        try:
            return (yield)
        finally:
            self.tell(self.current)
            seconds = round(time.monotonic() - start, 3)
            self.seconds -= seconds
            about = {"fixture": fixturedef.argname, "base": fixturedef.baseid}
            self.keep({"number": number, **about, "seconds": seconds})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds += report.duration
        self.failed = self.failed or report.failed
