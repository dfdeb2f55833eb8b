"""CPU time of one structured call: ours beside LangChain's own way, in the same process.

Both sides ask for the same reply with the same words. What counts is the CPU time of this process;
the endpoint is another one.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import SecretStr
from typing_extensions import TypedDict

from benchmarks.driving import conducted
from benchmarks.figures import Figure
from benchmarks.shapes import FOUR_LEAVES, QUESTION
from dialectree import prompts
from dialectree.models.door import Run
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply, answerer
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.runs import RunFolder
from dialectree.state import Debate, Question, Ruling
from tests.endpoint import LocalEndpoint

CALLS = 111
"""Calls of one block; the ways take turns, so that a busy moment of the machine meets all."""
BLOCKS = 3
AT_ONCE = 9
LIMIT = 0.75
PROMPT = "single_shot/answerer"


class Answered(TypedDict):
    """What comes back from the plain graph."""

    answer: str


class Exchange(Question, Answered):
    """The state of the plain graph."""


def plain_graph(url: str) -> CompiledStateGraph[Exchange, None, Question, Answered]:
    """One node that asks as LangChain's documents show it."""
    words = prompts.load(PROMPT)
    model = ChatOpenAI(
        model="any",
        base_url=url,
        api_key=SecretStr("none"),
        temperature=words.temperature,
        seed=1,
        max_completion_tokens=1200,
    )
    structured = model.with_structured_output(AnswererReply, method="json_schema")

    async def answerer(state: Question) -> Answered:
        system, user = words.render({"question": state["question"]})
        reply = await structured.ainvoke([SystemMessage(system), HumanMessage(user)])
        assert isinstance(reply, AnswererReply)
        return {"answer": reply.answer}

    builder = StateGraph(Exchange, input_schema=Question, output_schema=Answered)
    builder.add_node("answerer", answerer, input_schema=Question)
    builder.add_edge(START, "answerer")
    builder.add_edge("answerer", END)
    return builder.compile()


def our_graph() -> CompiledStateGraph[Debate, Settings, Question, Ruling]:
    """One node that asks through the door to the models."""
    builder = StateGraph(
        Debate, context_schema=Settings, input_schema=Question, output_schema=Ruling
    )
    builder.add_node("answerer", answerer, input_schema=Question)
    builder.add_edge(START, "answerer")
    builder.add_edge("answerer", END)
    return builder.compile()


def _question(number: int) -> str:
    return f"{QUESTION} ({number})"


async def _many(
    graph: CompiledStateGraph[Any, Any, Any, Any], numbers: range, **options: Any
) -> None:
    """``AT_ONCE`` calls side by side until all are made."""
    todo = iter(numbers)

    async def work() -> None:
        for number in todo:
            await graph.ainvoke({"question": _question(number)}, **options)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


async def _plain(url: str) -> AsyncIterator[float]:
    """CPU seconds of a call, block by block."""
    graph = plain_graph(url)
    await _many(graph, range(-AT_ONCE, 0))
    while True:
        began = time.process_time()
        await _many(graph, range(CALLS))
        yield (time.process_time() - began) / CALLS


async def _ours(context: Settings, runs: Path) -> AsyncIterator[float]:
    graph = our_graph()
    while True:
        folder = RunFolder.create(runs)
        run = Run(folder.run_id, context, folder.journal())
        await _many(graph, range(-AT_ONCE, 0), context=context, control=run)
        began = time.process_time()
        await _many(graph, range(CALLS), context=context, control=run)
        yield (time.process_time() - began) / CALLS


async def _trees(context: Settings, runs: Path) -> AsyncIterator[float]:
    """Whole debates: folders, events, journal, records, and every node of the graphs."""
    await conducted(context, runs)
    count = CALLS // FOUR_LEAVES.cost.calls
    while True:
        began = time.process_time()
        await asyncio.gather(*(conducted(context, runs, _question(n)) for n in range(count)))
        yield (time.process_time() - began) / (count * FOUR_LEAVES.cost.calls)


async def _best(url: str, folder: Path, blocks: int) -> list[float]:
    """The best block of each way, in one event loop.

    What was imported is taken out of the garbage collector's sight, or one of its rare long rounds
    would decide which way looks dear.
    """
    context = FOUR_LEAVES.context(url, cache=False)
    ways = (_plain(url), _ours(context, folder), _trees(context, folder))
    taken = [[await anext(way)] for way in ways]
    gc.collect()
    gc.freeze()
    for _ in range(blocks):
        for way, values in zip(ways, taken, strict=True):
            values.append(await anext(way))
    gc.unfreeze()
    return [min(values) for values in taken]


def cpu(folder: Path, repeats: int) -> Iterator[Figure]:
    """CPU of a call, each way."""
    blocks = repeats * BLOCKS
    part = f"CPU of a structured call, best of {blocks} blocks of {CALLS} calls"
    with LocalEndpoint(latency_ms=50, rules=FOUR_LEAVES.rules()) as endpoint:
        plain, ours, trees = asyncio.run(_best(endpoint.url, folder, blocks))
    yield Figure(part, "with_structured_output, one-node graph", 1000 * plain, "ms")
    yield Figure(part, "ours, one-node graph, journal on", 1000 * ours, "ms")
    yield Figure(part, "ours, whole debates, journal on", 1000 * trees, "ms")
    yield Figure(part, "ours over plain", ours / plain, limit=LIMIT)
    yield Figure(part, "whole debates over plain", trees / plain, target=LIMIT)
