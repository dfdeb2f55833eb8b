"""The MCP server: what its tools take, what they return, and what they refuse.

Client and server stand in one process; tests/clients/test_mcp.py starts them for real.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

import dialectree
from dialectree.interfaces.background import BackgroundDebates
from dialectree.interfaces.mcp import serving
from dialectree.interfaces.mcp.server import DebateServer
from dialectree.protocols import protocol
from dialectree.protocols.options import get_option_details
from dialectree.records.folder import RunFolder
from tests.cli.commands import command, refused
from tests.endpoint import LocalEndpoint
from tests.examples.conftest import installed
from tests.grounding import written

__all__ = ["installed"]
CLAIM = {"claim": "Cows eat grass."}
COWS = {"question": "What do cows eat?", "options": ["grass", "meat"]}
PAPER = "# Cows\n\n## Abstract\n\nCows eat grass.\n\n## Introduction\n\nThey eat it all day.\n"
RUNS = Path("runs")
READ_ONLY = {"estimate", "status", "result", "runs", "show"}

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as served:
        yield served


@pytest.fixture(scope="module")
def slow_endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(latency_ms=500) as served:
        yield served


@asynccontextmanager
async def client(
    endpoint: LocalEndpoint, *, papers: Path | None = None, wait: float = 60, **own: Any
) -> AsyncIterator[Client]:
    """Connect a client to a server of its own, whose owner chose the settings ``own``."""
    settings = {"model": "openai:any", "base_url": endpoint.url, "cache": False, **own}
    debates = BackgroundDebates(RUNS, owner="", files_from=[papers] if papers else [], host=settings)
    server = DebateServer(debates, [*protocol.load_protocols().values()], wait)
    try:
        async with Client(server.sdk) as connected:
            yield connected
    finally:
        await debates.break_off()


def content(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content, which the client has checked against the tool's schema."""
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


def words(result: CallToolResult) -> str:
    [block] = result.content
    assert block.type == "text"
    return block.text


async def error(connected: Client, tool: str, values: dict[str, Any]) -> str:
    """Return the line with which a tool refuses a call."""
    result = await connected.call_tool(tool, values)
    assert result.is_error and "\n" not in words(result)
    return words(result)


def test_every_installed_protocol_is_a_tool_made_of_its_declaration(endpoint: LocalEndpoint) -> None:
    async def listed() -> dict[str, Any]:
        async with client(endpoint) as connected:
            return {tool.name: tool for tool in (await connected.list_tools()).tools}

    tools = asyncio.run(listed())
    assert {"answer", "decide", "verify", "compare", "majority_debate", "council"} <= tools.keys()
    for declared in protocol.load_protocols().values():
        tool = tools.pop(declared.command or declared.name)
        takes, fields = tool.input_schema["properties"], declared.input.model_fields
        hidden = {
            name
            for name in fields
            if get_option_details(declared.input, name).get("evaluation_only")
            or get_option_details(declared.input, name).get("hidden")
        }
        assert fields.keys() - hidden <= takes.keys()
        assert not takes.keys() & (hidden | {"model", "roles", "base_url", "ask", "judge"})
        if declared.variants:
            assert takes["method"]["enum"] == [*declared.methods()]
        assert {name for name, field in fields.items() if field.is_required()} == {
            *tool.input_schema["required"]
        }
        assert all("standard input" not in field["description"] for field in takes.values())
        assert declared.title in tool.description
        assert tool.annotations.read_only_hint is tool.annotations.destructive_hint is False
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == READ_ONLY
    assert {*tools} == READ_ONLY | {"submit", "cancel", "resume", "contest"}


def test_a_debate_returns_its_verdict_and_tells_of_its_calls(endpoint: LocalEndpoint) -> None:
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))
        assert message and message.startswith("run ")

    async def debated() -> CallToolResult:
        async with client(endpoint) as connected:
            return await connected.call_tool("verify", CLAIM, progress_callback=hear)

    result = asyncio.run(debated())
    verdict = content(result)
    assert verdict["status"] == "answered" and verdict["calls"] == 5
    assert verdict["probability"] == verdict["confidence"]
    assert [*verdict["rests_on"]] == ["0.0", "0.1"] and all(verdict["rests_on"].values())
    assert "P(claim)" in words(result) and verdict["run_id"] in words(result)
    assert (RUNS / verdict["run_id"] / "report.html").is_file()
    assert told[0] == (0, 5) and told == sorted({*told})


@pytest.mark.parametrize(
    ("tool", "values"),
    [
        ("answer", {"question": "What do cows eat?", "max_depth": 0}),
        ("decide", COWS),
        ("decide", {**COWS, "method": "judge_alone"}),
        ("majority_debate", {**COWS, "rounds": 1}),
        ("council", {"question": "What do cows eat?"}),
    ],
)
def test_what_a_tool_returns_and_shows_fits_its_schema(
    tool: str, values: dict[str, Any], endpoint: LocalEndpoint
) -> None:
    async def debated() -> None:
        async with client(endpoint) as connected:
            verdict = content(await connected.call_tool(tool, values))
            assert verdict["status"] in ("answered", "unresolved") and verdict["basis"]
            shown = content(await connected.call_tool("show", {"run_id": verdict["run_id"]}))
            assert shown["nodes"] and values["question"] in shown["report"]
            node = {"run_id": verdict["run_id"], "node": shown["nodes"][0]}
            assert content(await connected.call_tool("show", node))["node"]["transcript"]
            [row] = content(await connected.call_tool("runs", {}))["runs"]
            assert row["run_id"] == verdict["run_id"]
            call = {"tool": tool, "arguments": values}
            expected = content(await connected.call_tool("estimate", call))
            assert expected["calls"]["least"] <= verdict["calls"] <= expected["calls"]["most"]

    asyncio.run(debated())


@pytest.mark.parametrize(
    ("tool", "values", "line"),
    [
        ("verify", {}, "claim: field required"),
        ("verify", {**CLAIM, "dept": 2}, "dept: there is no such setting; did you mean depth?"),
        ("verify", {**CLAIM, "depth": 99}, "depth: input should be less than or equal to 50"),
        ("verify", {**CLAIM, "base_url": "http://127.0.0.1:1"}, "base_url: there is no such"),
        ("verify", {**CLAIM, "method": "direct", "depth": 2}, "`depth`: direct has no such setting"),
        ("verify", {"claim": " "}, "the claim is empty"),
        ("decide", {**COWS, "gold": "A"}, "gold: there is no such setting"),
        ("decide", {**COWS, "options": ["grass"]}, "one option is no choice"),
        ("submit", {"tool": "show", "arguments": {}}, "tool: no debate tool 'show'; use one of "),
        ("submit", {"tool": "verify", "arguments": {}}, "claim: field required"),
        ("show", {"run_id": "20260101"}, "there is no run '20260101' of yours here"),
        ("show", {"run_id": "../elsewhere"}, "run_id: string should match"),
        ("show", {"run_id": "elsewhere"}, "there is no run 'elsewhere'"),
        ("contest", {"run_id": "last", "changes": []}, "changes: list should have at least 1"),
        ("judge", {}, "no tool 'judge'; use one of "),
    ],
)
def test_a_wrong_call_is_an_error_of_the_tool_in_one_line(
    tool: str, values: dict[str, Any], line: str, endpoint: LocalEndpoint
) -> None:
    command("demo", "art")
    Path("elsewhere").mkdir()
    Path("elsewhere/run.json").write_bytes(next(RUNS.glob("*/run.json")).read_bytes())

    async def refusal() -> str:
        async with client(endpoint) as connected:
            return await error(connected, tool, values)

    before = endpoint.stats()["calls"]
    assert line in asyncio.run(refusal())
    assert endpoint.stats()["calls"] == before


def test_papers_come_from_the_allowed_folders_alone(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for name in ("a.md", "b.md"):
        (papers / name).write_text(f"{PAPER}\nThis is {name}.\n")
    (tmp_path / "secret.md").write_text(PAPER)
    (papers / "link.md").symlink_to(tmp_path / "secret.md")

    async def estimated(folder: Path | None, name: str) -> CallToolResult:
        async with client(endpoint, papers=folder) as connected:
            values = {"paper_a": "a.md", "paper_b": name, "topic": "cows", "method": "single_stage"}
            call = {"tool": "compare", "arguments": values}
            return await connected.call_tool("estimate", call)

    for name in ("../secret.md", str(tmp_path / "secret.md"), "link.md", "secret.md"):
        refusal = asyncio.run(estimated(papers, name))
        assert refusal.is_error and name in words(refusal)
    assert asyncio.run(estimated(None, "b.md")).is_error
    for name in ("b.md", str(papers / "b.md")):
        assert content(asyncio.run(estimated(papers, name)))["calls"]["most"] == 1


def test_sources_come_from_the_allowed_folders_alone_and_so_do_added_ones(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    notes = written(tmp_path / "notes" / "cows").parent
    (tmp_path / "secret.md").write_text("A secret. Cows eat grass.")
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    (notes / "cows" / "way").symlink_to(tmp_path)

    async def called(folder: Path | None, tool: str, values: dict[str, Any]) -> CallToolResult:
        async with client(endpoint, papers=folder) as connected:
            return await connected.call_tool(tool, values)

    def decided(folder: Path | None, *sources: Any) -> CallToolResult:
        return asyncio.run(called(folder, "decide", {**COWS, "sources": [*sources]}))

    for name in ("../secret.md", str(tmp_path), "link.md", "cows/way", "cows/way/secret.md"):
        refusal = decided(notes, "cows", name)
        why = f"{name}: no such file" if "link" in name or "way" in name else "only files in"
        assert refusal.is_error and why in words(refusal)
    assert decided(None, "cows").is_error and decided(None, str(notes)).is_error
    assert "no such file" in words(decided(notes, "nowhere"))
    assert "no such file" in words(decided(notes, "x" * 5000))
    text = {"name": "hay.md", "text": "Cows eat hay. They eat grass."}
    run = content(decided(notes, "cows", text))["run_id"]
    listed: Any = dialectree.load(run).input["sources"]
    assert [one["name"] for one in listed] == ["clay.md", "cows.txt", "tides.md", "hay.md"]
    assert "secret" not in str(dialectree.load(run).tree)
    stolen = {**listed[0], "id": "s1", "path": str(tmp_path / "secret.md")}
    again: Any = dialectree.load(content(decided(None, stolen))["run_id"]).input["sources"]
    assert again == [{name: one for name, one in stolen.items() if name != "path"}]

    def added(folder: Path | None, file: str, **more: str) -> CallToolResult:
        change = {"change": "add_source", "where": file, **more}
        return asyncio.run(called(folder, "contest", {"run_id": run, "changes": [change]}))

    for file in ("../secret.md", "link.md", str(tmp_path / "secret.md")):
        assert added(notes, file).is_error
    assert added(None, str(notes / "cows" / "clay.md")).is_error
    (notes / "more.md").write_text("More. Cows eat more.")
    new = content(added(notes, "more.md"))["run_id"]
    contest = dialectree.load(new).contest
    assert contest is not None and contest.changes == ["s5 (more.md) added"]
    assert not added(None, "said.md", text="Cows eat grass and hay.").is_error


def test_a_long_debate_goes_on_behind_a_handle(slow_endpoint: LocalEndpoint) -> None:
    async def debated() -> None:
        async with client(slow_endpoint, wait=0.1) as connected:
            handle = content(await connected.call_tool("verify", CLAIM))
            run = {"run_id": handle["run_id"]}
            assert handle["status"] == "running" and "result" in handle["next"]
            assert content(await connected.call_tool("status", run))["expected_calls"] == 5
            state = content(await connected.call_tool("result", run))
            assert state["status"] == "running"
            while state["status"] == "running":
                state = content(await connected.call_tool("result", run))
            assert state["status"] == "answered" and "probability" in state

    asyncio.run(debated())


def test_a_cancelled_debate_goes_on_without_paying_twice(slow_endpoint: LocalEndpoint) -> None:
    slow_endpoint.reset()

    async def debated() -> None:
        async with client(slow_endpoint) as connected:
            call = {"tool": "verify", "arguments": CLAIM}
            run = {"run_id": content(await connected.call_tool("submit", call))["run_id"]}
            while not content(await connected.call_tool("status", run))["calls"]:
                await asyncio.sleep(0.05)
            state = content(await connected.call_tool("cancel", run))
            assert state["status"] == "partial" and state["calls"]
        async with client(slow_endpoint) as another:
            assert content(await another.call_tool("result", run))["status"] == "partial"
            state = content(await another.call_tool("resume", run))
            assert state["status"] == "answered" and state["calls"] == 5

    asyncio.run(debated())
    assert slow_endpoint.stats()["calls"] == 5


def test_a_run_that_another_process_is_working_on_is_running(endpoint: LocalEndpoint) -> None:
    command("demo", "art")
    [path] = RUNS.iterdir()
    folder = RunFolder(path)
    folder.write_record(folder.record().model_copy(update={"status": "running"}))

    async def status() -> str:
        async with client(endpoint) as connected:
            state = content(await connected.call_tool("status", {"run_id": path.name}))
            return str(state["status"])

    with folder.lock():
        assert asyncio.run(status()) == "running"
    assert asyncio.run(status()) == "partial"  # nobody is


def test_a_client_that_gives_its_call_up_breaks_the_debate_off(slow_endpoint: LocalEndpoint) -> None:
    async def debated() -> None:
        async with client(slow_endpoint) as connected:
            call = asyncio.create_task(connected.call_tool("verify", CLAIM))
            while not content(await connected.call_tool("runs", {}))["runs"]:
                await asyncio.sleep(0.05)
            call.cancel()
            await asyncio.wait([call])
            while (state := content(await connected.call_tool("status", {"run_id": "last"})))[
                "status"
            ] == "running":
                await asyncio.sleep(0.05)
            assert state["status"] == "partial"

    asyncio.run(debated())


def test_a_contest_is_a_new_run_that_says_what_moved(endpoint: LocalEndpoint) -> None:
    async def contested() -> None:
        async with client(endpoint) as connected:
            before = content(await connected.call_tool("verify", CLAIM))
            change = {"change": "drop", "where": "0.0"}
            wishes = {"run_id": before["run_id"], "changes": [change]}
            after = content(await connected.call_tool("contest", wishes))
            assert after["contests"] == before["run_id"] != after["run_id"]
            assert after["probability"] < before["probability"]
            assert "0.0" in after["moved"] and after["calls"] == 0
            wishes["changes"] = [{"change": "replace", "where": "0/nothing", "text": "No."}]
            assert await error(connected, "contest", wishes)

    asyncio.run(contested())


def test_the_owner_bounds_what_a_client_may_spend(endpoint: LocalEndpoint) -> None:
    async def debated() -> str:
        async with client(endpoint, max_calls=2) as connected:
            return await error(connected, "verify", {**CLAIM, "max_calls": 100})

    line = asyncio.run(debated())
    assert "`max_calls` 2 is used up" in line and "is partial" in line and "`resume`" in line


def test_models_of_roles_serve_the_protocols_that_have_them(endpoint: LocalEndpoint) -> None:
    roles = {"scorer": f"openai:other@{endpoint.url}", "moderator": "openai:never"}

    async def debated() -> None:
        async with client(endpoint, roles=roles) as connected:
            content(await connected.call_tool("verify", CLAIM))
            content(await connected.call_tool("decide", COWS))

    endpoint.reset()
    asyncio.run(debated())
    assert {"other", "any"} == {call["model"] for call in endpoint.calls()}


def test_a_note_says_that_the_embedded_model_took_part(endpoint: LocalEndpoint) -> None:
    command("demo", "art")
    [folder] = RUNS.iterdir()
    record = (folder / "run.json").read_text()
    (folder / "run.json").write_text(record.replace('"demonstration": false', '"demonstration": true'))

    async def result() -> dict[str, Any]:
        async with client(endpoint) as connected:
            return content(await connected.call_tool("result", {"run_id": "last"}))

    assert any("no better than chance" in note for note in asyncio.run(result())["notes"])


@pytest.mark.parametrize(("host", "named"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_the_address_of_a_server_can_be_clicked(host: str, named: str) -> None:
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this system has no IPv6")
    with serving.listen(host, 0) as listening:
        port = listening.getsockname()[1]
        assert serving.address(listening) == f"http://{named}:{port}/mcp"


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--papers", "nowhere"], "--papers nowhere: there is no such folder"),
        (["--http", "--host", "0.0.0.0"], "give them a key in DIALECTREE_MCP_KEY"),
        (["--model", "gpt"], "--model"),
        (["--max-calls", "0"], "--max-calls"),
    ],
)
def test_a_wrong_start_is_refused_in_one_line(flags: list[str], line: str, endpoint: LocalEndpoint) -> None:
    model = [] if "--model" in flags else ["--model", "openai:any", "--base-url", endpoint.url]
    refused(command("mcp", *model, *flags), line)
