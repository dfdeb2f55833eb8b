"""The inside of LangGraph behaves as it did in the version it was seen with."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from dialectree.flow import hosting
from dialectree.running import hosted
from dialectree.system.platform_internals import graph_step, on_a_server, read_state, reset_omitted


class Whole(TypedDict, total=False):
    question: str | None
    options: list[str] | None
    seen: list[object]


class Narrow(TypedDict):
    question: str


def graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    async def step(state: Narrow) -> dict[str, object]:
        return {"seen": [*state, read_state("options")]}

    builder = StateGraph(Whole)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    builder.add_edge("step", END)
    return builder.compile(checkpointer=InMemorySaver())


async def ask(compiled: CompiledStateGraph[Any, Any, Any, Any], **given: object) -> Any:
    config: Any = {"configurable": {"thread_id": "1"}}
    return (await compiled.ainvoke(given, config))["seen"]


@pytest.mark.anyio
async def test_a_step_reads_a_channel_that_its_input_leaves_out() -> None:
    assert await ask(graph(), question="?", options=["A"]) == ["question", ["A"]]


@pytest.mark.anyio
async def test_a_step_knows_its_number_and_those_side_by_side_the_same() -> None:
    async def step(state: Whole) -> dict[str, object]:
        return {"seen": [*state.get("seen", []), graph_step()]}

    async def beside(state: Whole) -> None:
        numbers.append(graph_step())

    numbers: list[int] = []
    builder = StateGraph(Whole)
    builder.add_sequence([("first", step), ("second", step)])
    builder.add_node("beside", beside)
    builder.add_edge(START, "first")
    builder.add_edge("first", "beside")
    assert (await builder.compile().ainvoke({}))["seen"] == [1, 2]
    assert (numbers, graph_step()) == ([2], 0)


@pytest.mark.anyio
async def test_a_reused_thread_keeps_what_is_omitted_unless_it_is_reset() -> None:
    kept, reset = graph(), graph()
    reset_omitted(reset, Whole.__annotations__)
    for one in (kept, reset):
        await ask(one, question="?", options=["A"])
    assert (await ask(kept, question="!"))[-1] == ["A"]
    assert (await ask(reset, question="!"))[-1] is None


def test_a_server_is_known_by_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not on_a_server()
    monkeypatch.setitem(__import__("sys").modules, "langgraph_api", hosted)
    assert on_a_server()


def test_the_keeper_that_graphs_load_by_name_is_one() -> None:
    keeper: hosting.Keeper = hosted
    assert hosting.load_keeper() is keeper
