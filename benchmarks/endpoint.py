"""An OpenAI-compatible endpoint on this machine, with no model behind it.

It answers chat completions and the list of models. A reply is made from a hash of the request, so
that the same request always gets the same reply, and one to a JSON schema is a valid instance of
it. The endpoint can be slow, crowded, rate limited or faulty on purpose, and it keeps a ledger of
what its clients did::

    with LocalEndpoint(latency_ms=200, max_concurrency=64, http_500=0.05) as endpoint:
        ...  # talk to endpoint.url
        endpoint.stats()["calls"]

By hand: ``python -m benchmarks.endpoint --port 8080 --latency-ms 200``. Beside ``/v1/...`` it
serves ``GET /stats``, ``GET /calls`` (one JSON line a call) and ``POST /reset``.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

from benchmarks.endpoint_options import Options, flags, parsed

ROOT = Path(__file__).resolve().parent.parent
_READY = " ready at "
_direct = build_opener(ProxyHandler({}))

Rules = Sequence[Mapping[str, object]]


class LocalEndpoint:
    """Runs the endpoint in a process of its own for a ``with`` block.

    ``options`` are the fields of :class:`Options`; numbers, paths and a list of rules are taken as
    they are. ``url`` is the address to give to a client.
    """

    url: str

    def __init__(
        self, *, rules: Rules | str | Path = (), log: str | Path = "", **options: Any
    ) -> None:
        given: dict[str, Any] = {
            "latency_ms": str(options.pop("latency_ms", 0)),
            "seed": str(options.pop("seed", 0)),
            "rules": json.dumps(rules) if not isinstance(rules, str | Path) else _whole(rules),
            "log": _whole(log) if log else "",
        }
        self._options = Options(**given, **options, with_parent=True)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.endpoint", *flags(self._options)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        _, ready, url = self._process.stdout.readline().partition(_READY)
        if not ready:
            raise RuntimeError(f"the endpoint ended with status {self._process.wait()}")
        self.url = url.strip()
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
        """Totals: calls, faults, unique and duplicate requests, times, utilisation."""
        totals: dict[str, Any] = json.loads(self._fetch("/stats"))
        return totals

    def calls(self) -> list[dict[str, Any]]:
        """Every call so far, in the order of their ends."""
        return [json.loads(line) for line in self._fetch("/calls").splitlines()]

    def reset(self) -> None:
        """Forget the calls so far."""
        self._fetch("/reset", b"")

    def _fetch(self, path: str, data: bytes | None = None) -> bytes:
        with _direct.open(self.url.removesuffix("/v1") + path, data, timeout=30) as response:
            body: bytes = response.read()
        return body


def _whole(path: str | Path) -> str:
    """A path that means the same in the endpoint's own working folder; JSON text stays as it is."""
    text = str(path)
    return text if text.lstrip().startswith("[") else str(Path(text).resolve())


def main() -> None:
    """Serve until told to stop; the first line printed says where."""
    from benchmarks.endpoint_server import serve

    options = parsed()
    asyncio.run(serve(options, lambda url: print(f"endpoint{_READY}{url}", flush=True)))


if __name__ == "__main__":
    main()
