"""The doors that a server adds: an agent that speaks A2A, a graph elsewhere, a host's own graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client

import dialectree
from dialectree.text import figure
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import serving

pytestmark = pytest.mark.clients

CLAIM = "Cows eat grass."
CALLS = 5


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=3) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, endpoint: LocalEndpoint) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, DIALECTREE_MODEL="openai:any", OPENAI_BASE_URL=endpoint.url) as url:
        yield url


async def a2a(server: str, *texts: str) -> str:
    pytest.importorskip("a2a")
    from a2a.client import ClientConfig, create_client
    from a2a.types import Message, Part, Role, SendMessageRequest

    async with get_client(url=server) as client:
        (assistant,) = await client.assistants.search(graph_id="art_chat")
    address, context, said = f"{server}/a2a/{assistant['assistant_id']}", "", ""
    async with await create_client(address, ClientConfig(streaming=False)) as agent:
        for number, text in enumerate(texts):
            message = Message(message_id=str(number), role=Role.ROLE_USER, context_id=context)
            message.parts.append(Part(text=text))
            events = agent.send_message(SendMessageRequest(message=message))
            (task,) = [event.task async for event in events]
            context, said = task.context_id, task.artifacts[0].parts[0].text
    return str(said)


async def remote_graph(server: str, *texts: str) -> str:
    async with get_client(url=server) as client:
        builder = StateGraph(MessagesState)
        builder.add_node("debate", RemoteGraph("art_chat", client=client))
        builder.add_edge(START, "debate")
        builder.add_edge("debate", END)
        graph, messages = builder.compile(), list[Any]()
        for text in texts:
            state = await graph.ainvoke({"messages": [*messages, HumanMessage(text)]})
            messages = state["messages"]
    return str(messages[-1].text)


Door = Callable[..., Any]
doors = pytest.mark.parametrize("door", [a2a, remote_graph])


@doors
def test_the_same_claim_has_the_same_verdict(door: Door, server: str, endpoint: LocalEndpoint) -> None:
    model = f"openai:any@{endpoint.url}"
    wanted = dialectree.verify(CLAIM, model=model, cache=False).verdict.probability
    endpoint.reset()
    assert f"P(claim) {figure(wanted)}" in asyncio.run(door(server, CLAIM))
    assert endpoint.stats()["calls"] == CALLS


@doors
def test_a_conversation_goes_on_about_its_own_run(door: Door, server: str, endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    assert "0.1" in asyncio.run(door(server, CLAIM, "why?"))
    assert "0.1" in asyncio.run(door(server, CLAIM, "contest drop 0.1"))
    assert endpoint.stats()["calls"] == 2 * CALLS


@doors
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Is it so?", "question"),
        ("why?", "no answer in this thread"),
        ("contest drop 0.1", "no answer in this thread"),
    ],
)
def test_a_wrong_message_is_answered_without_a_call(
    door: Door, text: str, named: str, server: str, endpoint: LocalEndpoint
) -> None:
    endpoint.reset()
    assert named in asyncio.run(door(server, text))
    assert endpoint.stats()["calls"] == 0
