"""Programs that serve on a port of this machine while a block runs."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.waiting import PATIENCE_S, wait_until

STARTS = 5
"""A free port may be taken by another program before ours listens on it."""
IN_USE = re.compile(r"address (is )?already in use|EADDRINUSE", re.IGNORECASE)

PORT, OTHER_PORT = "{port}", "{other port}"
"""Stand for the numbers of free ports in words and variables of a program."""


class RunningServer(NamedTuple):
    """A program that takes connections at a port of 127.0.0.1."""

    port: int
    process: subprocess.Popen[Any]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def free_port() -> int:
    """Return a port that nobody listens on now; :func:`run_server` copes if that changes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def accepts_connections(port: int) -> bool:
    """Return whether a program listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def run_server(
    words: Sequence[str],
    log: Path,
    is_up: Callable[[int], object] = accepts_connections,
    variables: Mapping[str, str] | None = None,
    kill: bool = False,
    **options: Any,
) -> Iterator[RunningServer]:
    """Run a server until the block ends; the block begins once ``is_up(port)`` is true.

    A server that ends because another program took its port is started again on another one.

    Args:
        words: The command, with ``PORT`` where the number of its port belongs.
        log: The file of its output, shown if it does not come up.
        is_up: Looks whether the server at a port is ready.
        variables: Added to the environment; they may hold ``PORT`` and ``OTHER_PORT``, too.
        kill: End it by SIGKILL in place of SIGTERM.
        options: Passed on to ``subprocess.Popen``.
    """
    server = _start_on_free_port(words, log, is_up, variables or {}, options)
    try:
        yield server
    finally:
        server.process.kill() if kill else server.process.terminate()
        server.process.wait(PATIENCE_S)


def _start_on_free_port(
    words: Sequence[str],
    log: Path,
    is_up: Callable[[int], object],
    variables: Mapping[str, str],
    options: Mapping[str, Any],
) -> RunningServer:
    attempt = 0
    while True:
        attempt += 1
        port, other_port = free_port(), free_port()

        def fill(text: str, port: int = port, other_port: int = other_port) -> str:
            return text.replace(PORT, str(port)).replace(OTHER_PORT, str(other_port))

        with log.open("w") as output:
            process = subprocess.Popen(
                [*map(fill, words)],
                stdout=output,
                stderr=output,
                env={**os.environ, **{name: fill(text) for name, text in variables.items()}},
                **options,
            )
        try:
            wait_until(partial(is_up, port), process=process, pause_s=0.1)
            return RunningServer(port, process)
        except BaseException as error:
            process.kill()
            process.wait()
            printed = log.read_text(errors="replace")
            taken = isinstance(error, AssertionError) and IN_USE.search(printed)
            if not taken or attempt == STARTS:
                error.add_note(f"{words[0]} printed:\n{printed[-2000:]}")
                raise
