"""The chat of a protocol in the programs of others: servers, agents and chat applications."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph_sdk import get_client
from pydantic import TypeAdapter

from dialectree.interfaces.server.chat import chat_graph
from dialectree.interfaces.server.messages import KEY
from dialectree.protocols.protocol import load
from tests.endpoint import ROOT, LocalEndpoint
from tests.rules import FOUR_CHILDREN
from tests.server.test_langgraph_dev import serving

pytestmark = pytest.mark.clients

QUESTION = "Which language do all people in Europe speak?"
COWS = "What do cows eat?\n- plants\n- meat"
RULES = [*FOUR_CHILDREN, {"match": "You judge a debate", "set": {"label": "B", "answer": "meat"}}]
SPLIT = {"max_depth": 1}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=RULES) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder: Path, endpoint: LocalEndpoint) -> Iterator[str]:
    """Return the address of a server whose model the environment names."""
    with serving(folder, DIALECTREE_MODEL="openai:any", OPENAI_BASE_URL=endpoint.url) as url:
        yield url


@pytest.fixture
def environment(endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the model of the debates of this process."""
    monkeypatch.setenv("DIALECTREE_MODEL", "openai:any")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("DIALECTREE_CACHE", "false")


def test_a_chat_application_gets_one_message_a_turn_and_the_thread_goes_on(
    server: str, endpoint: LocalEndpoint, folder: Path
) -> None:
    async def turns() -> None:
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]

            async def say(text: str) -> tuple[list[Any], list[Any], int]:
                """Return the messages and the events of a turn, and the calls to the model."""
                endpoint.reset()
                said: Any = {"messages": [{"type": "human", "content": text}]}
                stream = client.runs.stream(
                    thread,
                    "tsd_chat",
                    input=said,
                    context=SPLIT,
                    stream_mode=["messages-tuple", "custom"],
                    stream_subgraphs=True,
                )
                parts = [part async for part in stream]
                messages = [part.data[0] for part in parts if part.event.startswith("messages")]
                events = [part.data for part in parts if part.event.startswith("custom")]
                assert not [part for part in parts if part.event == "error"], parts
                return messages, events, endpoint.stats()["calls"]

            (answer,), events, calls = await say(QUESTION)
            values: Any = (await client.threads.get_state(thread))["values"]
            assert calls == 37 == len([one for one in events if one["kind"] == "spoke"])
            assert f"**{values['verdict']['answer']}**" in answer["content"]
            assert values["run_id"] in answer["content"]
            assert answer["response_metadata"]["dialectree"]["verdict"] == values["verdict"]
            assert {event["run_id"] for event in events} == {values["run_id"]}
            assert (folder / "runs" / values["run_id"] / "run.json").is_file()

            (why,), _, calls = await say("why?")
            assert calls == 0 and "- **0.3** " in why["content"]
            (why,), _, calls = await say("Why 0.1?")
            assert calls == 0 and "0.1/A2" in why["content"]
            (unknown,), _, calls = await say("contest 0.7/A2: Not so.")
            assert calls == 0 and "0.7" in unknown["content"]

            (contested,), events, calls = await say("contest 0.1/A2: Nobody speaks only one.")
            assert 0 < calls < 37
            assert "Contested" in contested["content"]
            after: Any = (await client.threads.get_state(thread))["values"]
            assert after["run_id"] != values["run_id"]
            assert after["run_id"] in contested["content"]
            assert "contested" in {event["kind"] for event in events}
            assert len(after["messages"]) == 10

    asyncio.run(turns())


RESUMED: dict[str, Any] = {
    "agent-chat-ui, respond": {"decisions": [{"type": "respond", "message": "B"}]},
    "agent-chat-ui, edit": {
        "decisions": [{"type": "edit", "edited_action": {"name": "judge", "args": {"answer": "B"}}}]
    },
    "agent-inbox, response": [{"type": "response", "args": "B"}],
    "agent-inbox, edit": [{"type": "edit", "args": {"action": "judge", "args": {"answer": "B"}}}],
    "a text": "B",
}
ANSWERS: dict[str, Any] = {
    **{name: {"command": {"resume": reply}} for name, reply in RESUMED.items()},
    "agent-chat-ui's npm template": {"input": {"messages": [{"type": "human", "content": "B"}]}},
}


@pytest.mark.parametrize("client_name", ANSWERS)
def test_a_person_judges_in_a_chat_by_the_shapes_of_each_client(
    server: str, endpoint: LocalEndpoint, client_name: str
) -> None:
    async def judged() -> tuple[Any, Any]:
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            said: Any = {"messages": [{"role": "user", "content": COWS}]}
            context: Any = {"judge": "me"}
            stopped = await client.runs.wait(thread, "rsd_chat", input=said, context=context)
            return stopped, await client.runs.wait(thread, "rsd_chat", **ANSWERS[client_name])

    endpoint.reset()
    stopped, ruled = asyncio.run(judged())
    assert "Reply with one of: A, B" in stopped["messages"][-1]["content"]
    (stop,) = stopped["__interrupt__"]
    request: Any = TypeAdapter(HITLRequest).validate_python(stop["value"], extra="forbid")
    (review,) = request["review_configs"]
    assert review["args_schema"]["properties"]["answer"]["enum"] == ["A", "B", ""]
    assert request["action_requests"][0]["name"] == review["action_name"] == "judge"
    assert "B: meat" in request["action_requests"][0]["args"]["transcript"]
    assert "**B: meat**" in ruled["messages"][-1]["content"]
    assert endpoint.stats()["calls"] == 8


def test_what_is_missing_is_asked_for_before_any_call(server: str, endpoint: LocalEndpoint) -> None:
    async def asked() -> Any:
        async with get_client(url=server) as client:
            said: Any = {"messages": [{"role": "user", "content": "how memory is saved"}]}
            return await client.runs.wait(None, "tod_chat", input=said)

    endpoint.reset()
    assert "- **paper a**: Attach its file." in asyncio.run(asked())["messages"][-1]["content"]
    assert endpoint.stats()["calls"] == 0


class Scripted(GenericFakeChatModel):
    """A model that calls the tools which its script names."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def scripted(*messages: AIMessage) -> Scripted:
    return Scripted(messages=iter(messages))


def calling(tool: str, **args: Any) -> AIMessage:
    call = {"name": tool, "args": args, "id": f"call-{tool}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


@pytest.mark.usefixtures("environment")
def test_a_deep_agent_has_a_debate_as_its_sub_agent() -> None:
    about = {"name": "debate", "description": "Decides.", "runnable": chat_graph("rsd")}
    task = calling("task", description=COWS, subagent_type="debate")
    agent = load("deepagents:create_deep_agent")(
        scripted(task, AIMessage("They eat meat.")), subagents=[about]
    )

    async def asked() -> list[Any]:
        ended = await agent.ainvoke({"messages": [HumanMessage("What do cows eat?")]})
        return list(ended["messages"])

    *_, told, answer = asyncio.run(asked())
    assert told.type == "tool" and "**B: meat**" in told.text
    assert answer.text == "They eat meat."


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")  # langgraph-supervisor's own
@pytest.mark.usefixtures("environment")
def test_a_supervisor_hands_a_question_over_and_asks_why(endpoint: LocalEndpoint) -> None:
    path = ROOT / "examples" / "supervisor" / "supervisor.py"
    spec = importlib.util.spec_from_file_location("supervisor", path)
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    hand_over = "transfer_to_tsd_chat"
    model = scripted(
        *(calling(hand_over), AIMessage("None, surely.")), *(calling(hand_over), AIMessage("For these."))
    )
    team = example.team(model)
    thread: Any = {"configurable": {"thread_id": "1"}}

    async def say(text: str) -> tuple[str, list[Any]]:
        """Return what the debate said, and all messages of the thread."""
        ended = await team.ainvoke({"messages": [HumanMessage(text)]}, thread)
        said = [one for one in ended["messages"] if KEY in one.response_metadata]
        return said[-1].text, ended["messages"]

    async def turns() -> None:
        endpoint.reset()
        answer, messages = await say(QUESTION)
        assert endpoint.stats()["calls"] > 0
        assert "*Run 20" in answer and messages[-1].text == "None, surely."
        endpoint.reset()
        why, messages = await say("why?")
        assert endpoint.stats()["calls"] == 0
        assert QUESTION in why and messages[-1].text == "For these."

    asyncio.run(turns())
