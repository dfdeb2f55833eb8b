"""A tool and a gate in an agent behind ``langgraph dev``, which allows no blocking call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph_sdk import get_client

from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import serving

pytestmark = pytest.mark.clients

AGENT = """
from itertools import cycle

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

import dialectree

MODEL = {model!r}
CALL = {{"name": "check", "args": {{"claim": "Fire is hot."}}, "id": "1"}}


class Talker(GenericFakeChatModel):
    def bind_tools(self, *args, **kwargs):
        return self


said = cycle([AIMessage("", tool_calls=[CALL]), AIMessage("Fire is hot.")])
check = dialectree.as_tool("art", name="check", model=MODEL, runs={runs!r})
gate = dialectree.ClaimGate(min=0, model=MODEL, runs={runs!r})
talker = Talker(messages=said, disable_streaming=True)
graph = create_agent(talker, tools=[check], middleware=[gate])
"""
RULE = {"claims": [{"lines": ["1"], "claim": "Fire is hot."}]}


@pytest.fixture(scope="module", params=["kept", None])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    with LocalEndpoint(rules=[{"match": "List the claims", "set": RULE}]) as endpoint:
        program = AGENT.format(model=f"openai:any@{endpoint.url}", runs=request.param)
        (folder / "agent.py").write_text(program)
        config = {"dependencies": ["."], "graphs": {"agent": "./agent.py:graph"}}
        (folder / "langgraph.json").write_text(json.dumps(config))
        with serving(folder, config=folder / "langgraph.json") as url:
            yield url


def test_an_agent_debates_and_verifies_in_the_event_loop_of_the_server(served: str) -> None:
    async def ask() -> tuple[dict[str, Any], list[Any]]:
        given: Any = {"messages": [("user", "What is hot?")]}
        custom: list[Any] = []
        values: Any = {}
        modes: Any = ["values", "custom"]
        async with get_client(url=served) as client:
            async for part in client.runs.stream(None, "agent", input=given, stream_mode=modes):
                assert part.event != "error", part.data
                if part.event == "custom":
                    custom.append(part.data)
                elif part.event == "values":
                    values = part.data
        return values, custom

    values, events = asyncio.run(ask())
    _, _, checked, answer = values["messages"]
    assert checked["status"] == "success" and checked["artifact"]["status"] == "answered"
    assert answer["content"] == "Fire is hot." and len(values["claim_findings"]) == 1
    runs = {checked["artifact"]["run_id"], values["claim_findings"][0]["run"]}
    assert {event["run_id"] for event in events} == runs and len(runs) == 2
