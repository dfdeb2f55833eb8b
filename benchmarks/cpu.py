"""CPU time of one structured call: ours beside LangChain's own way, in the same process.

Both sides ask for the same reply with the same words. What counts is the CPU time of this process;
the endpoint is another one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import SecretStr
from typing_extensions import TypedDict

from benchmarks.driving import conducted
from benchmarks.endpoint import LocalEndpoint
from benchmarks.figures import Figure
from benchmarks.shapes import FOUR_LEAVES, QUESTION
from dialectree import prompts
from dialectree.context import Context
from dialectree.models.door import Run
from dialectree.nodes.answerer import AnswererReply, answerer
from dialectree.runs import RunFolder
from dialectree.state import Debate, Question, Ruling

CALLS = 333
AT_ONCE = 9
LIMIT = 0.6
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


def our_graph() -> CompiledStateGraph[Debate, Context, Question, Ruling]:
    """One node that asks through the door to the models."""
    builder = StateGraph(
        Debate, context_schema=Context, input_schema=Question, output_schema=Ruling
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


async def _plain(url: str) -> float:
    graph = plain_graph(url)
    await _many(graph, range(-AT_ONCE, 0))
    began = time.process_time()
    await _many(graph, range(CALLS))
    return (time.process_time() - began) / CALLS


async def _ours(context: Context, runs: Path) -> float:
    folder = RunFolder.create(runs)
    run, graph = Run(folder.run_id, context, folder.journal()), our_graph()
    await _many(graph, range(-AT_ONCE, 0), context=context, control=run)
    began = time.process_time()
    await _many(graph, range(CALLS), context=context, control=run)
    return (time.process_time() - began) / CALLS


async def _trees(context: Context, runs: Path) -> float:
    """Whole debates: folders, events, journal, records, and every node of the graphs."""
    await conducted(context, runs)
    count = CALLS // FOUR_LEAVES.cost.calls
    began = time.process_time()
    await asyncio.gather(*(conducted(context, runs, _question(n)) for n in range(count)))
    return (time.process_time() - began) / (count * FOUR_LEAVES.cost.calls)


async def _taken(url: str, folder: Path, repeats: int) -> dict[str, float]:
    """The best of some measurements of each way, taken in turn in one event loop."""
    context = FOUR_LEAVES.context(url, cache=False)
    taken: dict[str, list[float]] = {"plain": [], "ours": [], "trees": []}
    for _ in range(repeats):
        taken["plain"].append(await _plain(url))
        taken["ours"].append(await _ours(context, folder))
        taken["trees"].append(await _trees(context, folder))
    return {name: min(values) for name, values in taken.items()}


def cpu(folder: Path, repeats: int) -> Iterator[Figure]:
    """CPU of a call, each way."""
    part = f"CPU of a structured call, over {CALLS} calls"
    with LocalEndpoint(latency_ms=50, rules=FOUR_LEAVES.rules()) as endpoint:
        best = asyncio.run(_taken(endpoint.url, folder, repeats))
    plain = best["plain"]
    yield Figure(part, "with_structured_output, one-node graph", 1000 * plain, "ms")
    yield Figure(part, "ours, one-node graph, journal on", 1000 * best["ours"], "ms")
    yield Figure(part, "ours, whole debates, journal on", 1000 * best["trees"], "ms")
    yield Figure(part, "ours over plain", best["ours"] / plain, limit=LIMIT)
    yield Figure(part, "whole debates over plain", best["trees"] / plain, target=LIMIT)
