"""The inside of langchain-core's tracer behaves as it did in the version it was seen with."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import MagicMock

import pytest
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from dialectree.trace.langchain_internals import (
    RunTracer,
    TracedGraph,
    current_tracer,
    successor,
    with_tracer,
)


class State(TypedDict):
    question: str


class Ours(RunTracer):
    sent: list[str]

    def prepare_for_sending(self, run: Run) -> Run:
        sent = MagicMock()
        sent.post, sent.patch = (lambda: self.sent.append(f"began {run.name}"), self.end_of(run))
        return sent

    def end_of(self, run: Run) -> Any:
        return lambda: self.sent.append(f"ended {run.name}")


class Traced(TracedGraph):
    def replace_tracer(self, config: Any) -> Any:
        def ours(tracer: LangChainTracer) -> Ours:
            new = successor(Ours, tracer)
            new.sent = SENT
            return new

        return with_tracer(config, ours)


SENT: list[str] = []


def graph(step: Any, name: str) -> Any:
    builder = StateGraph(State)
    builder.add_node(name, step)
    builder.add_edge(START, name)
    builder.add_edge(name, END)
    return builder.compile(name=f"graph of {name}")


@pytest.fixture
def tracer() -> LangChainTracer:
    SENT.clear()
    return LangChainTracer(client=MagicMock(otel_exporter=None), metadata={"a": "b"})


def test_a_graph_in_a_step_is_heard_by_its_own_tracer_alone(tracer: LangChainTracer) -> None:
    heard: list[object] = []

    async def inner_step(state: State) -> None:
        heard.append(current_tracer(LangChainTracer))

    inner = graph(inner_step, "inner")
    inner.__class__ = Traced
    host = graph(inner, "outer")
    asyncio.run(host.ainvoke({"question": "?"}, {"callbacks": [tracer]}))
    assert [type(one) for one in heard] == [Ours]
    around = [f"{what} graph of inner" for what in ("began", "ended")]
    assert [around[0], "began inner", "ended inner", around[1]] == SENT


def test_a_successor_goes_on_where_the_tracer_is(tracer: LangChainTracer) -> None:
    new = successor(Ours, tracer)
    assert (new.run_map, new.order_map) == (tracer.run_map, tracer.order_map)
    assert new.run_map is tracer.run_map and new.order_map is tracer.order_map
    assert (new.client, new.tracing_metadata) == (tracer.client, {"a": "b"})


def test_a_run_may_end_twice_and_keeps_its_place_above_others(tracer: LangChainTracer) -> None:
    ours = successor(Ours, tracer)
    ours.sent = SENT
    above = ours.build_run("chain", "above", {}, {}, None, None)
    ours.begin(above)
    ours.end(above)
    assert not ours.under_way(above)
    below = ours.build_run("chain", "below", {}, {}, above.id, None)
    ours.begin(below)
    ours.end(above, ValueError("why"))
    assert below.dotted_order.startswith(f"{above.dotted_order}.")
    assert SENT == ["began above", "ended above", "began below", "ended above"]
    assert above.error is not None and "why" in above.error
