"""A flow compiles to the graph that its declaration says."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, Literal, NotRequired

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.types import Command, interrupt

from dialectree.errors import CallError, Contradiction, Dropped
from dialectree.flow import Flow, Graph, Step
from dialectree.flow.state import Debate, Question, VerdictFields
from dialectree.flow.steps import opening
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.settings import build_settings

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


class Asked(Question):
    """A question with options."""

    options: NotRequired[list[str]]


class Talk(Debate):
    """What is said."""

    options: list[str]
    words: Annotated[list[str], operator.add]
    rounds: Annotated[int, operator.add]
    failed: bool


FAULTS = {
    "fails": CallError("no reply"),
    "dropped": Dropped("taken out"),
    "contradicts": Contradiction("prompt", "0", "two sides"),
}


def says(word: str) -> Any:
    """Return a role that says ``word``, or goes wrong as the question says."""

    async def speak(state: Talk, runtime: object) -> dict[str, object]:
        name, _, fault = state["question"].partition(" ")
        if name == word:
            raise FAULTS[fault]
        return {"words": [word], "rounds": 1}

    return speak


async def judge(state: Talk, runtime: object) -> dict[str, object]:
    words = " ".join([*(state["options"] or []), *state["words"]])
    verdict: VerdictFields = {
        "answer": words,
        "label": None,
        "rationale": None,
        "confidence": None,
        "confidence_source": None,
        "notes": [],
    }
    return {"verdict": verdict}


def flow(opening: Step = opening, **role: Any) -> Flow:
    """Return a flow with the roles ``one``, ``two`` and ``judge``; ``role`` is said of ``one``."""
    flow = Flow(Talk, settings=Settings, input=Asked, opening=opening)
    flow.role("one", says("one"), **role)
    flow.role("two", says("two"))
    flow.role("judge", judge)
    return flow


def answer(graph: Graph, question: str, thread: RunnableConfig | None = None, **more: Any) -> Any:
    given = {"question": question, **more}
    done = asyncio.run(graph.ainvoke(given, thread, context=build_settings(Settings, model="openai:any")))
    return done["verdict"]["answer"]


def ways(graph: Graph) -> set[str]:
    return {f"{edge.source} -> {edge.target}" for edge in graph.get_graph().edges}


def one_after_another(**role: Any) -> Graph:
    talk = flow(**role)
    talk.then(START, "one", "two", "judge", END)
    return talk.compile("talk")


def side_by_side(**role: Any) -> Graph:
    def after_both(state: Talk) -> Literal["judge"]:
        return "judge"

    talk = flow(**role)
    talk.step("met")
    talk.then(START, ("one", "two"), "met")
    talk.route("met", after_both)
    talk.then("judge", END)
    return talk.compile("talk")


def test_a_protocol_opens_and_concludes_by_itself() -> None:
    graph = one_after_another()
    assert ways(graph) == {
        "__start__ -> opening",
        "opening -> one",
        "one -> two",
        "two -> judge",
        "judge -> conclusion",
        "conclusion -> __end__",
    }
    assert answer(graph, "why?") == "one two"


@pytest.mark.parametrize(
    ("role", "fault", "said"),
    [
        ({}, "fails", "two"),
        ({"on_failure": {"words": ["–"]}}, "fails", "– two"),
        ({"on_failure": {"words": ["–"]}}, "dropped", "– two"),
        ({"on_failure": {"words": ["–"]}, "on_drop": {"words": ["x"]}}, "dropped", "x two"),
        ({"on_failure": {"words": ["–"]}, "on_drop": {"words": ["x"]}}, "fails", "– two"),
        ({"on_contradiction": {"words": ["?"]}}, "contradicts", "? two"),
        ({"on_contradiction": {"words": ["?"]}}, "fails", "two"),
        ({"required": True}, "fails", None),
        ({"required": True}, "contradicts", None),
    ],
)
@pytest.mark.parametrize("declared", [one_after_another, side_by_side])
def test_what_becomes_of_a_debate_without_one_role(
    declared: Any, role: dict[str, Any], fault: str, said: str | None
) -> None:
    assert answer(declared(**role), f"one {fault}") == said
    assert answer(declared(**role), "why?") == "one two"


def test_nobody_speaks_after_a_required_role_has_failed() -> None:
    graph = one_after_another(required=True)
    assert {"one -> unresolved", "unresolved -> conclusion"} <= ways(graph)
    spoke = asyncio.run(_steps(graph, "one fails"))
    assert spoke == ["opening", "one", "unresolved", "conclusion"]


async def _steps(graph: Graph, question: str) -> list[str]:
    given: Any = {"question": question}
    stream = graph.astream(given, context=build_settings(Settings, model="openai:any"), stream_mode="updates")
    return [name async for part in stream for name in part]


def test_a_question_in_a_reused_thread_knows_nothing_of_the_one_before() -> None:
    graph = one_after_another(required=True)
    graph.checkpointer = InMemorySaver()
    assert answer(graph, "why?", THREAD, options=["A"]) == "A one two"
    assert answer(graph, "one fails", THREAD) is None
    assert answer(graph, "why?", THREAD) == "one two"
    assert asyncio.run(graph.aget_state(THREAD)).values["rounds"] == 2


def test_a_first_step_may_ask_a_person() -> None:
    async def opening(state: Asked, runtime: object) -> dict[str, object]:
        return {"options": [interrupt("which?")]}

    talk = flow(opening)
    talk.then(START, "one", "judge", END)
    graph = talk.compile("talk")
    graph.checkpointer = InMemorySaver()
    for reply in ("A", "B"):

        async def conversation(reply: str = reply) -> Any:
            given: Any = {"question": "why?"}
            context = build_settings(Settings, model="openai:any")
            asked = await graph.ainvoke(given, THREAD, context=context)
            assert asked["__interrupt__"]
            return await graph.ainvoke(Command(resume=reply), THREAD, context=context)

        assert asyncio.run(conversation())["verdict"]["answer"] == f"{reply} one"


def test_a_rule_reads_the_settings_and_a_thread_can_be_edited() -> None:
    def after_two(state: Talk, settings: Settings) -> Literal["one", "judge"]:
        return "one" if state["rounds"] < 2 * settings.synthesis_rounds else "judge"

    talk = flow()
    talk.then(START, "one", "two")
    talk.route("two", after_two)
    talk.then("judge", END)
    graph = talk.compile("talk")
    graph.checkpointer = InMemorySaver()
    assert answer(graph, "why?", THREAD) == "one two one two"
    asyncio.run(graph.aupdate_state(THREAD, {"rounds": -2}, as_node="two"))
    assert asyncio.run(graph.aget_state(THREAD)).next == ("one",)


def test_a_fan_is_waited_for_and_the_next_step_runs_once() -> None:
    async def say(state: Any, runtime: object) -> dict[str, object]:
        return {"words": [state["word"]]}

    def words(state: Talk) -> list[dict[str, str]]:
        return [{"word": letter} for letter in state["question"]]

    talk = Flow(Talk, settings=Settings, input=Asked)
    talk.role("say", say)
    talk.role("judge", judge)
    talk.fan(START, "say", words)
    talk.then("say", "judge", END)
    graph = talk.compile("talk")
    assert answer(graph, "abc") == "a b c"
    assert asyncio.run(_steps(graph, "abc")).count("judge") == 1
