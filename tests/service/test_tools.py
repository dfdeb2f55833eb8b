"""A protocol as an agent's tool: what its model reads, what the host gets, which files it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import dialectree
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import load_protocols
from dialectree.records import Event, RunRecord
from dialectree.retrieval import arxiv
from tests.docs.files import pdf, write_files
from tests.endpoint import LocalEndpoint

CLAIM = "Fire is hot."
PAPERS: dict[str, Any] = {"paper_a": "ladder.txt", "paper_b": "mesh.tex", "topic": "orbits"}


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint() as endpoint:
        yield f"openai:any@{endpoint.url}"


def called(tool: Any, **given: Any) -> ToolMessage:
    """Return the message that an agent gets from the tool."""
    call: ToolCall = {"name": tool.name, "args": given, "id": "1", "type": "tool_call"}
    message = asyncio.run(tool.ainvoke(call))
    assert isinstance(message, ToolMessage) and tool.invoke(call).status == message.status
    return message


def test_a_tool_has_the_name_of_ones_choice_and_the_record_as_artifact(model: str) -> None:
    tool = dialectree.as_tool("art", name="check", description="Checks.", model=model, breadth=2)
    assert (tool.name, tool.description, [*tool.args]) == ("check", "Checks.", ["claim", "sources"])
    message = called(tool, claim=CLAIM)
    record = RunRecord.model_validate(message.artifact)
    assert record == dialectree.load(record.run_id) and record.settings["breadth"] == 2
    assert record.verdict is not None and record.verdict.answer is not None
    for part in ("P(claim)", "Rests on 1 claim and 4 arguments", record.run_id):
        assert part in message.text


@pytest.mark.parametrize("name", load_protocols())
def test_a_tool_takes_the_declared_input_described_and_without_the_right_answer(name: str) -> None:
    tool, declared = dialectree.as_tool(name, model="openai:any"), load_protocols()[name].input
    left_out = {"evaluation_only", "hidden"}
    shown = [one for one in declared.model_fields if not left_out & {*get_option_details(declared, one)}]
    assert [*tool.args] == shown
    assert all(argument["description"] for argument in tool.args.values())


def test_a_run_that_is_not_kept_leaves_no_folder(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    tool = dialectree.as_tool("art", model=model, runs=None, cache=False)
    assert called(tool, claim=CLAIM).artifact["status"] == "answered"
    assert not [*temporary.iterdir()] and not Path("runs").exists()


def test_progress_goes_to_the_callback_and_to_the_stream_of_the_hosts_graph(model: str) -> None:
    events: list[Event] = []
    tool = dialectree.as_tool("art", model=model, runs=None, watch=events.append)
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([tool]))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    call: ToolCall = {"name": tool.name, "args": {"claim": CLAIM}, "id": "1", "type": "tool_call"}
    given: Any = {"messages": [AIMessage("", tool_calls=[call])]}
    written = [*map(Event.model_validate, streamed(builder.compile(), given))]
    assert written == events and [written[0].kind, written[-1].kind] == ["began", "ended"]


def streamed(graph: Any, given: Any) -> list[Any]:
    async def custom() -> list[Any]:
        return [event async for event in graph.astream(given, stream_mode="custom")]

    return asyncio.run(custom())


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Return a folder of papers with links in it, beside a file that nobody allowed."""
    folder = tmp_path / "papers"
    (folder / "deeper").mkdir(parents=True)
    write_files(folder)
    (folder / "deeper" / "ladder.txt").write_bytes((folder / "ladder.txt").read_bytes())
    (tmp_path / "secret.txt").write_text("A secret\n\nAbstract\n\nNo.\n\n1 Introduction\n\nNo.\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "inside.txt").symlink_to(folder / "ladder.txt")
    return folder


@pytest.mark.parametrize("named", ["ladder.txt", "deeper/ladder.txt", "inside.txt", "PAPERS/ladder.txt"])
def test_a_tool_reads_the_files_of_allowed_folders(named: str, papers: Path, model: str) -> None:
    tool = dialectree.as_tool("single_stage", model=model, files_from=[papers], runs=None)
    named = named.replace("PAPERS", str(papers))
    assert called(tool, **{**PAPERS, "paper_a": named}).status == "success"


@pytest.mark.parametrize(
    "named", ["/etc/passwd", "../secret.txt", "link.txt", "secret.txt", "deeper/../../secret.txt"]
)
def test_a_tool_reads_no_other_file_and_says_so(named: str, papers: Path, model: str) -> None:
    tool = dialectree.as_tool("single_stage", model=model, files_from=[papers], runs=None)
    message = called(tool, **{**PAPERS, "paper_a": named})
    assert message.status == "error" and "No." not in message.text
    if named != "link.txt":  # no file of that name lies where the program runs
        assert f"paper_a: {named!r}: only files in {papers} can be read here" in message.text
    none = dialectree.as_tool("single_stage", model=model, runs=None)
    assert called(none, **{**PAPERS, "paper_a": str(papers / "ladder.txt")}).status == "error"


@pytest.mark.parametrize("text", ["x" * 5000, "a\0b", "nothing.pdf"])
def test_a_text_that_names_no_file_is_left_to_the_protocol(text: str, model: str) -> None:
    tool = dialectree.as_tool("single_stage", model=model, runs=None, replay=True)
    message = called(tool, **{**PAPERS, "paper_a": text})
    assert message.status == "error" and "can be read here" not in message.text


def test_a_tool_fetches_a_paper_by_its_id(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arxiv, "fetch_pdf", pdf)
    tool = dialectree.as_tool("single_stage", model=model, runs=None)
    given = {**PAPERS, "paper_a": "2502.14767", "paper_b": "https://arxiv.org/abs/1706.03762"}
    assert called(tool, **given).status == "success"
