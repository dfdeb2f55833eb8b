"""Asking the person what a question means: interrupts at the root, answers by their ids."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Interrupt

from dialectree.flow.human_input import payload_of
from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.nodes.tree_structured_debate.decomposer import ComplexityReply
from dialectree.records import Event
from tests.folding import fold
from tests.graphs.debating import context, debaters, rate_all, told
from tests.scripted import Asked, ScriptedModel

QUESTION = "What is the best medicine?"
REQUEST = "Which illness is meant?"


def unclear(*nodes: str, children: int = 2) -> ScriptedModel:
    """A model that finds the question at each of ``nodes`` unclear, until it is clarified."""
    model = debaters(children)
    usual = model.says(ComplexityReply)
    ask = rate_all(0.9, decision="clarify", request=REQUEST)

    def evaluate(call: Asked) -> Any:
        return ask(call) if call.node in nodes and call.round == 1 else usual(call)

    model.will_say_now(evaluate, to=ComplexityReply)
    return model


class Host:
    """Someone who drives the graph with a checkpointer, and reads what it stops for."""

    def __init__(self, model: ScriptedModel, **settings: Any) -> None:
        self.context = context(model, **{"ask": True, "max_depth": 2, **settings})
        self.graph = graph.copy({"checkpointer": InMemorySaver()})
        self.events: list[Event] = []
        self.verdict: dict[str, Any] | None = None

    async def drive(self, given: Any) -> dict[str, Interrupt]:
        """Go on with the thread; return the stops by node."""
        config: RunnableConfig = {"configurable": {"thread_id": "1"}}
        async for kind, data in told(self.graph, given, config, self.context):
            if kind == "custom":
                self.events.append(Event.model_validate(data))
        state = await self.graph.aget_state(config)
        stops = {payload_of(stop.value)["node"]: stop for stop in state.interrupts}
        self.verdict = state.values.get("verdict")
        return stops


def test_with_an_answer_the_clarified_question_is_split_anew_and_debated() -> None:
    model = unclear("0")
    host = Host(model)

    async def both() -> None:
        stops = await host.drive({"question": QUESTION})
        request = {"node": "0", "kind": "clarification", "question": QUESTION, "request": REQUEST}
        assert {node: payload_of(stop.value) for node, stop in stops.items()} == {"0": request}
        assert (len(model.calls), host.verdict) == (3, None)
        await host.drive(Command(resume={stops["0"].id: "  against\nmalaria "}))

    asyncio.run(both())
    tree, verdict = fold(host.events)
    assert len(model.calls) == 3 + 53
    assert tree.nodes["0"].kind == "branch"
    assert tree.nodes["0"].notes == [f"missing: {REQUEST}", "the person answered: against malaria"]
    assert verdict is not None and verdict.notes == []
    clarified = f"{QUESTION}\n(Clarified by the person who asks: against malaria)"
    later = [
        c for c in model.calls[3:] if c.role in ("decomposer", "synthesis_judge", "answer_writer")
    ]
    assert later and all(clarified in c.prompt for c in later if c.node == "0")
    speakers = [(turn.speaker, turn.round) for turn in tree.nodes["0"].transcript[:6]]
    expansion = ["decomposer", "decomposition_judge", "complexity_evaluator"]
    assert speakers == [(who, 1) for who in expansion] + [(who, 2) for who in expansion]


@pytest.mark.parametrize("answer", ["", "  \n ", None])
def test_an_empty_answer_leaves_the_question_open(answer: str | None) -> None:
    model = unclear("0")
    host = Host(model)

    async def both() -> None:
        stops = await host.drive({"question": QUESTION})
        await host.drive(Command(resume={stops["0"].id: answer}))

    asyncio.run(both())
    tree, verdict = fold(host.events)
    assert (tree.nodes["0"].kind, tree.nodes["0"].stopped) == ("leaf", "clarify")
    assert tree.nodes["0"].notes == [f"missing: {REQUEST}", "the person gave no answer"]
    assert verdict is not None
    assert verdict.notes == [f"The question leaves something open: {REQUEST}"]
    assert len(model.calls) == 3 + 7 + 1


def test_the_person_is_asked_once_even_if_the_answer_does_not_help() -> None:
    model = unclear("0")
    model.will_say_now(rate_all(0.9, decision="clarify", request=REQUEST), to=ComplexityReply)
    host = Host(model)

    async def both() -> dict[str, Interrupt]:
        stops = await host.drive({"question": QUESTION})
        return await host.drive(Command(resume={stops["0"].id: "no idea"}))

    assert asyncio.run(both()) == {}
    assert fold(host.events)[0].nodes["0"].stopped == "clarify"
    assert len(model.calls) == 3 + 3 + 7 + 1


def test_several_branches_ask_at_once_and_no_answer_makes_a_paid_call_again() -> None:
    model = unclear("0.0", "0.1", "0.2", children=3)
    host = Host(model)

    async def one_by_one() -> list[int]:
        stops = await host.drive({"question": QUESTION})
        assert set(stops) == {"0.0", "0.1", "0.2"}
        paid = [len(model.calls)]
        for node in ("0.1", "0.2", "0.0"):
            assert node in stops
            left = await host.drive(Command(resume={stops[node].id: f"about {node}"}))
            assert set(left) == set(stops) - {node}
            stops = left
            paid.append(len(model.calls))
        return paid

    subtree = 3 + 3 * 7 + 5
    assert asyncio.run(one_by_one()) == [
        3 + 3 * 3,
        12 + subtree,
        12 + 2 * subtree,
        12 + 3 * subtree + 5 + 1,
    ]
    assert len(set(model.calls)) == len(model.calls)
    for node in ("0.0", "0.1", "0.2"):
        said = next(c for c in model.calls if (c.node, c.role, c.round) == (node, "decomposer", 2))
        assert f"(Clarified by the person who asks: about {node})" in said.prompt


def test_safety_asks_above_its_floor_too_and_splits_whatever_the_answer() -> None:
    model = unclear("0")
    host = Host(model, depth_profile="safety")

    async def both() -> None:
        stops = await host.drive({"question": QUESTION})
        await host.drive(Command(resume={stops["0"].id: ""}))

    asyncio.run(both())
    assert fold(host.events)[0].nodes["0"].kind == "branch"
