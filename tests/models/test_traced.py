"""Whoever listens hears of every call, however a host listens; the requests are the same ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, get_usage_metadata_callback
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run

from benchmarks.endpoint import LocalEndpoint
from dialectree.context import Context, build
from dialectree.graphs import METHODS

ASKED = {"question": "Is it so?", "options": ["a cow", "a tree"]}
GRAPH = METHODS["basic"].graph()


class Counting(AsyncCallbackHandler):
    """Counts the calls that it hears of."""

    def __init__(self) -> None:
        self.started = 0

    async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.started += 1


async def by_a_handler(context: Context) -> int:
    counting = Counting()
    await GRAPH.ainvoke(ASKED, {"callbacks": [counting]}, context=context)
    return counting.started


async def by_the_runs_collected(context: Context) -> int:
    def models(runs: list[Run]) -> int:
        return sum((run.run_type == "llm") + models(run.child_runs) for run in runs)

    with collect_runs() as collected:
        await GRAPH.ainvoke(ASKED, context=context)
    return models(collected.traced_runs)


async def by_events(context: Context) -> int:
    events = GRAPH.astream_events(ASKED, context=context, version="v2")
    return len([event async for event in events if event["event"] == "on_chat_model_end"])


async def by_messages(context: Context) -> int:
    told: Any = GRAPH.astream(ASKED, context=context, stream_mode="messages", subgraphs=True)
    return len({message.id async for _, (message, _) in told})


@pytest.mark.parametrize("heard", [by_a_handler, by_the_runs_collected, by_events, by_messages])
def test_every_call_is_heard_of(heard: Callable[[Context], Coroutine[None, None, int]]) -> None:
    with LocalEndpoint(seed=3) as endpoint:
        context = build(model=f"openai:any@{endpoint.url}", cache=False)
        count = asyncio.run(heard(context))
        assert count == endpoint.stats()["calls"] >= 5


def test_their_tokens_are_counted() -> None:
    async def used(context: Context) -> int:
        with get_usage_metadata_callback() as counted:
            await GRAPH.ainvoke(ASKED, context=context)
        return sum(one["total_tokens"] for one in counted.usage_metadata.values())

    with LocalEndpoint(seed=3) as endpoint:
        context = build(model=f"openai:any@{endpoint.url}", cache=False)
        count, stats = asyncio.run(used(context)), endpoint.stats()
    assert count == stats["prompt_tokens"] + stats["completion_tokens"] > 0
