"""Measure what watchers cost a run on a server, and how soon its first event comes."""

from __future__ import annotations

import json
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx

from benchmarks.cases import QUESTION, splitting
from benchmarks.figures import Figure
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import serving

LATENCIES_MS = (0, 20)
WATCHED = {"a watcher who never reads": (1, False, 1.03), "50 watchers": (50, True, 1.15)}
"""How many there are, whether they read, and the most that a run may take longer."""
FIRST_EVENT_MS = 150


def watchers(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure each way of being watched beside runs that nobody watches, turn by turn."""
    for latency_ms in LATENCIES_MS:
        part = f"a TSD debate of 16 leaves on langgraph dev, calls of {latency_ms} ms"
        with (
            LocalEndpoint(latency_ms=latency_ms, rules=splitting(4)) as endpoint,
            serving(_new(folder / str(latency_ms)), DIALECTREE_ALLOW_URLS=endpoint.url) as url,
            httpx.Client(base_url=url, timeout=60) as client,
        ):
            _debate(client, endpoint.url, 0, 0, False)
            ratios: dict[str, list[float]] = {name: [] for name in WATCHED}
            firsts: list[float] = []
            for number in range(1, repeats + 1):
                walls = [_debate(client, endpoint.url, number, 0, False)]
                for n, (many, reads, _) in enumerate(WATCHED.values(), 1):
                    walls.append(_debate(client, endpoint.url, number + 1000 * n, many, reads))
                walls.append(_debate(client, endpoint.url, number + 9000, 0, False))
                alone = (walls[0][0] + walls[-1][0]) / 2
                for name, (wall, _) in zip(WATCHED, walls[1:], strict=False):
                    ratios[name].append(wall / alone)
                firsts += [first for _, first in walls]
        for name, (_, _, limit) in WATCHED.items():
            note = f"unwatched: {alone:.2f} s"
            yield Figure(
                part, f"{name}: time over unwatched", median(ratios[name]), limit=limit, note=note
            )
        yield Figure(
            part,
            "first event after the run began",
            1000 * median(firsts),
            "ms",
            limit=FIRST_EVENT_MS,
        )


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _debate(
    client: httpx.Client, model: str, number: int, many: int, reads: bool
) -> tuple[float, float]:
    """Return how long a run takes, and how long after it began its first event is here."""
    thread = client.post("/threads", json={}).json()["thread_id"]
    body = {
        "assistant_id": "tsd",
        "input": {"question": f"{QUESTION} ({number})"},
        "context": {"model": "openai:any", "base_url": model, "max_depth": 2},
        "stream_mode": ["custom"],
        "stream_subgraphs": True,
        "on_disconnect": "continue",
    }
    run_id, first = "", 0.0
    with client.stream("POST", f"/threads/{thread}/runs/stream", json=body) as answer:
        lines = answer.iter_lines()
        for line in lines:
            if line.startswith("data: {") and '"kind":"began"' in line:
                first = time.time()
                run_id = json.loads(line[6:])["run_id"]
                break
        with watched(client, f"/debates/{run_id}", many, reads):
            for _ in lines:
                pass
    record = client.get(f"/debates/{run_id}").json()
    assert record["status"] == "answered", record["notices"]
    return record["usage"]["wall_s"], first


@contextmanager
def watched(client: httpx.Client, path: str, many: int, reads: bool) -> Iterator[None]:
    """Let so many clients follow a run."""
    while many and client.get(path).status_code == 404:
        time.sleep(0.02)
    where = urlsplit(str(client.base_url))
    sockets, done = [], threading.Event()
    chosen = selectors.DefaultSelector()
    for _ in range(many):
        one = socket.create_connection((where.hostname or "", where.port or 0))
        one.sendall(f"GET {path}/events HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
        sockets.append(one)
        chosen.register(one, selectors.EVENT_READ)

    def read() -> None:
        while not done.is_set() and chosen.get_map():
            for key, _ in chosen.select(0.2):
                if not key.fileobj.recv(1 << 20):
                    chosen.unregister(key.fileobj)

    thread = threading.Thread(target=read)
    if reads:
        thread.start()
    yield
    done.set()
    if reads:
        thread.join()
    for one in sockets:
        one.close()
