"""``dialectree mcp`` as its clients start it and reach it: over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from tests.endpoint import LocalEndpoint
from tests.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.clients

CLAIM = {"claim": "Cows eat grass."}
SUBMITTED = {"tool": "verify", "arguments": CLAIM}
KEY = "a-key-of-this-test"
HELLO: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(latency_ms=300) as served:
        yield served


def words(endpoint: LocalEndpoint, *more: str) -> list[str]:
    """Return the command of a server whose model is the endpoint's."""
    command = [sys.executable, "-m", "dialectree", "mcp", "--model", "openai:any"]
    return [*command, "--base-url", endpoint.url, "--no-cache", *more]


def content(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


def over_stdio(
    endpoint: LocalEndpoint, use: Callable[[Client], Awaitable[None]], *more: str, mode: str = "auto"
) -> None:
    """Let a client start a server, and ``use`` it."""
    program, *arguments = words(endpoint, *more)
    server = StdioServerParameters(command=program, args=arguments, cwd=Path.cwd(), env={**os.environ})

    async def used() -> None:
        async with Client(server, mode=mode) as connected:
            await use(connected)

    asyncio.run(used())


@contextmanager
def over_http(endpoint: LocalEndpoint, *more: str, key: str = "") -> Iterator[str]:
    """Start a server over HTTP on a free port, and yield its address."""
    environment = {**os.environ, **({"DIALECTREE_MCP_KEY": key} if key else {})}
    command = words(endpoint, "--http", "--port", "0", *more)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "MCP server: http://" in line, line
            yield line.split()[3]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 130


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_starts_the_server_and_gets_a_verdict(mode: str, endpoint: LocalEndpoint) -> None:
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def use(client: Client) -> None:
        assert {"verify", "decide"} <= {tool.name for tool in (await client.list_tools()).tools}
        verdict = content(await client.call_tool("verify", CLAIM, progress_callback=hear))
        assert verdict["status"] == "answered" and 0 <= verdict["probability"] <= 1
        assert told and all(verdict["run_id"] in line for line in told)

    over_stdio(endpoint, use, mode=mode)


def test_a_debate_outlives_its_server(endpoint: LocalEndpoint) -> None:
    """The server ends with the client; the next one goes on with the debate."""
    endpoint.reset()
    run = {"run_id": ""}

    async def begin(client: Client) -> None:
        handle = content(await client.call_tool("verify", CLAIM))
        assert handle["status"] == "running" and "`result`" in handle["next"]
        run["run_id"] = handle["run_id"]
        while content(await client.call_tool("status", run))["calls"] < 2:
            await asyncio.sleep(0.05)

    async def go_on(client: Client) -> None:
        assert content(await client.call_tool("result", run))["status"] == "partial"
        assert content(await client.call_tool("resume", run))["status"] == "answered"
        assert content(await client.call_tool("status", run))["probability"] <= 1
        wishes = {**run, "changes": [{"change": "drop", "where": "0.1"}]}
        contested = content(await client.call_tool("contest", wishes))
        assert contested["contests"] == run["run_id"] and contested["moved"]

    over_stdio(endpoint, begin, "--wait", "0")
    over_stdio(endpoint, go_on)
    assert endpoint.stats()["calls"] == 5  # none was made twice


@pytest.mark.parametrize(
    ("end", "status"), [("eof", 0), (signal.SIGINT, 130), (signal.SIGTERM, 130), ("kill", -9)]
)
def test_stdout_has_the_protocol_alone_and_the_end_leaves_a_run_to_resume(
    end: Any, status: int, endpoint: LocalEndpoint
) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    call = {"id": 2, "method": "tools/call", "params": {"name": "verify", "arguments": CLAIM}}
    with subprocess.Popen(words(endpoint), stderr=subprocess.DEVNULL, **pipes) as process:
        assert process.stdin is not None and process.stdout is not None
        for message in (*HELLO, call):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        wait_until(lambda: [*Path("runs").glob("*/calls.jsonl")], process=process)
        if end == "eof":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGKILL if end == "kill" else end)
        lines = process.stdout.read().splitlines()
        assert process.wait(PATIENCE_S) == status
    assert lines and all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)

    async def go_on(client: Client) -> None:
        state = content(await client.call_tool("status", {"run_id": "last"}))
        assert state["status"] == "partial"
        state = content(await client.call_tool("resume", {"run_id": "last"}))
        assert state["status"] == "answered" and state["calls"] == 5

    over_stdio(endpoint, go_on)


def test_without_a_model_a_line_says_that_the_embedded_one_speaks() -> None:
    command = [sys.executable, "-m", "dialectree", "mcp"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert "answers at chance" in done.stderr and "dialectree doctor" in done.stderr


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_over_http_share_the_debates_of_a_server(mode: str, endpoint: LocalEndpoint) -> None:
    async def shared(url: str) -> None:
        async with Client(url, mode=mode) as one, Client(url, mode=mode) as other:
            handle = content(await one.call_tool("submit", SUBMITTED))
            run = {"run_id": handle["run_id"]}
            assert content(await other.call_tool("result", run))["status"] == "answered"
            run = {"run_id": content(await one.call_tool("submit", SUBMITTED))["run_id"]}
            assert content(await other.call_tool("cancel", run))["status"] == "partial"

    with over_http(endpoint) as url:
        asyncio.run(shared(url))


def test_a_server_with_a_key_answers_those_who_send_it(endpoint: LocalEndpoint) -> None:
    async def listed(url: str) -> int:
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"})
        async with client, Client(streamable_http_client(url, http_client=client)) as connected:
            return len((await connected.list_tools()).tools)

    with over_http(endpoint, "--host", "0.0.0.0", key=KEY) as url:
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert asyncio.run(listed(url)) > 9
        for header in ({}, {"Authorization": "Bearer another"}, {"Authorization": KEY}):
            refusal = httpx.post(url, json={}, headers=header)
            assert (refusal.status_code, refusal.headers["www-authenticate"]) == (401, "Bearer")
        page = {"Authorization": f"Bearer {KEY}", "Origin": "https://elsewhere.example"}
        assert httpx.post(url, json={}, headers=page).status_code == 403


def test_pages_of_other_sites_reach_no_server_on_loopback(endpoint: LocalEndpoint) -> None:
    with over_http(endpoint) as url:
        origin = {"Origin": "https://elsewhere.example"}
        assert httpx.post(url, json={}, headers=origin).status_code == 403
        rebound = {"Host": "elsewhere.example"}
        assert httpx.post(url, json={}, headers=rebound).status_code == 421


LANGCHAIN = """
import asyncio, json, sys
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main(servers):
    client = MultiServerMCPClient(servers)
    for name in servers:
        tools = {tool.name: tool for tool in await client.get_tools(server_name=name)}
        call = {"type": "tool_call", "id": "1", "name": "verify", "args": {"claim": "It rains."}}
        message = await tools["verify"].ainvoke(call)
        print(json.dumps([message.status, str(message.content), message.artifact]))

asyncio.run(main(json.loads(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def langchain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install LangChain's client, which needs version 1 of the SDK, into a folder of its own."""
    folder = tmp_path_factory.mktemp("langchain")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    subprocess.run([*install, "mcp==1.30.0", "langchain-mcp-adapters==0.3.2"], check=True)
    return folder


def test_langchain_loads_the_tools_and_calls_one(endpoint: LocalEndpoint, langchain: Path) -> None:
    program, *arguments = words(endpoint)
    started = {"command": program, "args": arguments, "cwd": str(Path.cwd()), "env": {**os.environ}}
    with over_http(endpoint) as url:
        servers = {
            "http": {"transport": "streamable_http", "url": url},
            "stdio": {"transport": "stdio", **started},
        }
        done = subprocess.run(
            [sys.executable, "-c", LANGCHAIN, json.dumps(servers)],
            env={**os.environ, "PYTHONPATH": str(langchain)},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    for status, text, artifact in map(json.loads, done.stdout.splitlines()):
        assert status == "success" and "P(claim)" in text
        assert artifact["structured_content"]["status"] == "answered"
