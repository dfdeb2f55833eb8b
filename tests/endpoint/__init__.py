"""An OpenAI-compatible endpoint on this machine, with no model behind it.

It answers chat completions and the list of models. A reply is made from a hash of the request, so
that the same request always gets the same reply; a reply to a JSON schema is a valid instance of
it. The endpoint can be slow, crowded or faulty on purpose, and it counts what its clients did::

    with LocalEndpoint(latency_ms=200, max_concurrency=64, http_500=0.05) as endpoint:
        ...  # talk to endpoint.url
        endpoint.stats()["calls"]
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

from tests.endpoint.options import Options

ROOT = Path(__file__).resolve().parents[2]
_direct = build_opener(ProxyHandler({}))


class LocalEndpoint:
    """Run the endpoint in a process of its own for a ``with`` block.

    ``options`` are the fields of :class:`Options`. ``url`` is the address to give to a client.
    """

    url: str

    def __init__(self, **options: Any) -> None:
        self._options = Options(**options)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.endpoint.server", json.dumps(asdict(self._options))],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"the endpoint ended with status {self._process.wait()}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()

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
        with _direct.open(self.url.removesuffix("/v1") + path, data, timeout=30) as response:
            body: bytes = response.read()
        return body
