"""A server of one's own, without keys: forms, presets, pages of runs, restarts, no calls out."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from langgraph_sdk import get_client

import dialectree
from dialectree.protocols.forms import plain
from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import COWS, JUDGE_SAYS_B, serving
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.clients

EVERYBODYS = [
    "model",
    "roles",
    "seed",
    "max_calls",
    "max_tokens",
    "max_seconds",
    "max_cost",
    "prompt_form",
    "language",
    "prompts",
]
OURS = [one for one in load_protocols().values() if one.graph.startswith("dialectree.")]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=JUDGE_SAYS_B) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with serving(folder, config="langgraph.json") as url:
        yield url


def search(server: str, **wanted: Any) -> list[dict[str, Any]]:
    body = {"limit": 100, **wanted}
    found: list[dict[str, Any]] = httpx.post(f"{server}/assistants/search", json=body).json()
    return found


@pytest.mark.parametrize("protocol", OURS, ids=lambda one: str(one.name))
def test_a_form_holds_a_protocols_own_settings_and_its_input(server: str, protocol: Protocol) -> None:
    schemas = httpx.get(f"{server}/assistants/{graph_id(server, protocol.name)}/schemas").json()
    fields: dict[str, Any] = schemas["context_schema"]["properties"]
    hidden = {"embeddings", "reader", "rerank", "retriever", "distractor", "route"}
    own = protocol.own_settings() - {*protocol.only_variants} - hidden
    assert {*fields} == own | {*EVERYBODYS}
    for name, field in fields.items():
        assert field["title"] and field["description"] == plain(field["description"]), name
        assert field["group"] and not {"metavar", "alias"} & {*field}, name
    assert "default" not in fields["model"]
    assert {*fields["roles"]["properties"]} == {*protocol.roles, *protocol.roles.values()} - {""}
    inputs: dict[str, Any] = schemas["input_schema"]
    assert inputs["title"] == protocol.title and "gold" not in inputs["properties"]
    for field in inputs["properties"].values():
        assert field["description"] and "standard input" not in field["description"]


def test_the_route_of_protocols_has_their_declarations_presets_and_forms(server: str) -> None:
    found = {one["name"]: one for one in httpx.get(f"{server}/protocols").json()["protocols"]}
    assert {*found} >= {one.name for one in OURS}
    for protocol in OURS:
        one = found[protocol.name]
        served = httpx.get(f"{server}/assistants/{graph_id(server, protocol.name)}/schemas").json()
        assert one["forms"]["input"] == served["input_schema"]
        form, context = one["forms"]["settings"]["properties"], served["context_schema"]["properties"]
        words = {"title", "description", "common", "choices", "person"}
        plain, shown = (
            {name: {n: x for n, x in field.items() if n not in words} for name, field in fields.items()}
            for fields in (context, form)
        )
        assert shown == plain
        assert one["presets"] == {n: {**given} for n, given in protocol.presets.items()}
        assert (one["view"], one["outcome"]) == (protocol.view, protocol.outcome)
        assert {*one["roles"]} == {*protocol.roles}


def graph_id(server: str, name: str) -> str:
    """The id of the assistant that the server itself makes of a graph."""
    found = search(server, graph_id=name)
    return next(str(one["assistant_id"]) for one in found if not one["context"])


def test_every_preset_is_an_assistant(server: str) -> None:
    offered = {
        one["metadata"]["preset"]: (one["graph_id"], one["context"])
        for one in search(server)
        if "preset" in one["metadata"]
    }
    declared = {
        f"{protocol.name}/{name}": (protocol.name, {**settings})
        for protocol in OURS
        for name, settings in protocol.presets.items()
        if settings
    }
    assert offered == declared and "tsd/safety" in offered
    for protocol in OURS:
        for settings in protocol.presets.values():
            protocol.methods()[protocol.name].configure(settings, warn=pytest.fail)


@pytest.fixture(scope="module")
def run_id(server: str, folder: Path, endpoint: LocalEndpoint) -> str:
    """A run in the server's folder."""
    record = dialectree.run(
        "rsd",
        "Is <b>it</b> so?",
        ["<script>plants</script>", "meat"],
        runs=folder / "runs",
        model="openai:any",
        base_url=endpoint.url,
        cache=False,
    )
    return record.run_id


def test_record_and_reports_of_a_run_are_served(server: str, run_id: str) -> None:
    (line,) = httpx.get(f"{server}/debates").json()
    assert (line["run_id"], line["question"]) == (run_id, "Is <b>it</b> so?")
    record = httpx.get(f"{server}/debates/{run_id}").json()
    assert record["run_id"] == run_id and record["verdict"]["label"] == "B"
    page = httpx.get(f"{server}/debates/{run_id}/report.html")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<b>it</b>" not in page.text and "&lt;b&gt;it" in page.text
    text = httpx.get(f"{server}/debates/{run_id}/report.md")
    assert text.headers["content-type"].startswith("text/markdown") and run_id in text.text


def test_a_run_is_contested_and_the_new_one_lies_beside_it(
    server: str, run_id: str, endpoint: LocalEndpoint
) -> None:
    endpoint.reset()
    path = f"{server}/debates/{run_id}/contest"
    change = {"change": "verdict", "where": "0", "text": "A"}
    done = httpx.post(path, json={"changes": [change]}, timeout=PATIENCE_S)
    assert done.status_code == 201, done.text
    new = done.json()
    assert new["record"]["verdict"]["label"] == "A" and endpoint.stats()["calls"] == 0
    assert httpx.get(f"{server}{done.headers['location']}").json() == new["record"]


def numbers(server: str, path: str) -> Iterator[int]:
    """The numbers of the events of a run as they come, to its end."""
    with httpx.stream("GET", f"{server}{path}", timeout=PATIENCE_S) as followed:
        for line in followed.iter_lines():
            if line.startswith("id: "):
                yield int(line.removeprefix("id: "))


def test_a_run_of_another_process_and_its_contest_are_followed(server: str, folder: Path) -> None:
    with LocalEndpoint(rules=JUDGE_SAYS_B, latency_ms=100) as slow, ThreadPoolExecutor(1) as pool:
        about: Any = {"model": "openai:any", "base_url": slow.url, "runs": folder / "runs"}
        run = pool.submit(dialectree.run, "rsd", "Is it?", ["plants", "meat"], cache=False, **about)
        while httpx.get(f"{server}/debates/last").json()["input"]["question"] != "Is it?":
            pass
        seen: list[int] = []
        for number in numbers(server, "/debates/last/events?after=0"):
            seen.append(number)
            if number == 4:
                assert not run.done()
                break
        name = run.result().run_id
        seen += numbers(server, f"/debates/{name}/events?after=4")
        lines = (folder / "runs" / name / "events.jsonl").read_text().splitlines()
        assert seen == [*range(1, len(lines) + 1)]
        change = {"change": "replace", "where": "0/A1", "text": "Cows eat grass."}
        begun = httpx.post(
            f"{server}/debates/{name}/contest",
            json={"changes": [change], "settings": {"model": "openai:any"}},
            headers={"Prefer": "respond-async"},
        )
        assert begun.status_code == 202
        contest = [*numbers(server, begun.json()["follow"])]
        new = httpx.get(f"{server}/debates/{begun.json()['run_id']}").json()
        assert contest == [*range(1, len(contest) + 1)] and new["status"] != "running"
        before = httpx.get(f"{server}/debates/{new['run_id']}/contested").json()
        assert before["run_id"] == name


CONTESTS: list[tuple[Any, str]] = [
    ({}, "`changes` lists what to change"),
    ({"changes": [{"change": "burn", "where": "0"}]}, "unknown change"),
    ({"changes": [{"change": "drop"}]}, "where: field required"),
    ({"changes": [{"change": "verdict", "where": "9", "text": "A"}]}, "9"),
    ({"changes": [{"change": "drop", "where": "0"}], "settings": {"seed": 1}}, "seed"),
    (
        {
            "changes": [{"change": "drop", "where": "0"}],
            "settings": {"model": "openai:any@http://127.0.0.1:9"},
        },
        "name an address",
    ),
    (
        {"changes": [{"change": "drop", "where": "0"}], "settings": {"concurrency": 9}},
        "a setting of the operator",
    ),
]


@pytest.mark.parametrize(("body", "line"), CONTESTS)
def test_a_contest_that_cannot_be_is_refused(
    server: str, folder: Path, run_id: str, body: Any, line: str
) -> None:
    before = {*(folder / "runs").iterdir()}
    refused = httpx.post(f"{server}/debates/{run_id}/contest", json=body, timeout=PATIENCE_S)
    assert refused.status_code == 422 and line in refused.json()["detail"]
    assert {*(folder / "runs").iterdir()} == before


def test_only_programs_of_this_machine_are_served(server: str, folder: Path) -> None:
    for headers in ({"host": "evil.example"}, {"x-forwarded-for": "192.0.2.1"}):
        for path in ("/debates", "/assistants/search", "/docs"):
            refused = httpx.get(f"{server}{path}", headers=headers)
            assert refused.status_code == 403 and "DIALECTREE_SERVER_KEYS" in refused.text
    assert "only programs of this machine are served" in (folder / "log").read_text()


def test_threads_outlive_a_restart_and_a_kill(
    tmp_path_factory: pytest.TempPathFactory, endpoint: LocalEndpoint
) -> None:
    folder = tmp_path_factory.mktemp("restarted")

    async def debated(url: str, thread: str | None) -> str:
        context: Any = {"model": "openai:any", "base_url": endpoint.url}
        async with get_client(url=url) as client:
            thread = thread or (await client.threads.create())["thread_id"]
            await client.runs.wait(thread, "rsd", input=COWS, context=context)
            return thread

    allowed: Any = {"DIALECTREE_ALLOW_URLS": endpoint.url}
    with serving(folder, **allowed) as url:
        thread = asyncio.run(debated(url, None))
    with serving(folder, kill=True, **allowed) as url:
        asyncio.run(debated(url, thread))
    killed = RunFolder.create(folder / "runs", "killed")
    killed.write_record(RunFolder.all(folder / "runs")[0].record().model_copy(update={"ended": None}))
    with ExitStack() as followers, serving(folder) as url:
        # A server stops although somebody follows a run without an end.
        followers.enter_context(httpx.stream("GET", f"{url}/debates/killed/events"))
        state = httpx.get(f"{url}/threads/{thread}/state").json()
        assert state["values"]["verdict"]["label"] == "B"
        history = httpx.post(f"{url}/threads/{thread}/history", json={"limit": 100}).json()
        assert sum(one["metadata"]["source"] == "input" for one in history) == 2
    assert "missing a" not in (folder / "log").read_text().replace("missing acopy_thread", "")


def test_the_server_calls_nobody(tmp_path_factory: pytest.TempPathFactory, endpoint: LocalEndpoint) -> None:
    """Every way out leads to a port that records who comes."""
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    with socket.create_server(("127.0.0.1", 0)) as out:
        out.settimeout(0)
        proxy = f"http://127.0.0.1:{out.getsockname()[1]}"
        proxies = {name: proxy for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")}
        proxies |= {name.lower(): proxy for name in proxies} | {"NO_PROXY": "127.0.0.1"}
        switches = dict(
            word.split("=")
            for word in makefile.split("server: $(VENV)")[1].split()
            if word.startswith("LANGGRAPH_") and "=" in word
        )
        assert len(switches) == 2
        allowed = {"DIALECTREE_ALLOW_URLS": endpoint.url}
        environment: Any = {**proxies, **switches, **allowed}
        with serving(tmp_path_factory.mktemp("closed"), **environment) as url:
            context = {"model": "openai:any", "base_url": endpoint.url}
            run = {"assistant_id": "rsd", "input": COWS, "context": context}
            assert httpx.post(f"{url}/runs/wait", json=run, timeout=PATIENCE_S).json()["verdict"]
            for process in psutil.Process(os.getpid()).children(recursive=True):
                for one in process.net_connections():
                    assert not one.raddr or one.raddr.ip == "127.0.0.1", one
        with pytest.raises(BlockingIOError):
            out.accept()
