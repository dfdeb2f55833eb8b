"""Measure the cost of watchers to a run on a server, and the delay of its first event."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.cases import QUESTION, splitting
from benchmarks.figures import Figure
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import serving

LATENCIES_MS = (0, 20)


class Audience(NamedTuple):
    """The clients that follow one run."""

    name: str
    watchers: int
    read: bool
    limit: float | None
    """The limit of the time of a run over that of unwatched runs."""


NOBODY = Audience("nobody", 0, False, None)
AUDIENCES = (
    NOBODY,
    Audience("a watcher who never reads", 1, False, 1.03),
    Audience("50 watchers", 50, True, 1.15),
    NOBODY,
)
FIRST_EVENT_MS = 150


class Run(NamedTuple):
    """The measurements of one run."""

    wall_s: float
    cpu_s: float
    """The CPU time of the server."""
    thread: str
    came: float
    """The time of the first event at the client, in seconds since 1970."""


_STARTED = re.compile(r"Starting background run.*?run_started_at=(\S+).*?thread_id=(\S+)")


def watchers(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure runs with each audience, turn by turn."""
    for latency_ms in LATENCIES_MS:
        part = f"TSD, 16 leaves, on langgraph dev, calls of {latency_ms} ms, median of {repeats}"
        place = folder / str(latency_ms)
        place.mkdir()
        with (
            LocalEndpoint(latency_ms=latency_ms, rules=splitting(4)) as endpoint,
            serving(place, DIALECTREE_ALLOW_URLS=endpoint.url) as url,
            httpx.Client(base_url=url, timeout=60) as client,
        ):
            _run(client, endpoint.url, NOBODY)
            rounds = [
                [_run(client, endpoint.url, audience) for audience in AUDIENCES] for _ in range(repeats)
            ]
        for n, audience in enumerate(AUDIENCES):
            for what, field in (("time", "wall_s"), ("CPU of the server", "cpu_s")):
                spent = [[float(getattr(run, field)) for run in one] for one in rounds]
                ratio = median(2 * one[n] / (one[0] + one[-1]) for one in spent)
                name = f"{audience.name}: {what} over that of unwatched runs"
                if audience.watchers:
                    yield Figure(part, name, ratio, limit=audience.limit)
        name = "time of an unwatched run"
        yield Figure(part, name, median(one[0].wall_s for one in rounds), "s")
        log = re.sub(r"\x1b\[\d+m", "", (place / "log").read_text())
        started = {thread: datetime.fromisoformat(at) for at, thread in _STARTED.findall(log)}
        firsts = [run.came - started[run.thread].timestamp() for one in rounds for run in one]
        name = "from the start of a run to its first event at the client"
        yield Figure(part, name, 1000 * median(firsts), "ms", limit=FIRST_EVENT_MS)


def _run(client: httpx.Client, model: str, audience: Audience) -> Run:
    """Run a debate before an audience, and return its measurements."""
    cpu_s = _cpu_s()
    thread = client.post("/threads", json={}).json()["thread_id"]
    body = {
        "assistant_id": "tsd",
        "input": {"question": QUESTION},
        "context": {"model": "openai:any", "base_url": model, "max_depth": 2},
        **{"stream_mode": ["custom"], "stream_subgraphs": True, "on_disconnect": "continue"},
    }
    with client.stream("POST", f"/threads/{thread}/runs/stream", json=body) as answer:
        lines = answer.iter_lines()
        began = next(line for line in lines if '"kind":"began"' in line)
        came, run_id = time.time(), json.loads(began.removeprefix("data: "))["run_id"]
        with _followed(client, f"/debates/{run_id}", audience):
            for _ in lines:
                pass
    record = client.get(f"/debates/{run_id}").json()
    assert record["status"] == "answered", record["notices"]
    return Run(record["usage"]["wall_s"], _cpu_s() - cpu_s, thread, came)


def _cpu_s() -> float:
    """Return the CPU seconds so far of the server, the only child with that name."""
    servers = [one for one in psutil.Process().children() if "langgraph" in " ".join(one.cmdline())]
    return sum(sum(one.cpu_times()[:2]) for one in servers)


@contextmanager
def _followed(client: httpx.Client, path: str, audience: Audience) -> Iterator[None]:
    """Let the audience follow a run."""
    while audience.watchers and client.get(path).status_code == 404:
        time.sleep(0.02)  # the folder of the run is made when its first step has ended
    place = urlsplit(str(client.base_url)).netloc
    request = f"GET {path}/events HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
    host, _, port = place.partition(":")
    with ExitStack() as stack:
        for _ in range(audience.watchers):
            watcher = stack.enter_context(socket.create_connection((host, int(port))))
            watcher.sendall(request)
            if audience.read:
                reading = threading.Thread(target=_read, args=[watcher])
                reading.start()
                stack.callback(reading.join)
        yield


def _read(watcher: socket.socket) -> None:
    while watcher.recv(1 << 16):  # to the end of the run
        pass
