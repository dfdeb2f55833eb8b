"""What all tests have in common: no cache, no settings and no key of the person who runs them.

At the end it names the tests that take too much CPU, by themselves and in the processes that they
waited for. Fixtures count for the file alone; what ends with the last test of all, such as the
server of :mod:`tests.forking` and all its programs, counts for none.
"""

from __future__ import annotations

import ast
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

MOST_CPU_S = 2.0
"""What one test may take outside the marks ``slow``, ``clients``, ``site`` and ``e2e``."""
MOST_CPU_OF_A_FILE_S = 20.0
"""What the tests of a file may take, unless its docstring has a sentence with ``CPU``."""
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FREE_MARKS = ("slow", "clients", "site", "e2e")

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
os.environ.setdefault("HF_HUB_CACHE", "nowhere")  # models of the person decide nothing
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's job in the background ignores Ctrl-C, and so would the commands under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, an empty cache, and an environment that says nothing."""
    for name in list(os.environ):
        ours = name.startswith(("DIALECTREE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_"))
        if ours or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("os.fsync", lambda file: None)  # no power fails here
    monkeypatch.chdir(tmp_path)
    if (endpoints := sys.modules.get("dialectree.models.endpoints")) is not None:
        endpoints._endpoints.clear()  # a port may come again


@pytest.fixture(autouse=True)
def few_rehearsals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rehearse a debate four times to estimate it, not 32; tests of estimates override this."""
    if (estimates := sys.modules.get("dialectree.running.estimates")) is not None:
        monkeypatch.setattr(estimates, "MOST", 4)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what the imports made to no later garbage collection: each would walk all of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of examples/, installed once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with FileLock(shared / "examples.lock"):
        if not (shared / "examples").exists():
            install_examples(shared / "examples")
    return shared / "examples"


def install_examples(folder: Path) -> None:
    """Install the packages of examples/ as a person does, without a network."""
    with tempfile.TemporaryDirectory() as source:
        shutil.copytree(EXAMPLES, source, dirs_exist_ok=True)
        packages = sorted(path.parent for path in Path(source).glob("*/pyproject.toml"))
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
        install += ["--no-build-isolation", "--target", str(folder), *map(str, packages)]
        subprocess.run(install, check=True)


@pytest.fixture(scope="session")
def forked(target: Path) -> Iterator[str]:
    """The address of the server of :mod:`tests.forking`; its programs know the examples."""
    from tests.forking import ROOT, run_fork_server

    with run_fork_server(PYTHONPATH=f"{target}{os.pathsep}{ROOT}") as address:
        yield address


# Skips, where what a test needs was installed for it


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "a skipped test fails: make gives it where it has installed what the tests need"
    parser.addoption("--no-skips", action="store_true", help=help)


def _refuse_skip(config: pytest.Config, report: Any) -> None:
    """Make a skip a failure where none is allowed."""
    if report.skipped and config.getoption("--no-skips") and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr
        report.outcome, report.longrepr = "failed", f"{reason}, and --no-skips forbids that"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    _refuse_skip(collector.config, report)
    return report


# CPU


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    item.stash[_BEFORE], item.stash[_IS_LAST] = _cpu_s(), nextitem is None
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    before = _cpu_s()
    try:
        return (yield)
    finally:
        item.stash[_CALL] = _cpu_s() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    _refuse_skip(item.config, report)
    if report.when == "teardown" and not any(map(item.get_closest_marker, FREE_MARKS)):
        call_s, all_s = item.stash.get(_CALL, 0.0), _cpu_s() - item.stash[_BEFORE]
        spent = {"test": call_s, "all": call_s if item.stash[_IS_LAST] else all_s}
        report.user_properties.append(("cpu_s", spent))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect what workers measured; in a worker nobody reads it."""
    for name, spent in report.user_properties:
        if name == "cpu_s" and isinstance(spent, dict):
            _cpu_of_tests[report.nodeid] = spent["test"]
            _cpu_of_files[report.nodeid.partition("::")[0]] += spent["all"]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    costly: list[tuple[str, float]] = [
        (name, spent) for name, spent in _cpu_of_tests.most_common() if spent > MOST_CPU_S
    ]
    costly += [
        (name, spent)
        for name, spent in _cpu_of_files.most_common()
        if spent > MOST_CPU_OF_A_FILE_S and not _has_reason(config.rootpath / name)
    ]
    if costly:
        terminalreporter.section(f"more CPU than {MOST_CPU_S:g} s a test, {MOST_CPU_OF_A_FILE_S:g} s a file")
        for name, spent in costly:
            terminalreporter.write_line(f"{spent:6.1f} s  {name}")


_BEFORE, _CALL = pytest.StashKey[float](), pytest.StashKey[float]()
_IS_LAST = pytest.StashKey[bool]()
_cpu_of_tests, _cpu_of_files = Counter[str](), Counter[str]()


def _cpu_s() -> float:
    """Return the CPU seconds of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _has_reason(file: Path) -> bool:
    """Return whether a test file says why it takes so much CPU."""
    return "CPU" in (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "")
