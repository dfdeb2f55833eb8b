"""dialectree from Python: notebooks, persons, budgets, hosts, and papers in every form."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import dialectree
from dialectree.errors import BudgetReached, InputError, RunNotFound, SettingsError
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.graphs.role_switching_debate.switching import TWO, debaters, rule
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, TOPIC
from tests.rules import children
from tests.scripted import ScriptedModel
from tests.waiting import PATIENCE_S, wait_until

QUESTION = "Is it yes or no?"
YES_NO = ["yes", "no"]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(rules=children(2), seed=3) as endpoint:
        yield f"openai:any@{endpoint.url}"


def test_answer_works_where_a_loop_is_already_running(model: str) -> None:
    async def notebook() -> dialectree.RunRecord:
        return dialectree.answer(QUESTION, model=model, max_depth=0)

    assert asyncio.run(notebook()).status == "answered"


CELL = """
import asyncio, sys, dialectree

async def cell():
    dialectree.answer("Q?", method_name="best_of_n", samples=9, concurrency=1, model=sys.argv[1])

try:
    asyncio.new_event_loop().run_until_complete(cell())
except KeyboardInterrupt:
    print("interrupted", flush=True)
    input()
"""


def test_interrupting_a_notebooks_cell_ends_the_debate_as_in_a_script() -> None:
    with (
        LocalEndpoint(latency_ms=500) as slow,
        subprocess.Popen(
            [sys.executable, "-c", CELL, f"openai:any@{slow.url}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as notebook,
    ):
        wait_until(lambda: slow.stats()["running"], process=notebook)
        notebook.send_signal(signal.SIGINT)
        assert notebook.stdout is not None
        assert notebook.stdout.readline() == "interrupted\n"
        (folder,) = Path("runs").iterdir()
        record = dialectree.RunRecord.read((folder / "run.json").read_text())
        assert (record.status, record.notices) == ("partial", ["interrupted"])
        assert record.usage.calls == slow.stats()["calls"] < 10
        assert (folder / "report.html").exists()
        notebook.communicate("\n", timeout=PATIENCE_S)
        assert slow.stats()["calls"] == record.usage.calls


SCRIPT = """
import os, sys
from pathlib import Path
import dialectree
record = dialectree.decide("Is it so?", ["yes", "no"], model=sys.argv[1])
print(sorted(path.name for path in record.path.glob("report.*")), flush=True)
if not sys.argv[2]:
    os.chdir("/")
if sys.argv[2] == "load":
    dialectree.load(record.run_id)
    print(sorted(path.name for path in record.path.glob("report.*")))
"""
BOTH = "['report.html', 'report.md']"


@pytest.mark.parametrize(("then", "printed"), [("", ["[]"]), ("load", ["[]", BOTH])])
def test_the_reports_are_written_after_the_verdict_and_before_the_program_ends(
    then: str, printed: list[str], model: str
) -> None:
    words = [sys.executable, "-c", SCRIPT, model, then]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout.splitlines(), done.stderr) == (printed, "")
    (folder,) = Path("runs").iterdir()
    assert sorted(path.name for path in folder.glob("report.*")) == ["report.html", "report.md"]


def test_several_questions_at_once_do_not_mix(model: str) -> None:
    questions = [f"Is {n} a number?" for n in range(5)]

    async def debate() -> list[dialectree.RunRecord]:
        asked = (dialectree.aanswer(q, model=model, max_depth=0) for q in questions)
        return list(await asyncio.gather(*asked))

    records = asyncio.run(debate())
    assert [record.input["question"] for record in records] == questions
    assert [record.tree.nodes["0"].text for record in records] == questions
    assert len({record.run_id for record in records}) == 5


def kept_in(folder: Path) -> dialectree.RunRecord:
    """The record of a run."""
    return dialectree.RunRecord.read((folder / "run.json").read_text())


def test_a_folder_of_runs_that_nobody_names_is_the_one_of_the_environment(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", "hosts")
    record = dialectree.decide(QUESTION, YES_NO, model=model)
    assert kept_in(Path("hosts") / record.run_id) == record == dialectree.load(record.run_id)
    assert command("show", record.run_id, "--json").record == record.model_dump(mode="json")
    named = dialectree.decide(QUESTION, YES_NO, model=model, runs="runs")
    assert kept_in(Path("runs") / named.run_id) == named
    assert command("show", named.run_id, "--runs", "runs").status == 0
    with pytest.raises(RunNotFound):
        dialectree.load(named.run_id)


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
    with pytest.raises(InputError, match=r"^ask: it returned None, not text"):
        dialectree.decide(QUESTION, YES_NO, judge="me", ask=ask, model=model)
    (folder,) = Path("runs").iterdir()
    assert kept_in(folder).status == "partial"


def test_a_finished_run_stays_as_it_is_and_keeps_its_settings(model: str) -> None:
    record = dialectree.run("art", "Cows eat grass.", method_name="cot", model=model)
    assert dialectree.resume(record) == dialectree.load(record.run_id) == record
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"seed": 1}, "^`seed`: a resumed run keeps the recorded settings; leave it out"),
        ({"depth": 2}, "^`depth`: a resumed run keeps"),
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
    with pytest.raises(SettingsError, match="the run did not keep its live model; give a model"):
        dialectree.resume(run_id)
    record = asyncio.run(dialectree.aresume(run_id, model=speaking))
    assert record.status == "answered"
    assert len(speaking.calls) == len(set(speaking.calls)) == record.usage.calls


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


COMPARED: dict[str, Any] = {"embeddings": "bm25", "max_depth": 1}


@pytest.fixture
def files() -> tuple[str, Path]:
    """Both papers as files: plain text and JSON."""
    text = "\n\n".join((PAPER_A["title"], PAPER_A["abstract"], PAPER_A["body"]))
    Path("ladder.txt").write_text(text)
    Path("mesh.json").write_text(json.dumps({k: v for k, v in PAPER_B.items() if k != "name"}))
    return "ladder.txt", Path("mesh.json")


def but_for_times_and_ids(record: dialectree.RunRecord) -> dict[str, Any]:
    told = record.model_dump(exclude={"run_id", "started", "ended"})
    for name in ("wall_s", "embedding_s", "calls_from_cache", "tokens_from_cache"):
        del told["usage"][name]
    return told


def test_a_mapping_is_compared_like_the_file_that_holds_the_same(model: str, files: tuple[str, Path]) -> None:
    by_file = dialectree.compare(PAPER_A, files[1], TOPIC, model=model, **COMPARED)
    by_fields = dialectree.compare(PAPER_A, PAPER_B, TOPIC, model=model, **COMPARED)
    one, other = but_for_times_and_ids(by_file), but_for_times_and_ids(by_fields)
    for told in (one, other):
        del told["input"]
    assert one == other
    again: Any = by_file.input["papers"]
    twice = dialectree.compare(again[0], again[1], TOPIC, model=model, **COMPARED)
    assert but_for_times_and_ids(twice) == but_for_times_and_ids(by_file)
