"""``dialectree.decide``, ``verify`` and ``contest`` from Python, their twins, and both as tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import dialectree
from dialectree.contests import Add, Drop, Restore, Set
from dialectree.errors import BudgetReached, InputError, RunFolderError, RunNotFound, SettingsError
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.records import Event
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.graphs.role_switching_debate.switching import TWO, debaters, rule
from tests.scripted import ScriptedModel

CLAIM = "Chameleons change colour mainly for camouflage."
QUESTION = "Is it yes or no?"
YES_NO = ["yes", "no"]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(seed=3) as endpoint:
        yield f"openai:any@{endpoint.url}"


def kept(record: dialectree.RunRecord, runs: str = "runs") -> dialectree.RunRecord:
    """The record as it lies in the folder."""
    return kept_in(Path(runs) / record.run_id)


def kept_in(folder: Path) -> dialectree.RunRecord:
    """The record of a run."""
    return dialectree.RunRecord.read((folder / "run.json").read_text())


def test_decide_returns_the_record_that_lies_in_the_folder(model: str) -> None:
    record = dialectree.decide(QUESTION, YES_NO, model=model, runs="elsewhere")
    assert (record.protocol, record.method) == ("rsd", "rsd")
    assert record.input == {"question": QUESTION, "options": YES_NO}
    assert record.status in ("answered", "unresolved")
    assert kept(record, "elsewhere") == record


def test_a_folder_of_runs_that_nobody_names_is_the_one_of_the_environment(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", "hosts")
    record = dialectree.decide(QUESTION, YES_NO, model=model)
    assert kept(record, "hosts") == record == dialectree.load(record.run_id)
    assert command("show", record.run_id, "--json").record == record.model_dump(mode="json")
    named = dialectree.decide(QUESTION, YES_NO, model=model, runs="runs")
    assert kept(named, "runs") == named
    assert command("show", named.run_id, "--runs", "runs").status == 0
    with pytest.raises(RunNotFound):
        dialectree.load(named.run_id)


def test_the_gold_answer_reaches_an_evaluation(model: str) -> None:
    record = dialectree.decide(QUESTION, YES_NO, gold="B", candidates="oracle", model=model)
    assert record.input["gold"] == "B"
    with pytest.raises(InputError, match="gold LABEL"):
        dialectree.decide(QUESTION, YES_NO, candidates="oracle", model=model)


@pytest.mark.parametrize("plain", [False, True], ids=["asynchronous", "plain"])
def test_a_program_can_be_the_judge(plain: bool, model: str) -> None:
    asked: list[Mapping[str, str]] = []

    def rule(request: Mapping[str, str]) -> str:
        asked.append(request)
        return "b"

    async def ask(request: Mapping[str, str]) -> str:
        return rule(request)

    by = rule if plain else ask
    record = dialectree.decide(QUESTION, YES_NO, judge="me", ask=by, model=model)
    assert record.verdict is not None
    assert (record.verdict.label, record.verdict.answer) == ("B", "no")
    (request,) = asked
    assert request["question"] == QUESTION and "yes" in request["transcript"]


async def silent(request: Mapping[str, str]) -> None:
    """Forgets to return what it was told."""


@pytest.mark.parametrize("ask", [silent, lambda request: None], ids=["asynchronous", "plain"])
def test_a_judge_that_returns_no_text_is_a_slip_and_the_run_can_go_on(ask: Any, model: str) -> None:
    with pytest.raises(InputError, match=r"^ask: it returned None, no text"):
        dialectree.decide(QUESTION, YES_NO, judge="me", ask=ask, model=model)
    (folder,) = Path("runs").iterdir()
    assert kept_in(folder).status == "partial"


def test_what_a_budget_broke_off_is_gone_on_with(model: str) -> None:
    whole = dialectree.decide(QUESTION, YES_NO, model=model, cache=False, runs="whole")
    with pytest.raises(BudgetReached) as stopped:
        dialectree.decide(QUESTION, YES_NO, model=model, cache=False, max_calls=4)
    run_id = stopped.value.run_id
    assert run_id is not None and kept_in(Path("runs") / run_id).usage.calls == 4
    with pytest.raises(BudgetReached) as again:
        dialectree.resume(run_id, max_calls=1)
    assert again.value.run_id == run_id
    assert kept_in(Path("runs") / run_id).usage.calls == 5
    told: list[Event] = []
    record = dialectree.resume(Path("runs") / run_id, watch=told.append)
    assert (record.tree, record.verdict) == (whole.tree, whole.verdict)
    assert record.usage.calls == whole.usage.calls
    assert kept(record) == record and told
    assert dialectree.resume(record) == record
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"seed": 1}, "^seed: a run is resumed with the settings of its run"),
        ({"allow_uncertain": True}, "^allow_uncertain: a run is resumed"),
        ({"max_cals": 1}, "max_cals"),
    ]
    for wrong, message in wrongs:
        with pytest.raises(InputError, match=message):
            dialectree.resume(record, **wrong)


def test_a_run_of_a_live_model_is_gone_on_with_by_giving_it_again() -> None:
    speaking = ScriptedModel()
    debaters(speaking)
    speaking.will_say_now(rule("A", TWO[0]), to=JudgeReply)
    with pytest.raises(BudgetReached) as stopped:
        dialectree.decide(QUESTION, [*TWO], model=speaking, max_calls=3)
    run_id = str(stopped.value.run_id)
    with pytest.raises(SettingsError, match="the run keeps no model that could be asked; give one"):
        dialectree.resume(run_id)
    record = asyncio.run(dialectree.aresume(run_id, model=speaking))
    assert record.status == "answered"
    assert len(speaking.calls) == len(set(speaking.calls)) == record.usage.calls


def test_verify_returns_a_probability_and_the_tree_behind_it(model: str) -> None:
    told: list[Event] = []
    record = dialectree.verify(CLAIM, model=model, breadth=2, watch=told.append)
    assert record.verdict is not None
    assert record.verdict.confidence == record.tree.nodes["0"].score("strength")
    assert record.verdict.confidence_source == "P(claim)"
    assert kept(record) == record
    assert [event.kind for event in told][-1] == "concluded"
    assert dialectree.verify(CLAIM, model=model, method_name="direct").usage.calls == 1


def test_contest_returns_what_a_change_comes_to(model: str) -> None:
    old = dialectree.verify(CLAIM, model=model)
    told: list[Event] = []
    new = dialectree.contest(old.run_id, [Drop("0.1")], watch=told.append)
    assert new.contest is not None and new.contest.run == old.run_id
    assert kept(new) == new and kept(old) == old
    assert [event.node for event in told if event.kind == "contested"] == ["0.1"]
    back = dialectree.contest(Path("runs") / new.run_id, [Restore("0.1")], runs="more")
    assert kept(back, "more").verdict == old.verdict
    again = dialectree.contest(old, [Drop("0.1")])
    assert again.verdict == new.verdict
    added = dialectree.contest(old.run_id, [Add("support", "0", "So it is.")], cache=False)
    assert added.usage.calls >= 2
    wrong: list[tuple[Any, dict[str, Any]]] = [
        ([], {}),
        ([Drop("7")], {}),
        (Drop("0.1"), {}),
        ([Set("0.1", 0.2)], {"blend": 0.1}),
    ]
    for wishes, settings in wrong:
        with pytest.raises(InputError):
            dialectree.contest(old.run_id, wishes, **settings)
    with pytest.raises(RunFolderError, match="there is no run"):
        dialectree.contest("nothing", [Drop("0.1")])


def test_wrong_input_is_said_before_a_folder_is_made() -> None:
    nothing: Any = None
    wrong: list[tuple[str, Callable[[], object]]] = [
        ("^the question is missing$", lambda: dialectree.answer(nothing)),
        ("^question: input should be", lambda: dialectree.decide(cast(Any, [QUESTION]), YES_NO)),
        ("^options: input should be", lambda: dialectree.decide(QUESTION, cast(Any, {"A": "yes"}))),
        ("one option", lambda: dialectree.decide(QUESTION, ["yes"])),
        ("^options: input should be", lambda: dialectree.decide(QUESTION, cast(Any, "yes"))),
        ("the same", lambda: dialectree.decide(QUESTION, ["yes", " yes"])),
        ("known: rsd", lambda: dialectree.decide(QUESTION, YES_NO, method_name=cast(Any, "art"))),
        ("known: art", lambda: dialectree.verify(CLAIM, method_name=cast(Any, "tsd"))),
        ("this is a question", lambda: dialectree.verify(QUESTION)),
        ("the claim is empty", lambda: dialectree.verify(" ")),
        ("^breadth: ", lambda: dialectree.verify(CLAIM, breadth=0)),
    ]
    for match, work in wrong:
        with pytest.raises(InputError, match=match):
            work()
    with pytest.raises(SettingsError, match="no such setting"):
        dialectree.verify(CLAIM, **cast(Any, {"depht": 1}))
    assert not Path("runs").exists()


class Host(TypedDict):
    """The state of a host's graph."""

    out: str


class HostNode(Protocol):
    """A node of it."""

    def __call__(self, state: Host) -> Awaitable[Host]: ...


def hosted(node: HostNode) -> tuple[Any, RunnableConfig]:
    """A host's graph of one node, with a checkpointer, and a thread of it."""
    builder = StateGraph(Host)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}


async def waited_for(*given: Any, **settings: Any) -> dialectree.RunRecord:
    """A debate for which an asynchronous node waits as a program without a loop does."""
    return dialectree.decide(*given, **settings)


both = pytest.mark.parametrize("decided", [dialectree.adecide, waited_for])
"""The ways of a host's node to a debate."""
Deciding = Callable[..., Awaitable[dialectree.RunRecord]]


@both
def test_a_host_that_asks_after_a_debate_and_goes_on_finds_the_same_verdict(
    decided: Deciding, model: str
) -> None:
    records: list[dialectree.RunRecord] = []

    async def node(state: Host) -> Host:
        records.append(await decided(QUESTION, YES_NO, model=model))
        return {"out": interrupt("use it?")}

    async def host() -> dict[str, Any]:
        graph, thread = hosted(node)
        await graph.ainvoke({"out": ""}, thread)
        ended: dict[str, Any] = await graph.ainvoke(Command(resume="yes"), thread)
        return ended

    assert asyncio.run(host()) == {"out": "yes"}
    first, second = records
    assert (second.tree, second.verdict) == (first.tree, first.verdict)
    assert first.tree.nodes["0"].transcript


@both
def test_a_host_goes_on_after_a_budget_with_a_whole_debate(decided: Deciding, model: str) -> None:
    budget: dict[str, Any] = {"max_calls": 4}
    records: list[dialectree.RunRecord] = []

    async def node(state: Host) -> Host:
        records.append(await decided(QUESTION, YES_NO, model=model, **budget))
        return {"out": records[-1].status}

    async def host() -> None:
        graph, thread = hosted(node)
        with pytest.raises(BudgetReached):
            await graph.ainvoke({"out": ""}, thread)
        budget.clear()
        await graph.ainvoke(None, thread)
        assert {key async for key in _namespaces(graph, thread)} == {""}

    asyncio.run(host())
    assert len(records[0].tree.nodes["0"].transcript) >= 9


async def _namespaces(graph: Any, thread: RunnableConfig) -> AsyncIterator[str]:
    """Whose checkpoints the host's checkpointer holds."""
    async for saved in graph.checkpointer.alist(thread):
        yield saved.config["configurable"]["checkpoint_ns"]


def fields(tool: StructuredTool) -> set[str]:
    return {*tool.args}


def test_a_tool_decides(model: str) -> None:
    tool = dialectree.as_tool("rsd", model=model, runs="of_tools")
    assert (tool.name, fields(tool)) == ("dialectree_rsd", {"question", "options"})
    said = tool.invoke({"question": QUESTION, "options": YES_NO})
    assert re.search(r"Run: |\(run ", said)
    assert asyncio.run(tool.ainvoke({"question": QUESTION, "options": YES_NO})) is not None
    assert len([*Path("of_tools").iterdir()]) == 2
    open_question = dialectree.as_tool("self_consistency", samples=2, model=model)
    assert open_question.name == "dialectree_self_consistency"
    assert isinstance(open_question.invoke({"question": "Why is the sky blue?"}), str)


def test_a_tool_verifies(model: str) -> None:
    tool = dialectree.as_tool("art", model=model)
    assert (tool.name, fields(tool)) == ("dialectree_art", {"claim"})
    said = tool.invoke({"claim": CLAIM})
    assert re.match(r"(True|False)\n", said)
    assert re.search(r"\nProbability: \S+\. Run: \d{8}-\d{6}-[0-9a-f]{6}\.\Z", said)
    assert "claim" in tool.description
    assert re.match(r"True|False", dialectree.as_tool("cot", model=model).invoke({"claim": CLAIM}))


@pytest.mark.parametrize(
    ("strength", "said"),
    [(0.499, "False: 0.499"), (0.9975, "True: 0.998"), (1.0, "True: 1.00"), (0.8, "True: 0.80")],
)
def test_a_tool_tells_no_figure_that_contradicts_its_verdict(strength: float, said: str) -> None:
    model = ScriptedModel()
    model.will_say(arguing.argue("It is known."), to=ArgumentsReply)
    model.will_say(arguing.score(0.6))  # of both sides alike, so that the claim stays as it was
    model.will_say(arguing.score_claim(strength))
    shape: dict[str, Any] = {"root_strength": "estimated", "blend": 0.0, "breadth": 1, "depth": 1}
    tool = dialectree.as_tool("art", model=model, cache=False, **shape)
    told = tool.invoke({"claim": CLAIM})
    found = re.match(r"(\w+)\n.*Probability: (\S+)\. Run: ", told, re.DOTALL)
    assert found is not None and ": ".join(found.groups()) == said, told


SLIPS: dict[str, tuple[str, dict[str, Any], str]] = {
    "one option": ("rsd", {"question": QUESTION, "options": ["yes"]}, "one option is no choice"),
    "no question": ("tsd", {"question": " "}, "the question is empty"),
    "no paper": ("tod", {"paper_a": "a.pdf", "paper_b": "b.pdf", "topic": "x"}, "a.pdf"),
    "a question": ("art", {"claim": "Is it so?"}, "this is a question"),
}


@pytest.mark.parametrize(("name", "given", "said"), SLIPS.values(), ids=SLIPS.keys())
def test_an_agents_model_is_told_of_its_slip(
    name: str, given: dict[str, Any], said: str, model: str
) -> None:
    tool = dialectree.as_tool(name, model=model)
    call = {"name": tool.name, "args": given, "id": "1", "type": "tool_call"}
    for told in (tool.invoke(call), asyncio.run(tool.ainvoke(call))):
        assert (told.status, said in told.content) == ("error", True), told


def test_settings_that_cannot_be_are_refused_when_a_tool_is_made() -> None:
    with pytest.raises(SettingsError, match="is max_depth meant"):
        dialectree.as_tool("tsd", max_depht=3)
    for name in ("rsd", "tsd"):
        with pytest.raises(InputError, match="judge"):
            dialectree.as_tool(name, judge="me")
