"""A step of any protocol asks a person; a run's journal knows the answer by what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Command

from dialectree import (
    Debate,
    Flow,
    Protocol,
    ProtocolInput,
    ProtocolSettings,
    Question,
    Ruling,
    ask_person,
    option,
    settings,
    settle,
)
from dialectree.context import build
from dialectree.errors import InputError
from dialectree.protocol import Method, Variant
from dialectree.records import RunRecord
from dialectree.runner import Started, start


class Panel(ProtocolSettings):
    """The settings of a panel that a person chairs."""

    clarify: bool = option(False, person=True)
    """Whether a person may say what the question means."""
    chair: Literal["nobody", "me"] = option("nobody", person=True)
    """Who rules."""


class Input(ProtocolInput):
    """A question."""

    question: str = option(positional=True)
    """One question."""


class Meeting(Debate):
    """What the person made of the question."""

    meaning: str


async def clarification(state: Meeting, runtime: Runtime[Panel]) -> dict[str, str]:
    if not settings(runtime, Panel).clarify:
        return {"meaning": ""}
    request = "What is meant?"
    asked = {"node": "0", "kind": "meaning", "question": state["question"], "request": request}
    return {"meaning": ask_person(runtime, **asked)}


async def chair(state: Meeting, runtime: Runtime[Panel]) -> Ruling:
    if settings(runtime, Panel).chair == "nobody":
        return settle(runtime, state["meaning"])
    label = ask_person(
        runtime,
        node="0",
        kind="chair",
        question=state["question"],
        request="Yes or no?",
        transcript=f"draw {settings(runtime).seed}",
        labels=["Yes", "No"],
    )
    return settle(runtime, f"{state['meaning']} {label}")


flow = Flow(Meeting, settings=Panel, input=Question)
flow.step("clarification", clarification)
flow.step("chair", chair)
flow.then(START, "clarification", "chair", END)
graph = flow.compile("panel")
PANEL = Protocol(
    name="panel",
    title="Panel",
    summary="Let a person rule.",
    source="nowhere",
    input=Input,
    settings=Panel,
    outcome="answer",
    graph="tests.test_human_input:graph",
    roles={},
    prompts=(),
)
METHOD = Method(PANEL, Variant(name="panel", summary="", graph=PANEL.graph))
BOTH: dict[str, Any] = {"clarify": True, "chair": "me"}
REQUEST = {"node": "0", "kind": "chair", "question": "So?", "request": "Yes or no?"}
REQUEST |= {"transcript": "draw 0", "labels": "Yes, No"}


class Person:
    """Answers by kind, in turn; an answer that is an error is raised."""

    def __init__(self, **answers: list[str | BaseException]) -> None:
        self.answers = answers
        self.requests: list[Mapping[str, str]] = []

    async def __call__(self, payload: Mapping[str, str]) -> str:
        self.requests.append(payload)
        answer = self.answers[payload["kind"]].pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def kinds(self) -> list[str]:
        return [payload["kind"] for payload in self.requests]


def begin(runs: Path, **values: Any) -> Started:
    context = build(Panel, model="openai:none@http://127.0.0.1:9", **values)
    return start(METHOD, {"question": "So?"}, context, runs)


def finish(run: Started, ask: Person | None = None, **values: Any) -> RunRecord:
    """Go on with ``run`` as another process would, with other settings where there are any."""
    context = run.context.model_copy(update=values)
    return asyncio.run(Started(run.folder, run.folder.record(), METHOD, context).conduct(ask=ask))


@pytest.mark.parametrize(
    ("replies", "label"),
    [
        (["Yes"], "Yes"),
        ([" no "], "No"),
        ([{"label": "YES"}], "Yes"),
        (["(Yes)", 7, {"lable": "No"}, "Yes, No", "x" * 500, "yes"], "Yes"),
        ([""], ""),
        ([None], ""),
        ([{}], ""),
        ([{"label": None}], ""),
    ],
)
def test_a_host_is_asked_until_the_reply_is_a_label_or_empty(
    replies: list[Any], label: str
) -> None:
    host = graph.copy({"checkpointer": InMemorySaver()})
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    context = build(Panel, chair="me")

    async def drive() -> str:
        out = await host.ainvoke({"question": "So?"}, config, context=context)
        request = REQUEST["request"]
        for reply in replies:
            (stop,) = out["__interrupt__"]
            assert stop.value == {**REQUEST, "request": request}
            request = f"{str(reply).strip()[:80]!r} is no such label. Yes or no?"
            out = await host.ainvoke(Command(resume={stop.id: reply}), config, context=context)
        return str(out["verdict"]["answer"])

    assert asyncio.run(drive()).strip() == label


@pytest.mark.parametrize("broken_off", [ZeroDivisionError(), asyncio.CancelledError()])
def test_a_run_keeps_each_answer_and_asks_again_only_what_is_shown_anew(
    broken_off: BaseException, tmp_path: Path
) -> None:
    run = begin(tmp_path, **BOTH)
    with pytest.raises(type(broken_off)):
        finish(run, Person(meaning=["  the\nsea "], chair=["sand", broken_off]))
    assert run.folder.record().status == "partial"
    again = Person(chair=["yes"])
    record = finish(run, again)
    assert again.kinds() == ["chair"]
    assert record.verdict is not None and record.verdict.answer == "the sea Yes"
    assert record.tree.nodes["0"].notes == ["the person answered: the sea", "the person ruled Yes"]
    silent = Person()
    for seed, person in ((0, silent), (1, Person(chair=["no"]))):
        record.status = "partial"
        run.folder.write_record(record)
        record = finish(run, person, seed=seed)
        assert record.verdict and record.verdict.answer == f"the sea {['Yes', 'No'][seed]}"
    assert silent.requests == []


def test_a_persons_answers_are_in_the_journal_and_count_as_no_calls(tmp_path: Path) -> None:
    run = begin(tmp_path, **BOTH, max_calls=1)
    record = finish(run, Person(meaning=["m"], chair=["yes"]))
    lines = run.folder.ledger()
    assert [(line.source, line.phase, line.reply) for line in lines] == [
        ("person", "meaning", "m"),
        ("person", "chair", "Yes"),
    ]
    assert run.folder.calls() == []
    usage = record.usage
    assert (usage.calls, usage.attempts, usage.cost, usage.critical_path_calls) == (0, 0, None, 0)
    assert record.prompts == {}


def test_a_ruling_needs_a_person_and_a_clarification_does_not(tmp_path: Path) -> None:
    record = finish(begin(tmp_path, clarify=True))
    assert record.tree.nodes["0"].notes == []
    run = begin(tmp_path, **BOTH)
    with pytest.raises(InputError, match=r"^--chair me: nobody is there to rule$"):
        finish(run)
    assert run.folder.ledger() == []
