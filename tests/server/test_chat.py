"""A chat with a protocol: what a message asks for, and the one message that answers it."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from dialectree.interfaces.server import chat
from dialectree.interfaces.server.chat import chat_graph
from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint
from tests.rules import children

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}
NOBODY = {"model": "openai:none@http://127.0.0.1:9"}
BODY = "A title\n\nAbstract\n\nIt is short.\n\n1 Introduction\n\n{} saves memory in its own way."


def read(name: str, *messages: Any, **sent: Any) -> dict[str, Any]:
    """Return the state once the last message was read, before any debate."""

    async def reading() -> dict[str, Any]:
        graph = chat_graph(name).copy({"checkpointer": InMemorySaver()})
        out: dict[str, Any] = {}
        for message in messages:
            given: Any = {"messages": [HumanMessage(message)], **sent}
            out = await graph.ainvoke(given, CONFIG, context=NOBODY, interrupt_before=["debate"])
        return {**(await graph.aget_state(CONFIG)).values, **out}

    return asyncio.run(reading())


def given(name: str, *messages: Any, **sent: Any) -> dict[str, Any]:
    """Return what the debate gets, without what nobody gave."""
    state = read(name, *messages, **sent)
    assert state["todo"] == "debate", state["messages"][-1].text
    return {field: value for field, value in state["given"].items() if value is not None}


def reply(name: str, *messages: Any, **sent: Any) -> str:
    """Return the reply to a message that begins no debate."""
    state = read(name, *messages, **sent)
    assert state["todo"] == "nothing"
    assert isinstance(state["messages"][-1], AIMessage)
    return str(state["messages"][-1].text)


def test_a_chat_reads_no_file_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("Plants take in CO2.")
    asked = "Which file is it?\n- own.md\n- two"
    assert "sources" not in given("rsd", asked, sources=["own.md"])


GAS = "Which gas do plants take in?"
GASES = ["O2", "CO2"]


@pytest.mark.parametrize(
    ("name", "messages", "sent", "wanted"),
    [
        ("tsd", [GAS], {}, {"question": GAS}),
        ("tsd", [f"{GAS}\n- O2\n- CO2"], {}, {"question": f"{GAS}\n- O2\n- CO2"}),
        ("rsd", [GAS], {}, {"question": GAS}),
        ("rsd", [f"{GAS}\n- O2\n- CO2"], {}, {"question": GAS, "options": GASES}),
        ("rsd", [f"{GAS}\n\nA) O2\nB) CO2"], {}, {"question": GAS, "options": GASES}),
        ("rsd", [f"1. O2\n2. CO2\n{GAS}"], {}, {"question": GAS, "options": GASES}),
        ("rsd", [f"{GAS}\nOption: O2\noption: CO2"], {}, {"question": GAS, "options": GASES}),
        ("rsd", [GAS], {"options": GASES}, {"question": GAS, "options": GASES}),
        ("rsd", ["- O2\n- CO2", GAS], {}, {"question": GAS, "options": GASES}),
        ("art", ["Cows eat plants."], {}, {"question": "Cows eat plants."}),
    ],
)
def test_a_message_is_read_as_the_input_that_the_protocol_declares(
    name: str, messages: list[Any], sent: dict[str, Any], wanted: dict[str, Any]
) -> None:
    assert given(name, *messages, **sent) == wanted


def base64(text: str) -> str:
    return b64encode(text.encode()).decode()


ATTACHED: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "langchain": lambda name, text: {
        "type": "file",
        "base64": base64(text),
        "mime_type": "text/plain",
        "extras": {"filename": name},
    },
    "agent-chat-ui": lambda name, text: {
        "type": "file",
        "data": base64(text),
        "mimeType": "text/plain",
        "metadata": {"filename": name},
    },
    "langchain, as text": lambda name, text: {
        "type": "text-plain",
        "text": text,
        "mime_type": "text/plain",
        "title": name,
    },
    "openai": lambda name, text: {
        "type": "file",
        "file": {"file_data": f"data:text/plain;base64,{base64(text)}", "filename": name},
    },
}


@pytest.mark.parametrize("shape", ATTACHED)
def test_attached_files_are_the_papers_of_a_comparison(shape: str) -> None:
    one, other = (ATTACHED[shape](f"{x}.txt", BODY.format(x)) for x in ("ladder", "mesh"))
    topic = {"type": "text", "text": "how memory is saved"}
    graph_input = given("tod", [topic, one, other])
    assert graph_input["question"] == "how memory is saved"
    assert [paper["name"] for paper in graph_input["papers"]] == ["ladder.txt", "mesh.txt"]
    assert given("tod", [one], [other], "how memory is saved") == graph_input
    assert "takes 0 attached files" in reply("tsd", [{"type": "text", "text": GAS}, one])
    assert "takes 2 attached files" in reply("tod", [topic, one, other, one])


def test_a_person_who_attached_a_file_can_still_ask_for_help() -> None:
    one = ATTACHED["langchain"]("ladder.txt", BODY.format("ladder"))
    assert "A question begins a debate." in reply("tod", [one], "help")


def test_a_file_without_a_title_is_called_by_its_name() -> None:
    topic = {"type": "text", "text": "how memory is saved"}
    one = ATTACHED["agent-chat-ui"]("ladder.txt", BODY.format("ladder"))
    other = ATTACHED["agent-chat-ui"]("mesh.json", '{"body": "It saves memory in its own way."}')
    papers = given("tod", [topic, one, other])["papers"]
    assert [paper["title"] for paper in papers] == ["A title", "mesh"]
    assert "file's name" in papers[1]["notices"][0]


def test_no_message_names_a_file_of_the_server() -> None:
    escaping = ATTACHED["agent-chat-ui"]("../../etc/p.tex", r"\documentclass{a}\input{/etc/passwd}")
    assert "root:" not in reply("tod", [{"type": "text", "text": "x"}, escaping, escaping])
    paper = {"title": "A", "abstract": "B", "body": "C"}
    refused = reply("tod", "memory", paper_a="/etc/passwd", paper_b=paper)
    assert refused == "paper_a: attach the file; a name or a path is not read here"


@pytest.mark.parametrize(
    ("name", "messages", "lines"),
    [
        ("tod", ["memory"], ["- **paper a**: Attach its file.", "- **paper b**: Attach its file."]),
        ("rsd", ["- O2\n- CO2"], ["- **question**: One question, in full."]),
        ("art", ["Do cows eat plants?"], ["this is a question"]),
        ("rsd", [f"{GAS}\n- O2"], ["two"]),
        ("tsd", ["why?"], ["no answer in this thread yet"]),
        ("tsd", ["contest 0.1/A2: No."], ["no answer in this thread yet"]),
        ("tsd", ["Contest"], ["no answer in this thread yet"]),
        ("tsd", ["help"], ["A question begins a debate.", "`why 0.1?`", "`contest 0.1/A2: text`"]),
        ("rsd", ["?"], ["Write each option on a line of its own, after a dash."]),
        ("tod", [""], ["Attach 2 files"]),
    ],
)
def test_what_begins_no_debate_is_answered_without_a_model(
    name: str, messages: list[Any], lines: list[str]
) -> None:
    answer = reply(name, *messages)
    assert [line for line in lines if line not in answer] == []


JUDGED = f"{GAS}\n- O2\n- CO2"
CLARIFYING = [
    *children(2),
    {"match": "how hard each part", "set": {"decision": "clarify"}},
    {"match": "how hard each part", "set": {"clarification_request": "In [which] year?"}},
    {"match": "(?=.*Clarified)(?=.*how hard each part)", "set": {"decision": "decompose"}},
]


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIALECTREE_CACHE", "false")
    with LocalEndpoint(rules=CLARIFYING, seed=3) as started:
        monkeypatch.setenv("DIALECTREE_MODEL", f"openai:any@{started.url}")
        yield started


def talk(name: str, settings: dict[str, Any], *turns: Any) -> list[dict[str, Any]]:
    """Return what stands in the thread after each message, or after each answer to a stop."""

    async def talking() -> list[dict[str, Any]]:
        graph = chat_graph(name).copy({"checkpointer": InMemorySaver()})
        said = [turn if isinstance(turn, Command) else {"messages": [HumanMessage(turn)]} for turn in turns]
        return [await graph.ainvoke(one, CONFIG, context=settings) for one in said]

    return asyncio.run(talking())


def test_a_chat_streams_each_event_of_its_run_once_before_and_after_an_answer(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    streamed: list[dict[str, Any]] = []

    async def talk() -> None:
        graph: Any = chat_graph("rsd").copy({"checkpointer": InMemorySaver()})
        how: Any = {"context": {"judge": "me"}, "stream_mode": "custom", "subgraphs": True}
        for message in (JUDGED, "B"):
            async for _, event in graph.astream({"messages": [HumanMessage(message)]}, CONFIG, **how):
                streamed.append(event)

    asyncio.run(talk())
    (folder,) = RunFolder.all(tmp_path / "runs")
    logged = [event.model_dump(mode="json") for event in folder.events()]
    assert [event for event in streamed if event["n"]] == logged


@pytest.mark.parametrize(
    ("answer", "headline"),
    [
        ("B", "**B: CO2**"),
        (" b ", "**B: CO2**"),
        ("-", "the person gave no ruling"),
        (Command(resume={"decisions": [{"type": "respond", "message": "B"}]}), "**B: CO2**"),
    ],
)
def test_the_next_message_of_a_chat_that_waits_is_the_answer(
    endpoint: LocalEndpoint, tmp_path: Path, answer: Any, headline: str
) -> None:
    asked, ruled, why = talk("rsd", {"judge": "me"}, JUDGED, answer, "why?")
    question = asked["messages"][-1].text
    assert GAS in question and "Debater A, uncertainty" in question
    assert "Reply with one of: A, B" in question and "next message is the answer" in question
    assert asked["__interrupt__"][0].value["action_requests"][0]["name"] == "judge"
    assert headline in ruled["messages"][-1].text and "__interrupt__" not in ruled
    assert ruled["run_id"] == asked["run_id"]
    assert "Cross-examination" in why["messages"][-1].text
    assert endpoint.stats()["calls"] == 8
    assert len([*(tmp_path / "runs").iterdir()]) == 1


def test_an_answer_that_cannot_be_taken_is_asked_for_again(endpoint: LocalEndpoint) -> None:
    _, again, ruled = talk("rsd", {"judge": "me"}, JUDGED, "why?", "A")
    assert "'why?' is no such label. Which answer is right?" in again["messages"][-1].text
    assert "**A: O2**" in ruled["messages"][-1].text
    assert endpoint.stats()["calls"] == 8


def test_a_chat_asks_one_thing_at_a_time(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    settings = {"ask": True, "max_depth": 2, "leaf_rounds": 1, "synthesis_rounds": 1}
    *asked, answered = talk("tsd", settings, "How far?", "In 1990", "In 1991", "In 1992")
    for state in asked:
        assert "In [which] year?" in state["messages"][-1].text.replace("\u2060", "")
    assert "__interrupt__" not in answered
    nodes = RunFolder(tmp_path / "runs" / answered["run_id"]).record().tree.nodes
    for node, year in (("0", 1990), ("0.0", 1991), ("0.1", 1992)):
        assert f"the person answered: In {year}" in nodes[node].notes


def test_a_server_finds_every_protocols_chat_in_the_module() -> None:
    for name in ("tsd", "rsd", "art", "tod"):
        assert vars(chat)[f"{name}_chat"].get_name() == f"{name}_chat"
    fields = chat_graph("rsd").get_input_jsonschema()["properties"]
    assert {*fields} == {"messages", "question", "options", "background"}
    assert "2 to 26" in fields["options"]["description"]
