"""A pytest plugin that collects tests and then runs some of them, on demand, in forks.

It listens at the socket that ``MUTATION_SOCKET`` names. Each connection asks for one run, by a line
of JSON: ``{"tests": [...], "environment": {...}}``. The fork answers by lines of JSON:

- ``{"pid": 12, "swapped": true}``: it starts. ``swapped`` is false when a changed function cannot
  be put in place of the one that was imported.
- ``{"test": "tests/test_a.py::test_b"}``: it starts this test.
- ``{"failed": "assert 1 == 2"}``: that test fails, and no further one starts.
- ``{"cpu": 1.5}``: it ends, after so many seconds of computing.
"""

from __future__ import annotations

import functools
import gc
import json
import marshal
import os
import resource
import select
import socket
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

MEMORY = 4 << 30
"""Bytes that a process may fill: a mutant may collect without end."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run no test here, but fork for each connection, until the process that started this ends."""
    imported = Imported()
    gc.collect()
    gc.freeze()  # a collection in a fork would otherwise copy all memory
    starter = os.getppid()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.environ["MUTATION_SOCKET"])
        listener.listen()
        while os.getppid() == starter:
            if not select.select([listener], [], [], 1.0)[0]:
                continue
            connection, _ = listener.accept()
            if os.fork() == 0:
                try:
                    listener.close()
                    run_in_fork(session, imported, connection)
                except BaseException:
                    traceback.print_exc(file=sys.__stderr__)
                finally:
                    os._exit(0)
            connection.close()
            reap_forks()
    return True


def reap_forks() -> None:
    """Let the system forget forks that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def run_in_fork(session: pytest.Session, imported: Imported, connection: socket.socket) -> None:
    """Run the tests that ``connection`` asks for, up to the first that fails."""
    os.setsid()  # so that this process can be ended with those that it starts
    stream = connection.makefile("rw")

    def tell(**fields: Any) -> None:
        stream.write(json.dumps(fields) + "\n")
        stream.flush()

    if not (line := stream.readline()):
        return  # somebody asked whether this session is ready
    request = json.loads(line)
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # chosen anew, from the environment
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, most))
    capture: Any = session.config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files would be shared with other forks
    capture.start_global_capturing()
    swapped = imported.swap()
    tell(pid=os.getpid(), swapped=swapped)
    if swapped:
        run_tests(session, request["tests"], tell)
    used = os.times()
    tell(cpu=used.user + used.system + used.children_user + used.children_system)


def run_tests(session: pytest.Session, tests: Sequence[str], tell: Callable[..., None]) -> None:
    """Run ``tests`` up to the first that fails, and what their fixtures do at the end."""
    failures = Failures()
    session.config.pluginmanager.register(failures)
    items = {item.nodeid: item for item in session.items}
    for test, following in pairwise([*tests, None]):
        tell(test=test)
        if test not in items:
            failures.messages.append("it is not collected")
        else:
            item = items[test]
            after = items.get(following) if following else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if failures.messages:
            tell(failed=failures.messages[0])
            break
    session._setupstate.teardown_exact(None)


class Failures:
    """Keeps why tests failed."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = str(getattr(crash, "message", report.longrepr))
            self.messages.append(" ".join(message.split())[:200] or "it fails")


class Imported:
    """The package's functions and caches, as they are when all tests are collected."""

    def __init__(self) -> None:
        self.code = os.environ["MUTATION_CODE"]
        self.functions: defaultdict[str, list[FunctionType]] = defaultdict(list)
        self.caches: list[functools._lru_cache_wrapper[Any]] = []
        for part in gc.get_objects():
            if isinstance(part, FunctionType):
                self.functions[part.__code__.co_filename].append(part)
            elif isinstance(part, functools._lru_cache_wrapper) and is_ours(part):
                self.caches.append(part)

    def swap(self) -> bool:
        """Put prepared byte code in place of what was imported; tell whether that is complete."""
        for cache in self.caches:
            cache.cache_clear()
        complete = True
        code = os.environ["MUTATION_CODE"]
        for path in Path(code).glob("*.pyc") if code != self.code else ():
            if path.stem in sys.modules:  # others will be loaded from there
                complete = self.swap_module(marshal.loads(path.read_bytes()[16:])) and complete
        return complete

    def swap_module(self, module: CodeType) -> bool:
        prepared: defaultdict[tuple[str, int], list[CodeType]] = defaultdict(list)
        for code in inner_codes(module):
            prepared[place_of(code)].append(code)
        live: defaultdict[tuple[str, int], list[FunctionType]] = defaultdict(list)
        for function in self.functions[module.co_filename]:
            live[place_of(function.__code__)].append(function)
        swapped = 0
        for place, functions in live.items():
            before = [function.__code__ for function in functions]
            after = [code for code in prepared[place] if code not in before]
            for function in functions:
                if not after or function.__code__ in prepared[place]:
                    continue
                if function.__code__.co_freevars != after[0].co_freevars:
                    return False
                function.__code__ = after[0]
                swapped += 1
        return swapped > 0


def is_ours(part: object) -> bool:
    return str(part.__module__).startswith("dialectree")


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function that is defined in ``code``, however deep."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from inner_codes(constant)


def place_of(code: CodeType) -> tuple[str, int]:
    """Return where a function stands; two lambdas may share a place."""
    return code.co_qualname, code.co_firstlineno
