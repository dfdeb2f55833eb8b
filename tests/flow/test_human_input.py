"""A step of any protocol asks a person; a run's journal knows the answer by what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Command, Interrupt
from pydantic import TypeAdapter

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
from dialectree.errors import InputError
from dialectree.flow.human_input import payload_of
from dialectree.protocols.protocol import Method, Variant
from dialectree.protocols.settings import build_settings
from dialectree.records import RunRecord
from dialectree.running.runner import RunHandle, prepare_graph_input
from dialectree.running.runner import begin as begin_run


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
    return {"meaning": await ask_person(runtime, **asked)}


async def chair(state: Meeting, runtime: Runtime[Panel]) -> Ruling:
    if settings(runtime, Panel).chair == "nobody":
        return await settle(runtime, state["meaning"])
    label = await ask_person(
        runtime,
        node="0",
        kind="chair",
        question=state["question"],
        request="Yes or no?",
        transcript=f"draw {settings(runtime).seed}",
        labels=["Yes", "No"],
    )
    return await settle(runtime, f"{state['meaning']} {label}")


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
    graph="tests.flow.test_human_input:graph",
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


def begin(runs: Path, **values: Any) -> RunHandle:
    context = build_settings(Panel, model="openai:none@http://127.0.0.1:9", **values)
    return begin_run(METHOD, prepare_graph_input(METHOD, {"question": "So?"}, context), context, runs)


def finish(run: RunHandle, ask: Person | None = None, **values: Any) -> RunRecord:
    """Go on with ``run`` as another process would, with other settings where there are any."""
    context = run.context.model_copy(update=values)
    return asyncio.run(RunHandle(run.folder, run.folder.record(), METHOD, context).conduct(ask=ask))


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
def test_a_host_is_asked_until_the_reply_is_a_label_or_empty(replies: list[Any], label: str) -> None:
    stops, answer = hosted(replies, chair="me")
    shown = [f"{str(reply).strip()[:80]!r} is no such label. Yes or no?" for reply in replies[:-1]]
    requests = [payload_of(stop.value) for stop in stops]
    assert requests == [{**REQUEST, "request": one} for one in ("Yes or no?", *shown)]
    assert answer.strip() == label


def hosted(replies: list[Any], **settings: Any) -> tuple[list[Interrupt], str]:
    """Return what a host is asked, in order, and the answer of the verdict."""
    host = graph.copy({"checkpointer": InMemorySaver()})
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}

    async def drive() -> tuple[list[Interrupt], str]:
        context, stops = build_settings(Panel, **settings), list[Interrupt]()
        out = await host.ainvoke({"question": "So?"}, config, context=context)
        for reply in replies:
            stops += out["__interrupt__"]
            out = await host.ainvoke(Command(resume={stops[-1].id: reply}), config, context=context)
        return stops, str(out["verdict"]["answer"])

    return asyncio.run(drive())


def test_a_request_has_the_shape_that_chat_applications_and_inboxes_show() -> None:
    (stop,), _ = hosted(["no"], chair="me")
    answer: dict[str, Any] = {"type": "string", "title": "Answer", "description": "Yes or no?"}
    answer["enum"] = ["Yes", "No", ""]
    assert TypeAdapter(HITLRequest).validate_python(stop.value, extra="forbid") == {
        "action_requests": [
            {"name": "chair", "args": {"answer": "", **REQUEST}, "description": "Yes or no?\n\nAbout: So?"}
        ],
        "review_configs": [
            {
                "action_name": "chair",
                "allowed_decisions": ["respond", "edit", "reject"],
                "args_schema": {"type": "object", "properties": {"answer": answer}},
            }
        ],
    }
    (stop,), _ = hosted(["the sea"], clarify=True)
    schema: Any = stop.value["review_configs"][0]["args_schema"]
    assert "enum" not in schema["properties"]["answer"]


PROPOSED = {"answer": "", **REQUEST}
ANSWERS: dict[str, Callable[[str], Any]] = {
    "agent-chat-ui, respond": lambda text: decided(type="respond", message=text),
    "agent-chat-ui, edit": lambda text: decided(type="edit", edited_action=edited("name", text)),
    "agent-inbox, response": lambda text: [{"type": "response", "args": text}],
    "agent-inbox, edit": lambda text: [{"type": "edit", "args": edited("action", text)}],
    "a label": lambda text: {"label": text},
    "a text": lambda text: text,
}
SILENCE: dict[str, Any] = {
    "agent-chat-ui, approve": {"decisions": [{"type": "approve"}]},
    "agent-chat-ui, reject": {"decisions": [{"type": "reject"}]},
    "agent-chat-ui, reject why": {"decisions": [{"type": "reject", "message": "too hard"}]},
    "agent-inbox, ignore": [{"type": "ignore", "args": None}],
    "agent-inbox, accept": [{"type": "accept", "args": {"action": "chair", "args": PROPOSED}}],
    "agent-inbox, accept alone": [{"type": "accept", "args": None}],
    "nothing": None,
}


def decided(**decision: Any) -> dict[str, Any]:
    return {"decisions": [decision]}


def edited(named: str, text: str) -> dict[str, Any]:
    return {named: "chair", "args": {**PROPOSED, "answer": text}}


@pytest.mark.parametrize("client", ANSWERS)
def test_a_client_answers_in_its_own_shape(client: str) -> None:
    reply = ANSWERS[client]
    assert hosted([reply("the  sea")], clarify=True)[1] == "the sea"
    stops, answer = hosted([reply("sand"), reply("yes")], chair="me")
    assert answer.strip() == "Yes"
    request = payload_of(stops[1].value)["request"]
    assert request == "'sand' is no such label. Yes or no?"


@pytest.mark.parametrize("client", SILENCE)
def test_a_client_may_leave_a_request_unanswered(client: str) -> None:
    assert hosted([SILENCE[client]], clarify=True)[1] == ""
    assert hosted([SILENCE[client]], chair="me")[1].strip() == ""


@pytest.mark.parametrize("reply", [[{"type": "sing"}], {"decisions": []}, ["yes"]])
def test_a_reply_of_no_known_shape_is_asked_for_again(reply: Any) -> None:
    stops, answer = hosted([reply, "the sea"], clarify=True)
    assert answer == "the sea"
    assert payload_of(stops[1].value)["request"] == f"{str(reply)!r} holds no answer. What is meant?"


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
    assert record.tree.nodes["0"].notes == [
        "a person is asked: What is meant?",
        "the person answered: the sea",
        "a person is asked: Yes or no?",
        "the person ruled Yes",
    ]
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
    with pytest.raises(InputError, match=r"^`chair` me: this needs a person; name a model$"):
        finish(run)
    assert run.folder.ledger() == []
