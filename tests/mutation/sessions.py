"""Run chosen tests in forks of a collected pytest session."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

INSIDE = Path(__file__).parent / "inside"
OWN_FOLDER = "tests/mutation"
"""Tests of this tool, which say nothing on mutants."""
MARKS = "not slow and not clients and not site and not e2e"
START_S = 300.0
"""Seconds in which a session has to collect its tests."""
GRACE_S = 30.0
"""Seconds that any test gets, on top of ten times those that it took when it was recorded."""


@dataclass(frozen=True)
class Outcome:
    """The end of one run of tests."""

    test: str = ""
    """Test at which the run stopped, if it did."""
    message: str = ""
    """Why it stopped; empty if all tests passed."""
    swapped: bool = True
    """Whether all changed functions were put in place of the imported ones."""
    cpu_s: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.message


class SessionFailed(Exception):
    """The session did not come to collect its tests."""


def pytest_command(*options: str) -> list[str]:
    """Return the command that runs the tests that ``make test`` does, but those of this tool."""
    plugins = ("-p", "no:cacheprovider", "-p", "mutation_profile", "-p", "mutation_environment")
    chosen = ("-m", MARKS, f"--ignore={OWN_FOLDER}", "--continue-on-collection-errors")
    return [sys.executable, "-m", "pytest", "-q", *plugins, *chosen, *options]


def pytest_environment(tree: Path, **variables: Path) -> dict[str, str]:
    """Return an environment that brings the modules of ``inside`` to all processes of tests."""
    clean = {key: text for key, text in os.environ.items() if not key.startswith("MUTATION_")}
    path = os.pathsep.join([str(INSIDE), str(tree)])
    return {**clean, "PYTHONPATH": path, **{key: str(path) for key, path in variables.items()}}


class Session:
    """A pytest session that has collected its tests, and runs some of them in a fork when asked.

    Args:
        tree: Root of the checkout whose tests these are.
        code: Folder of byte code to load in place of modules, if there is any. A log is written
            next to it.
        targets: Files or folders of tests to collect.
    """

    def __init__(self, tree: Path, code: Path, targets: Sequence[str] = ("tests",)) -> None:
        self.tree = tree
        self.code = code
        self.targets = targets

    def __enter__(self) -> Session:
        self.folder = Path(tempfile.mkdtemp(prefix="mutation"))
        self.address = str(self.folder / "socket")
        self.log = self.code.with_name(f"{self.code.name}.log")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        variables = {"MUTATION_CODE": self.code, "MUTATION_SOCKET": self.folder / "socket"}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                pytest_command("-p", "mutation_forks", *self.targets),
                cwd=self.tree,
                env=pytest_environment(self.tree, **variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.await_collection()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self.process.pid)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def await_collection(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError), self.connect():
                return
            time.sleep(0.05)
        lines = self.log.read_text(errors="replace").splitlines()
        raise SessionFailed("\n".join(lines[-15:]))

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.address)
        except OSError:
            connection.close()
            raise
        return connection

    def run(self, tests: Sequence[str], seconds: Mapping[str, float], code: Path) -> Outcome:
        """Run ``tests`` in a fork, in their order, up to the first that fails.

        Args:
            tests: Node ids.
            seconds: What each test took when it was recorded.
            code: Folder of byte code to run in place of what the session has imported.
        """
        folder = Path(tempfile.mkdtemp(prefix="mutation"))
        places = dict.fromkeys(("TMPDIR", "PYTEST_DEBUG_TEMPROOT"), str(folder))
        environment = {
            **places,
            "MUTATION_CODE": str(code),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }
        process = 0
        try:
            with self.connect() as connection:
                request = {"tests": list(tests), "environment": environment}
                connection.sendall(json.dumps(request).encode() + b"\n")
                progress = _Progress(connection, seconds)
                for line in progress.lines():
                    process = line.get("pid", process)
                return progress.outcome()
        finally:
            if process:
                end_group(process)
            end_leftovers(folder)
            shutil.rmtree(folder, ignore_errors=True)


class _Progress:
    """Reads the lines of a fork, and gives up when a test takes far longer than it did before."""

    def __init__(self, connection: socket.socket, seconds: Mapping[str, float]) -> None:
        self.connection = connection
        self.seconds = seconds
        self.start = time.monotonic()
        self.allowed_s = GRACE_S
        self.test = ""
        self.fields: dict[str, Any] = {}
        self.timed_out = False

    def lines(self) -> Iterator[dict[str, Any]]:
        buffer = b""
        while "cpu" not in self.fields:
            if not select.select([self.connection], [], [], self.allowed_s)[0]:
                self.timed_out = True
                return
            if not (received := self.connection.recv(65536)):
                return
            *complete, buffer = (buffer + received).split(b"\n")
            for text in complete:
                line = json.loads(text)
                self.fields |= line
                if "test" in line:
                    self.test = line["test"]
                    self.allowed_s = GRACE_S + 10 * self.seconds.get(self.test, 1.0)
                yield line

    def outcome(self) -> Outcome:
        swapped = self.fields.get("swapped", True)
        cpu_s = self.fields.get("cpu", time.monotonic() - self.start)
        message = self.fields.get("failed", "")
        if not message and self.timed_out:
            message = f"no end after {self.allowed_s:.0f} s"
        elif not message and "cpu" not in self.fields:
            message = "its process died"
        return Outcome(self.test if message else "", message, swapped, cpu_s)


def end_group(process: int) -> None:
    """End a process and those it started, unless they have left its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def end_leftovers(folder: Path) -> None:
    """End processes of a run that left its group; their files are known to be in ``folder``."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("TMPDIR") == str(folder):
                process.kill()
