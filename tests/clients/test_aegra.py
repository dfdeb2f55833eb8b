"""Two workers of a real Aegra share a queue; one is killed in the middle of its debates."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from tests.browser import chromium
from tests.clients.databases import postgres, redis
from tests.clients.test_shared_server import BODIES, OURS
from tests.endpoint import ROOT, LocalEndpoint
from tests.recorder import recorder
from tests.server.test_langgraph_dev import COWS
from tests.servers import PORT, RunningServer, run_server
from tests.waiting import PATIENCE_S, wait_until
from tests.web.test_acting import begin, ended

pytestmark = pytest.mark.clients
PROJECT_FILE = ROOT / "deploy" / "aegra" / "aegra.json"
PYTHON = ROOT / ".venv-aegra" / "bin" / "python"
JUDGE_SAYS_B = [{"match": "You judge a debate", "set": {"label": "B", "answer": "meat"}}]
KEYS = {"ann": "the-key-of-ann-here", "bob": "the-key-of-bob-here"}
DEBATES = 60
CALLS_AT_ONCE = 20
"""Calls to the model that one worker has under way."""
UNCACHED = {"DIALECTREE_CACHE": "false"}
QUICK_LEASES = {
    "LEASE_DURATION_SECONDS": "10",
    "HEARTBEAT_INTERVAL_SECONDS": "3",
    "REAPER_INTERVAL_SECONDS": "3",
}


@contextmanager
def worker(folder: Path, environment: dict[str, str]) -> Iterator[RunningServer]:
    """Run a worker of Aegra until the block ends."""
    if not PYTHON.exists():
        pytest.fail(f"{PYTHON} is missing: make .venv-aegra/.installed")
    words = [str(PYTHON), "-m", "uvicorn", "aegra_api.main:app", "--port", PORT]
    log = Path(tempfile.mkstemp(".log", "worker-", folder)[1])
    with run_server(words, log, variables=environment, cwd=folder) as server:
        yield server


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(latency_ms=1000, rules=JUDGE_SAYS_B) as started:
        yield started


@pytest.fixture
def workers(endpoint: LocalEndpoint, tmp_path: Path) -> Iterator[list[RunningServer]]:
    with databases(tmp_path) as environment:
        environment |= {"OPENAI_BASE_URL": endpoint.url}
        with worker(tmp_path, environment) as first, worker(tmp_path, environment) as second:
            yield [first, second]


def client_of_ann(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"x-api-key": KEYS["ann"]}, timeout=PATIENCE_S)


@contextmanager
def databases(folder: Path) -> Iterator[dict[str, str]]:
    """Run PostgreSQL and Redis; yield the environment of the workers."""
    with postgres() as database, redis() as broker:
        yield {
            "AEGRA_CONFIG": str(PROJECT_FILE),
            "DATABASE_URL": database,
            "REDIS_URL": broker,
            "REDIS_BROKER_ENABLED": "true",
            **QUICK_LEASES,
            "DIALECTREE_CACHE_URL": database,
            "DIALECTREE_SERVER_KEYS": ",".join(f"{name}:{key}" for name, key in KEYS.items()),
            "DIALECTREE_RUNS": str(folder / "runs"),
            "DIALECTREE_MODEL": "openai:any",
            "DIALECTREE_CONCURRENCY": str(CALLS_AT_ONCE),
        }


def test_every_debate_ends_and_no_finished_call_is_paid_again_when_a_worker_is_killed(
    workers: list[RunningServer], endpoint: LocalEndpoint
) -> None:
    survivor, victim = workers
    answered: set[str] = set()

    async def debate(number: int) -> Any:
        question: dict[str, Any] = {"question": f"What do {number} cows eat?", "options": ["plants", "meat"]}
        async with get_client(url=survivor.url, api_key=KEYS["ann"]) as client:
            thread = (await client.threads.create())["thread_id"]
            return await client.runs.wait(thread, "rsd", input=question)

    async def debates() -> list[Any]:
        every = [asyncio.create_task(debate(number)) for number in range(DEBATES)]
        while len(answered) < 2 * DEBATES:
            await asyncio.sleep(0.2)
            answered.update(call["digest"] for call in endpoint.calls())
        await asyncio.sleep(0.5)  # the last answers have reached the workers
        victim.process.kill()
        return await asyncio.gather(*every)

    finished = asyncio.run(debates())
    assert [state["verdict"]["answer"] for state in finished] == ["meat"] * DEBATES
    times = Counter(call["digest"] for call in endpoint.calls())
    assert {times[digest] for digest in answered} == {1}
    repeated = times.total() - len(times)
    assert 0 < repeated <= CALLS_AT_ONCE
    _require_keys(survivor.url)
    _run_the_page(survivor.url)


def _run_the_page(url: str) -> None:
    """Fail unless the program of docs/aegra.md prints an answer."""
    page = (ROOT / "docs" / "aegra.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    program = program.replace("http://127.0.0.1:2026", url).replace('"KEY"', repr(KEYS["ann"]))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("meat\n", 0), done.stderr


def _require_keys(url: str) -> None:
    """Fail unless each client needs a key, and sees nothing of another one."""

    def status(path: str, key: str, **body: object) -> int:
        return httpx.post(url + path, json=body, headers={"x-api-key": key}).status_code

    assert [status("/threads", key) for key in ("", "wrong", KEYS["ann"])] == [401, 401, 200]
    found = httpx.post(f"{url}/threads/search", json={}, headers={"x-api-key": KEYS["bob"]})
    assert found.json() == []
    wrong = {"assistant_id": "rsd", "input": {}, "context": {"gate": -1}}
    assert status("/runs", KEYS["ann"], **wrong) == 422
    assert httpx.get(f"{url}/debates").status_code == 401
    assert httpx.get(f"{url}/debates", headers={"x-api-key": KEYS["ann"]}).status_code == 200


def test_what_a_client_may_not_choose_is_refused_before_it_is_stored(tmp_path: Path) -> None:
    with (
        recorder() as thief,
        databases(tmp_path) as environment,
        worker(tmp_path, {**environment, "OPENAI_API_KEY": ""}) as one,
        httpx.Client(base_url=one.url, headers={"x-api-key": KEYS["ann"]}, timeout=PATIENCE_S) as client,
    ):
        run: dict[str, Any] = {"assistant_id": "rsd", "input": COWS}
        spec = f"openai:any@{thief.url}"
        for settings, line in (
            ({"base_url": thief.url}, "DIALECTREE_ALLOW_URLS"),
            ({"model": spec}, "DIALECTREE_ALLOW_URLS"),
            ({"roles": {"judge": spec}}, "DIALECTREE_ALLOW_URLS"),
            ({"model": "local:/etc/hostname"}, "DIALECTREE_ALLOW_MODELS"),
            ({"concurrency": 1}, "concurrency: the server's operator sets it"),
            ({"gate": -1}, "`gate`: input should be greater than or equal to 0"),
        ):
            made = client.post("/assistants", json={"graph_id": "rsd", "name": line}).json()
            path = f"/assistants/{made['assistant_id']}"
            configured = {"config": {"configurable": settings}}
            client.patch(path, json={"context": settings}).raise_for_status()
            for at, body in (
                ("/runs/wait", {**run, "context": settings}),
                ("/runs/wait", {**run, **configured}),
                ("/runs", {**run, **configured}),
                ("/runs/wait", {**run, "assistant_id": made["assistant_id"]}),
                ("/runs/crons", {**run, **configured, "schedule": "0 0 * * *"}),
                ("/assistants", {"graph_id": "rsd", "context": settings}),
                ("/assistants", {"graph_id": "rsd", **configured}),
            ):
                refused = client.post(at, json=body)
                assert refused.status_code == 422, (at, body, refused.text)
                assert line in refused.text
            client.delete(path).raise_for_status()
        assert client.post("/runs/crons/search", json={}).json() == []
        assert client.get("/debates").json() == []
        assert not thief.sent


def test_the_page_begins_judges_and_contests_debates_there(tmp_path: Path) -> None:
    with (
        LocalEndpoint(rules=JUDGE_SAYS_B) as endpoint,
        databases(tmp_path) as environment,
        worker(tmp_path, {**environment, "OPENAI_BASE_URL": endpoint.url, **UNCACHED}) as one,
        httpx.Client(base_url=one.url, headers={"x-api-key": KEYS["ann"]}, timeout=PATIENCE_S) as client,
    ):
        _judge_on_the_page(one.url)
        run, thread = _begin(client, {"max_calls": 4})
        wait_until(lambda: client.get(f"/debates/{run}").json().get("status") == "partial")
        _go_on(client, thread, {"checkpoint": {"checkpoint_ns": ""}, "context": {"max_calls": 50}})
        _require_whole(client, run, "meat")
        for method, path in OURS:
            at = path.format(run_id=run, other=run, name="rsd", digest="0" * 32)
            body = BODIES.get(path.rpartition("/")[2], {}) if method == "POST" else None
            for key, status in (("", 401), (KEYS["bob"], 404)):
                if "{run_id}" in path or status == 401:
                    refused = client.request(method, at, json=body, headers={"x-api-key": key})
                    assert refused.status_code == status, path


def _judge_on_the_page(url: str) -> None:
    """Begin a debate in a browser, rule in it, contest it, and rule again."""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"{url}/page/?new")
        page.get_by_label("Key").fill(KEYS["ann"])
        page.get_by_role("button", name="Open").click()
        options = {"question": "What do cows eat?", "options": "plants\nmeat"}
        begin(page, "rsd", options, {"judge": "me"})
        page.locator("form.ask").wait_for()
        page.reload()
        page.locator("form.ask").get_by_role("button", name="B: meat", exact=True).click()
        first, turn = ended(page), page.locator(".turn").first
        turn.get_by_text("Contest this").click()
        turn.get_by_role("button", name="Take it out").click()
        page.get_by_role("button", name="Contest", exact=True).click()
        page.locator("form.ask").get_by_role("button", name="A: plants", exact=True).click()
        page.locator(f".contest [title={first!r}]").wait_for()
        assert ended(page) != first
        page.goto(f"{url}/page/")
        page.locator(".runs li").nth(1).wait_for()


def _begin(client: httpx.Client, context: dict[str, Any]) -> tuple[str, str]:
    """Begin a run as the page does, which leaves at its first event; return it and its thread."""
    thread = client.post("/threads", json={}).json()["thread_id"]
    ways = {"stream_mode": ["custom"], "stream_subgraphs": True, "on_disconnect": "continue"}
    body = {"assistant_id": "rsd", "input": COWS, "context": context, **ways}
    with client.stream("POST", f"/threads/{thread}/runs/stream", json=body) as answer:
        line = next(line for line in answer.iter_lines() if '"kind":"began"' in line)
    return json.loads(line.removeprefix("data: "))["run_id"], thread


def _go_on(client: httpx.Client, thread: str, how: dict[str, Any]) -> None:
    body = {"assistant_id": "rsd", "multitask_strategy": "enqueue", **how}
    client.post(f"/threads/{thread}/runs", json=body).raise_for_status()


def _require_whole(client: httpx.Client, run: str, answer: str) -> None:
    """Fail unless a follower hears a run to its end, and it has the answer."""
    wait_until(lambda: client.get(f"/debates/{run}").json()["status"] == "answered")
    told = client.get(f"/debates/{run}/events").text.splitlines()
    events = [json.loads(line[6:]) for line in told if line.startswith("data: ")]
    assert [event["n"] for event in events] == [*range(1, len(events) + 1)]
    assert events[-1]["kind"] == "ended"
    assert client.get(f"/debates/{run}").json()["verdict"]["answer"] == answer


def test_a_server_without_keys_does_not_start(tmp_path: Path) -> None:
    environment = {"AEGRA_CONFIG": str(PROJECT_FILE), "PYTHONPATH": str(PROJECT_FILE.parent)}
    words = [str(PYTHON), "-c", "import served"]
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "DIALECTREE_SERVER_KEYS" in done.stderr
