"""The graphs behind a real ``langgraph dev``, asked through its own client."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from benchmarks.endpoint import LocalEndpoint
from tests.rules import FOUR_CHILDREN

ROOT = Path(__file__).resolve().parent.parent.parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port, folder = _free_port(), tmp_path_factory.mktemp("server")
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser"]
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [*command, "--no-reload", "--port", str(port), "--config", str(ROOT / "langgraph.json")],
        cwd=folder,
        stdout=log,
        stderr=log,
        env={**os.environ, "DIALECTREE_CACHE": "false"},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(url, process, folder / "log")
        yield url
    finally:
        process.terminate()
        process.wait(20)
        log.close()


def _wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and process.poll() is None:
        try:
            if httpx.get(f"{url}/ok", timeout=1).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"langgraph dev did not come up:\n{log.read_text()[-2000:]}")


def test_tsd_answers_and_tells_what_happens(server: str) -> None:
    async def debate(url: str) -> tuple[list[Any], dict[str, Any]]:
        context: Any = {"model": "openai:any", "base_url": url, "max_depth": 1}
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            stream = client.runs.stream(
                thread,
                "tsd",
                input={"question": "Which language do all people in Europe speak?"},
                context=context,
                stream_mode=["custom"],
                stream_subgraphs=True,
            )
            told = [part.data async for part in stream if part.event.startswith("custom")]
            state: Any = await client.threads.get_state(thread)
        return told, state["values"]

    with LocalEndpoint(rules=FOUR_CHILDREN) as endpoint:
        told, values = asyncio.run(debate(endpoint.url))
        assert endpoint.stats()["calls"] == 37
    assert 0 <= values["verdict"]["confidence"] <= 1
    assert values["verdict"]["answer"]
    spoken = [event for event in told if event["kind"] == "spoke"]
    assert len(spoken) == 37
    assert {event["node"] for event in spoken} == {"0", "0.0", "0.1", "0.2", "0.3"}


def test_schemas_show_a_question_a_verdict_and_the_settings(server: str) -> None:
    async def schemas() -> Any:
        async with get_client(url=server) as client:
            assistant = (await client.assistants.search(graph_id="tsd"))[0]["assistant_id"]
            return await client.assistants.get_schemas(assistant)

    found = asyncio.run(schemas())
    assert list(found["input_schema"]["properties"]) == ["question"]
    assert list(found["output_schema"]["properties"]) == ["verdict"]
    assert "max_depth" in found["context_schema"]["properties"]


def test_a_setting_out_of_range_is_an_error_that_names_it(server: str) -> None:
    async def debate() -> str:
        async with get_client(url=server) as client:
            result = await client.runs.wait(
                None,
                "tsd",
                input={"question": "Is it so?"},
                context={"max_depth": -1},
                raise_error=False,
            )
        return str(result)

    assert "max_depth" in asyncio.run(debate())
