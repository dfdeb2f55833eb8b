"""An OpenAI-compatible endpoint on this machine, with no model behind it.

It answers chat completions and the list of models. A reply is made from a hash of the request, so
that the same request always gets the same reply; a reply to a JSON schema is a valid instance of
it. The endpoint can be slow, crowded or faulty on purpose, and it counts what its clients did::

    with LocalEndpoint(latency_ms=200, max_concurrency=64, http_500=0.05) as endpoint:
        ...  # talk to endpoint.url
        endpoint.stats()["calls"]
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

from tests.endpoint.options import Options
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
Process = subprocess.Popen[str]

_direct = build_opener(ProxyHandler({}))
_idle: dict[int, list[Process]] = {}
"""Processes without a block to serve, by the process that started them: a fork has none."""


class LocalEndpoint:
    """Run the endpoint in another process for a ``with`` block.

    ``options`` are the fields of :class:`Options`. ``url`` is the address to give to a client: its
    port is new in each block, and refuses connections after it. The processes outlive their
    blocks and serve again, as most of the cost of one is its start.
    """

    url: str

    def __init__(self, **options: Any) -> None:
        self._options = Options(**options)

    def __enter__(self) -> Self:
        idle = _idle.get(os.getpid(), [])
        self._process = idle.pop() if idle else _start_process()
        self.url = _tell(self._process, json.dumps(asdict(self._options)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _tell(self._process, "")
        _idle.setdefault(os.getpid(), []).append(self._process)

    def stats(self) -> dict[str, Any]:
        """Return the totals: calls, faults, duplicate requests, times, utilisation."""
        totals: dict[str, Any] = json.loads(self._fetch("/stats"))
        return totals

    def calls(self) -> list[dict[str, Any]]:
        """Return every call so far, in the order of their ends."""
        calls: list[dict[str, Any]] = json.loads(self._fetch("/calls"))
        return calls

    def reset(self) -> None:
        """Forget the calls so far."""
        self._fetch("/reset", b"")

    def _fetch(self, path: str, data: bytes | None = None) -> bytes:
        with _direct.open(self.url.removesuffix("/v1") + path, data, timeout=PATIENCE_S) as response:
            body: bytes = response.read()
        return body


def _start_process() -> Process:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.endpoint.server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _tell(process: Process, line: str) -> str:
    """Send a line to a process and return the line that it answers."""
    assert process.stdin is not None and process.stdout is not None
    print(line, file=process.stdin, flush=True)
    if not (answer := process.stdout.readline()):
        raise RuntimeError(f"the endpoint ended with status {process.wait()}")
    return answer.strip()


@atexit.register
def _end_processes() -> None:
    for process in _idle.pop(os.getpid(), []):
        process.communicate()  # it ends with its input
