"""The least cost of a debate's steps: its graph from LangGraph and LangChain's client alone.

Every agent sends the next request of a real run through the program's own client and reads the
reply, without prompts, checks or records. Every program of these steps takes at least as long.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Any, Literal, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from pydantic import SecretStr
from typing_extensions import TypedDict

from dialectree.models.clients import clients

Ask = Callable[[], Awaitable[None]]
"""A function that sends one request and reads the reply."""


class Step(TypedDict):
    """State of a step: the depth in the tree, and the speakers so far."""

    level: int
    speakers: Annotated[list[str], operator.add]


class Agent(Protocol):
    """A step of the graph."""

    def __call__(self, state: Step) -> Awaitable[dict[str, list[str]]]: ...


Graph = CompiledStateGraph[Step, None, Step, Step]
Shape = Callable[[Ask], Graph]


Client = Literal["leanest", "plain", "structured"]
"""The sender of the requests: the program's own client, LangChain's plain ``ChatOpenAI``, or
``ChatOpenAI`` with ``with_structured_output``, as most people write it by hand."""


async def run(shape: Shape, url: str, bodies: Iterable[str], client: Client = "leanest") -> None:
    """Walk ``shape``; its agents send ``bodies`` to the endpoint at ``url`` in their order."""
    waiting = [json.loads(body) for body in bodies]
    chat: BaseChatModel = ChatOpenAI(model="any", base_url=url, api_key=SecretStr("none"))
    if client == "leanest":
        chat = (await clients()).chat(url, "", "any", stream_usage=False)
    speakers: dict[str, Runnable[Any, Any]] = {}

    async def ask() -> None:
        body = waiting.pop(0)
        messages = [(message["role"], message["content"]) for message in body["messages"]]
        own = {name: body[name] for name in body if name not in ("messages", "model", "stream")}
        if client != "structured":
            reply = await chat.ainvoke(messages, extra_body=own)
            json.loads(reply.text)
            return
        schema = own.pop("response_format")["json_schema"]
        name = json.dumps(schema["schema"])
        if name not in speakers:  # one of each role, as a program has
            titled = {"title": "reply", **schema["schema"]}
            speakers[name] = chat.with_structured_output(titled, method="json_schema")
        await speakers[name].ainvoke(messages, extra_body=own)

    await shape(ask).ainvoke({"level": 0, "speakers": []})
    if waiting:
        raise ValueError(f"{len(waiting)} requests of the real run were not made")


def debate_tree(children: int, depth: int) -> Shape:
    """Return TSD's graph: expansion, its children at once, synthesis; leaves speak in turn."""

    def shape(ask: Ask) -> Graph:
        builder = StateGraph(Step)
        leaf = [[f"leaf_{who}_{n}"] for n in range(3) for who in "ab"]
        _stages(builder, ask, [*leaf, ["leaf_judge"]])
        _stages(builder, ask, [["decomposer"], ["decomposition_judge"], ["complexity"]])
        synthesis = [[f"synthesis_{who}_{n}" for who in "ab"] for n in range(2)]
        _stages(builder, ask, [*synthesis, ["synthesis_judge"]])
        builder.add_node("answerer", _agent("answerer", ask))

        async def solve(state: Step) -> dict[str, list[str]]:
            return {"speakers": (await graph.ainvoke(state))["speakers"]}

        async def first(state: Step) -> str:
            return "decomposer" if state["level"] < depth else leaf[0][0]

        async def split(state: Step) -> list[Send]:
            return [Send("solve", {"level": state["level"] + 1, "speakers": []})] * children

        async def last(state: Step) -> str:
            return END if state["level"] else "answerer"

        builder.add_node("solve", solve)
        builder.add_node("joined", _agent("joined"))
        builder.add_conditional_edges(START, first, ["decomposer", leaf[0][0]])
        builder.add_conditional_edges("complexity", split, ["solve"])
        builder.add_edge("solve", "joined")
        for agent in synthesis[0]:
            builder.add_edge("joined", agent)
        builder.add_conditional_edges("synthesis_judge", last, ["answerer", END])
        builder.add_edge("leaf_judge", END)
        builder.add_edge("answerer", END)
        graph: Graph = builder.compile()
        return graph

    return shape


def role_switching_debate(*, in_turn: bool = True, judges: int = 1) -> Shape:
    """Return RSD's graph: five phases, of which the second may be spoken in turn."""

    def shape(ask: Ask) -> Graph:
        builder = StateGraph(Step)
        rebuttals = [["rebuttal_a"], ["rebuttal_b"]] if in_turn else [["rebuttal_a", "rebuttal_b"]]
        both = [[f"{phase}_a", f"{phase}_b"] for phase in ("proposal", "switched", "uncertainty")]
        judging = [f"judge_{n}" for n in range(judges)]
        _stages(builder, ask, [both[0], *rebuttals, *both[1:], judging], start=START)
        for judge in judging:
            builder.add_edge(judge, END)
        graph: Graph = builder.compile()
        return graph

    return shape


def argument_tree(breadth: int, depth: int) -> Shape:
    """Return ART's graph: supporter and attacker; then scores, comparisons and growth at once."""

    def shape(ask: Ask) -> Graph:
        builder = StateGraph(Step)
        _stages(builder, ask, [["supporter", "attacker"]], start=START)
        _stages(builder, ask, [["scorer", "pairwise_judge"]])
        builder.add_node("branching", _agent("branching"))

        async def grow(state: Step) -> dict[str, list[str]]:
            return {"speakers": (await graph.ainvoke(state))["speakers"]}

        async def after_branching(state: Step) -> list[Send]:
            next_level: Step = {"level": state["level"] + 1, "speakers": []}
            sends = [Send("scorer", state)] * (2 * breadth)
            sends += [Send("pairwise_judge", state)] * breadth**2
            if next_level["level"] < depth:
                sends += [Send("grow", next_level)] * (2 * breadth)
            return sends

        builder.add_node("grow", grow)
        builder.add_edge(["supporter", "attacker"], "branching")
        ends = ["scorer", "pairwise_judge", "grow"]
        builder.add_conditional_edges("branching", after_branching, ends)
        for end in ends:
            builder.add_edge(end, END)
        graph: Graph = builder.compile()
        return graph

    return shape


def tree_of_debate(subtopics: int, depth: int, claims: int = 3) -> Shape:
    """Return ToD's graph: deliberation and split, then three exchanges on every subtopic."""
    exchange = [[f"{turn}_{who}" for who in "ab"] for turn in ("present", "respond", "revise")]

    def shape(ask: Ask) -> Graph:
        builder = StateGraph(Step)
        _stages(builder, ask, exchange)
        _stages(builder, ask, [["claims_a", "claims_b"]])
        for alone in ("relevance", "subtopics", "progress", "summary"):
            builder.add_node(alone, _agent(alone, ask))
        for silent in ("retrieval", "pre_emption", "branching", "last_words"):
            builder.add_node(silent, _agent(silent))

        async def debate(state: Step) -> dict[str, list[str]]:
            return {"speakers": (await graph.ainvoke(state))["speakers"]}

        async def after_start(state: Step) -> list[str]:
            return exchange[0] if state["level"] else ["retrieval"]

        async def after_last_words(state: Step) -> str:
            return "progress" if state["level"] < depth else END

        async def after_pre_emption(state: Step) -> list[Send]:
            return [Send("relevance", state)] * (2 * claims)

        async def after_branching(state: Step) -> list[Send]:
            return [Send("debate", {"level": state["level"] + 1, "speakers": []})] * subtopics

        async def after_debate(state: Step) -> str:
            return END if state["level"] else "summary"

        builder.add_node("debate", debate)
        builder.add_conditional_edges(START, after_start, ["retrieval", *exchange[0]])
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


def _stages(
    builder: StateGraph[Step], ask: Ask, stages: Sequence[Sequence[str]], start: str | None = None
) -> None:
    """Add agents; those of one stage speak at once, after all of the stage before."""
    before: Sequence[str] = [start] if start else []
    for stage in stages:
        for agent in stage:
            builder.add_node(agent, _agent(agent, ask))
            if before:
                builder.add_edge(before[0] if len(before) == 1 else [*before], agent)
        before = stage


def _agent(name: str, ask: Ask | None = None) -> Agent:
    """Return a step that sends a request; without ``ask`` it sends nothing."""

    async def agent(state: Step) -> dict[str, Any]:
        if ask is not None:
            await ask()
        return {"speakers": [name]}

    return agent
