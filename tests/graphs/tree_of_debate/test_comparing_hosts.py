"""Run a comparison in a host: with its checkpointer, in its threads, as a node of its graph."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from dialectree.context import ProtocolSettings
from dialectree.errors import BudgetReached, DialectreeError, KeyRefused
from dialectree.graphs.tree_of_debate.graph import graph
from dialectree.nodes.tree_of_debate.comparison import SummaryReply
from dialectree.nodes.tree_of_debate.moderator import SubtopicsReply
from dialectree.nodes.tree_of_debate.persona import ArgumentReply
from dialectree.nodes.tree_of_debate.state import Papers, TreeOfDebate
from dialectree.retrieval import library
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, TOPIC, context, personas
from tests.scripted import ScriptedModel

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}
GIVEN: Any = {"question": TOPIC, "papers": [PAPER_A, PAPER_B]}
CALLS = 2 * 5 + 6 + 1 + 6 + 1  # one subtopic below another: two splits, two debates


def settings(model: ScriptedModel, **more: Any) -> ProtocolSettings:
    return context(model, **{"max_depth": 2, "embeddings": "bm25", "segments": 2, **more})


def crash() -> None:
    """Lose all that is in memory, like a process that ends."""
    library.clear()


@pytest.mark.parametrize("calls", [1, 4, 9, 16, 23])
def test_in_another_process_a_host_goes_on_where_the_run_stopped(calls: int) -> None:
    model = personas(1, 1)

    async def twice() -> dict[str, Any]:
        thread = graph.copy({"checkpointer": InMemorySaver()})
        with pytest.raises(BudgetReached):
            await thread.ainvoke(GIVEN, CONFIG, context=settings(model, max_calls=calls))
        assert len(model.calls) == calls
        crash()
        found: dict[str, Any] = await thread.ainvoke(None, CONFIG, context=settings(model))
        return found

    assert asyncio.run(twice())["verdict"]["answer"] == "Alike. They differ."
    assert len(set(model.calls)) == CALLS
    assert len(model.calls) - CALLS < 2  # what the other persona had under way


@pytest.mark.parametrize("error", [KeyRefused("no"), ZeroDivisionError("ours")])
@pytest.mark.parametrize(
    ("kind", "node"), [(ArgumentReply, "0.0.0"), (SubtopicsReply, "0.0"), (SummaryReply, "0")]
)
def test_after_any_error_a_host_goes_on_from_what_it_stored(
    kind: type[BaseModel],
    node: str,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    model = personas(1, 1)
    usual, raised = model.says(kind), iter([error])
    model.will_say(lambda call: next(raised, None) or usual(call), to=kind, at=node)

    async def twice() -> dict[str, Any]:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "host.db")) as saver:
            thread = graph.copy({"checkpointer": saver})
            with pytest.raises(type(error)):
                await thread.ainvoke(GIVEN, CONFIG, context=settings(model))
        crash()
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "host.db")) as saver:
            thread = graph.copy({"checkpointer": saver})
            found: dict[str, Any] = await thread.ainvoke(None, CONFIG, context=settings(model))
            return found

    with caplog.at_level(logging.WARNING, logger="langgraph"):
        assert asyncio.run(twice())["verdict"]["answer"] == "Alike. They differ."
    assert len(model.calls) - CALLS <= 2
    assert not isinstance(error, DialectreeError) or caplog.records == []


def test_a_comparison_is_a_node_of_another_graph() -> None:
    builder = StateGraph(TreeOfDebate, context_schema=ProtocolSettings, input_schema=Papers)
    builder.add_node("compare", graph)
    builder.add_edge(START, "compare")
    builder.add_edge("compare", END)
    outer = builder.compile()
    found = asyncio.run(outer.ainvoke(GIVEN, context=settings(personas(1, 1))))
    assert found["verdict"]["answer"] == "Alike. They differ."


def test_two_comparisons_at_once_do_not_mix() -> None:
    swapped: Any = {"question": TOPIC, "papers": [PAPER_B, PAPER_A]}

    async def at_once() -> list[dict[str, Any]]:
        models = [personas(1, 1), personas(1, 1)]
        for model in models:
            model.wait = lambda call: 0.001
        both = zip(models, (GIVEN, swapped), strict=True)
        found = [graph.ainvoke(given, context=settings(model)) for model, given in both]
        return [*await asyncio.gather(*found)]

    assert [one["verdict"]["answer"] for one in asyncio.run(at_once())] == [
        "Alike. They differ."
    ] * 2


def test_events_of_every_topic_reach_a_host_that_streams_them() -> None:
    async def streamed() -> list[dict[str, Any]]:
        parts: AsyncIterator[Any] = graph.astream(
            GIVEN,
            context=settings(personas(1, 2), max_subtopics=2),
            stream_mode="custom",
            subgraphs=True,
        )
        return [event async for _, event in parts]

    events: list[dict[str, Any]] = asyncio.run(streamed())
    debated = [event for event in events if "positions" in event["data"].get("data", {})]
    assert {event["node"] for event in debated} == {
        "0.0", "0.1", "0.0.0", "0.0.1", "0.1.0", "0.1.1",
    }  # fmt: skip
    assert [event["kind"] for event in events[-2:]] == ["settled", "concluded"]
    kinds = {event["kind"] for event in events}
    assert {"opened", "retrieved", "noted", "branched", "settled"} <= kinds
