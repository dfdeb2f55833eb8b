"""The least that the steps cost: the shapes of ART and ToD from LangGraph and an HTTP client alone.

Every agent sends the next request of a real run and reads what comes: no prompt, no check, no
record. What this takes above the ideal, any program of these steps takes on the same machine.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Awaitable, Callable, Iterable
from itertools import pairwise
from typing import Annotated, Protocol

import aiohttp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

Post = Callable[[], Awaitable[None]]
"""Sends one request and reads the reply."""
_HEADERS = {"content-type": "application/json", "authorization": "Bearer none"}


class Step(TypedDict):
    """What hangs on: where in the tree, and who spoke."""

    level: int
    said: Annotated[list[str], operator.add]


class Agent(Protocol):
    """A step of the graph."""

    def __call__(self, state: Step) -> Awaitable[dict[str, list[str]]]: ...


Graph = CompiledStateGraph[Step, None, Step, Step]
Shape = Callable[[Post], Graph]


async def run(shape: Shape, url: str, bodies: Iterable[str]) -> None:
    """Walk ``shape``; its agents post ``bodies`` to the endpoint at ``url`` in their order."""
    waiting = iter([body.encode() for body in bodies])
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1000)) as session:

        async def post() -> None:
            asked = session.post(f"{url}/chat/completions", data=next(waiting), headers=_HEADERS)
            async with asked as response:
                response.raise_for_status()
                json.loads(await response.read())

        await shape(post).ainvoke({"level": 0, "said": []})
    if unasked := len([*waiting]):
        raise ValueError(f"{unasked} requests of the real run were not made")


def argument_tree(breadth: int, depth: int) -> Shape:
    """ART: supporter and attacker; then scores, comparisons and growth, all at once."""

    def shape(post: Post) -> Graph:
        builder = StateGraph(Step)
        _add(builder, post, agents=("supporter", "attacker", "scorer", "pairwise_judge"))
        _add(builder, _nobody, agents=("branching",))

        async def grow(state: Step) -> dict[str, list[str]]:
            return {"said": (await graph.ainvoke(state))["said"]}

        async def after_branching(state: Step) -> list[Send]:
            next_level: Step = {"level": state["level"] + 1, "said": []}
            sends = [Send("scorer", state)] * (2 * breadth)
            sends += [Send("pairwise_judge", state)] * breadth**2
            if next_level["level"] < depth:
                sends += [Send("grow", next_level)] * (2 * breadth)
            return sends

        builder.add_node("grow", grow)
        builder.add_edge(START, "supporter")
        builder.add_edge(START, "attacker")
        builder.add_edge(["supporter", "attacker"], "branching")
        builder.add_conditional_edges(
            "branching", after_branching, ["scorer", "pairwise_judge", "grow"]
        )
        for last in ("scorer", "pairwise_judge", "grow"):
            builder.add_edge(last, END)
        graph: Graph = builder.compile()
        return graph

    return shape


def tree_of_debate(subtopics: int, depth: int, claims: int = 3) -> Shape:
    """ToD: deliberation and split, then three exchanges of two personas on every subtopic."""
    exchange = [[f"{turn}_{who}" for who in "ab"] for turn in ("present", "respond", "revise")]

    def shape(post: Post) -> Graph:
        builder = StateGraph(Step)
        speakers = ("claims_a", "claims_b", "relevance", "subtopics", "progress", "summary")
        _add(builder, post, agents=(*speakers, *(agent for pair in exchange for agent in pair)))
        _add(builder, _nobody, agents=("retrieval", "pre_emption", "branching", "last_words"))

        async def debate(state: Step) -> dict[str, list[str]]:
            return {"said": (await graph.ainvoke(state))["said"]}

        async def after_start(state: Step) -> list[str]:
            return exchange[0] if state["level"] else ["retrieval"]

        async def after_last_words(state: Step) -> str:
            return "progress" if state["level"] < depth else END

        async def after_pre_emption(state: Step) -> list[Send]:
            return [Send("relevance", state)] * (2 * claims)

        async def after_branching(state: Step) -> list[Send]:
            return [Send("debate", {"level": state["level"] + 1, "said": []})] * subtopics

        async def after_debate(state: Step) -> str:
            return END if state["level"] else "summary"

        builder.add_node("debate", debate)
        builder.add_conditional_edges(START, after_start, ["retrieval", *exchange[0]])
        for before, after in pairwise(exchange):
            for agent in after:
                builder.add_edge(before, agent)
        builder.add_edge(exchange[-1], "last_words")
        builder.add_conditional_edges("last_words", after_last_words, ["progress", END])
        builder.add_edge("progress", "retrieval")
        for agent in ("claims_a", "claims_b"):
            builder.add_edge("retrieval", agent)
        builder.add_edge(["claims_a", "claims_b"], "pre_emption")
        builder.add_conditional_edges("pre_emption", after_pre_emption, ["relevance"])
        builder.add_edge("relevance", "subtopics")
        builder.add_edge("subtopics", "branching")
        builder.add_conditional_edges("branching", after_branching, ["debate"])
        builder.add_conditional_edges("debate", after_debate, ["summary", END])
        builder.add_edge("summary", END)
        graph: Graph = builder.compile()
        return graph

    return shape


async def _nobody() -> None:
    """A step without a call."""


def _add(builder: StateGraph[Step], post: Post, agents: Iterable[str]) -> None:
    for agent in agents:
        builder.add_node(agent, _step(agent, post))


def _step(agent: str, post: Post) -> Agent:
    async def step(state: Step) -> dict[str, list[str]]:
        await post()
        return {"said": [agent]}

    return step
