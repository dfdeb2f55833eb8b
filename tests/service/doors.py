"""The doors of dialectree, each as one function that debates a claim and says what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from mcp import Client
from starlette.applications import Starlette
from starlette.testclient import TestClient

import dialectree
from dialectree.contests import parse
from dialectree.errors import DialectreeError
from dialectree.flow.state import Debate
from dialectree.interfaces.background import BackgroundDebates
from dialectree.interfaces.mcp.server import DebateServer
from dialectree.interfaces.server import routes
from dialectree.interfaces.server.chat import chat_graph
from dialectree.interfaces.server.debates import exception_handlers
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.protocols.protocol import load_protocols, protocol
from dialectree.records import RunRecord
from tests.cli.commands import command

RUNS = Path("runs")


class Answer(NamedTuple):
    """What a door says of a debate."""

    label: str | None
    probability: float | None
    run: str


class Refused(Exception):
    """What a door says where it does not answer."""


Given = Mapping[str, Any]
Door = Callable[[Given, Given], Answer]
"""Debates an input with settings; raises Refused."""


def answer_of(record: RunRecord) -> Answer:
    verdict = record.verdict
    assert verdict is not None
    return Answer(verdict.label, verdict.confidence, record.run_id)


def kept(run: str) -> Answer:
    """Return the answer in the folder of a run."""
    return answer_of(dialectree.load(run))


def flags(values: Given) -> list[str]:
    """Return values as a person types them."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]


def command_line(given: Given, settings: Given) -> Answer:
    done = command("verify", *given.values(), *flags(settings), "--json", "--no-cache", "--quiet")
    if done.status:
        raise Refused(done.err)
    return answer_of(RunRecord.model_validate(done.record))


def python(given: Given, settings: Given) -> Answer:
    try:
        return answer_of(dialectree.run("art", **given, **settings, cache=False))
    except DialectreeError as error:
        raise Refused(str(error)) from None


def as_tool(given: Given, settings: Given) -> Answer:
    try:
        tool = dialectree.as_tool("art", **settings, cache=False)
    except DialectreeError as error:
        raise Refused(str(error)) from None
    call = {"name": tool.name, "args": {**given}, "id": "1", "type": "tool_call"}
    message = asyncio.run(tool.ainvoke(call))
    assert tool.invoke({**call, "args": {"claim": " "}}).status == "error"
    if message.status == "error":
        raise Refused(message.text)
    return answer_of(RunRecord.model_validate(message.artifact))


def mcp(given: Given, settings: Given) -> Answer:
    own = {name: settings[name] for name in ("model", "max_calls") if name in settings}
    wished = {name: value for name, value in settings.items() if name not in own}
    found = mcp_tool("verify", {**given, **wished}, own)
    return Answer(found.get("label"), found.get("confidence"), found["run_id"])


def mcp_tool(name: str, values: Given, own: Given) -> dict[str, Any]:
    """Call a tool of a server whose owner chose the settings ``own``."""

    async def called() -> Any:
        debates = BackgroundDebates(RUNS, owner="", files_from=[], host={**own, "cache": False})
        server = DebateServer(debates, [*load_protocols().values()], 60)
        async with Client(server.sdk) as client:
            return await client.call_tool(name, {**values})

    result = asyncio.run(called())
    if result.is_error:
        raise Refused(result.content[0].text)
    found: dict[str, Any] = result.structured_content
    return found


def chat(given: Given, settings: Given) -> Answer:
    return chatted(given.get("claim", ""), settings=settings)


def chatted(*texts: str, settings: Given) -> Answer:
    """Say ``texts`` one after another in a chat."""

    async def talked() -> Any:
        graph, said, state = chat_graph("art"), list[Any](), dict[str, Any]()
        for text in texts:
            said.append(HumanMessage(text))
            context: Any = {**settings, "cache": False}
            state = await graph.ainvoke({"messages": said}, context=context)
            said = state["messages"]
        return state

    try:
        state = asyncio.run(talked())
    except (DialectreeError, ValueError) as error:
        raise Refused(str(error)) from None
    about = state["messages"][-1].response_metadata["dialectree"]
    if "verdict" not in about:
        raise Refused(state["messages"][-1].text)
    return Answer(about["verdict"]["label"], about["verdict"]["confidence"], about["run_id"])


class Talker(GenericFakeChatModel):
    """Says what it is given."""


def gate(given: Given, settings: Given) -> Answer:
    try:
        made = dialectree.ClaimGate(min=0, **settings, cache=False)
        said = iter([AIMessage(given.get("claim", ""))])
        agent: Any = create_agent(Talker(messages=said), middleware=[made])
        asked: Any = {"messages": [HumanMessage("Well?")]}
        (found,) = asyncio.run(agent.ainvoke(asked))["claim_findings"]
    except DialectreeError as error:
        raise Refused(str(error)) from None
    return kept(found["run"])


def sub_graph(given: Given, settings: Given) -> Answer:
    graph = protocol("art").methods()["art"].graph()
    builder: Any = StateGraph(Debate, context_schema=Settings)
    builder.add_node("debate", graph)
    builder.add_edge(START, "debate")
    builder.add_edge("debate", END)
    question: Any = {"question": given.get("claim")}
    try:
        context: Any = Settings(**settings, cache=False)
        state = asyncio.run(builder.compile().ainvoke(question, context=context))
    except (DialectreeError, ValueError) as error:
        raise Refused(str(error)) from None
    return Answer(state["verdict"]["label"], state["verdict"]["confidence"], state["run_id"])


DOORS: dict[str, Door] = {
    one.__name__: one for one in (command_line, python, as_tool, mcp, chat, gate, sub_graph)
}


# Changes to a run

Changing = Callable[[str, str, str, str], Answer]
"""Contests a run: its id, the change, where, and the model's spec; raises Refused."""


def change_by_command(run: str, change: str, where: str, model: str) -> Answer:
    done = command("contest", run, f"--{change}", where, "--json", "--quiet")
    if done.status:
        raise Refused(done.err)
    return answer_of(RunRecord.model_validate(done.record))


def change_in_python(run: str, change: str, where: str, model: str) -> Answer:
    try:
        return answer_of(dialectree.contest(run, [parse(change, where)]))
    except DialectreeError as error:
        raise Refused(str(error)) from None


def change_by_mcp(run: str, change: str, where: str, model: str) -> Answer:
    changes = [{"change": change, "where": where}]
    found = mcp_tool("contest", {"run_id": run, "changes": changes}, {"model": model})
    return Answer(found.get("label"), found.get("confidence"), found["run_id"])


def http(path: str, body: Any = None) -> Any:
    """Return the JSON that a server's route answers with."""
    app = Starlette(routes=routes, exception_handlers=exception_handlers)
    with TestClient(app) as client:
        done = client.post(path, json=body) if body else client.get(path)
    if done.status_code >= 400:
        raise Refused(done.json()["detail"])
    return json.loads(done.text)


def change_by_http(run: str, change: str, where: str, model: str) -> Answer:
    body = {"changes": [{"change": change, "where": where}]}
    done = http(f"/debates/{run}/contest", body)
    return answer_of(RunRecord.model_validate(done["record"]))


def change_in_a_chat(run: str, change: str, where: str, model: str) -> Answer:
    said = AIMessage("Well.", response_metadata={"dialectree": {"run_id": run}})
    asked = HumanMessage(f"contest {change} {where}")
    state = asyncio.run(chat_graph("art").ainvoke({"messages": [HumanMessage("So?"), said, asked]}))
    last = state["messages"][-1]
    if "verdict" not in last.response_metadata["dialectree"]:
        raise Refused(last.text)
    return kept(last.response_metadata["dialectree"]["run_id"])


CHANGES: dict[str, Changing] = {
    "command_line": change_by_command,
    "python": change_in_python,
    "mcp": change_by_mcp,
    "http": change_by_http,
    "chat": change_in_a_chat,
}
