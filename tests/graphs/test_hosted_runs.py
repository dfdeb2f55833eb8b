"""A run that a host drives leaves the record that a run of our own leaves."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import dialectree
from dialectree.errors import BudgetReached, InputError
from dialectree.nodes.role_switching_debate.state import RoleSwitchingDebate, Settings
from dialectree.protocols.protocol import methods
from dialectree.records import Event, RunRecord, fold_run
from dialectree.records.folder import RunFolder
from dialectree.running import hosted
from dialectree.running.hosted import keeping
from dialectree.running.runner import begin
from tests.breaking_off import Crash
from tests.endpoint import LocalEndpoint
from tests.graphs.test_every_protocol import Way, every
from tests.scripted import ScriptedModel

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}
CLAIM = "It is so."


def comparable(record: RunRecord) -> dict[str, Any]:
    """Return a record without its id and its times."""
    told = record.model_dump(mode="json")
    for name in ("run_id", "started", "ended", "owner", "thread"):
        del told[name]
    del told["usage"]["wall_s"], told["usage"]["embedding_s"]
    return told


def own(way: Way, model: ScriptedModel, runs: Path) -> RunRecord:
    """Return the record of the same debate by ``dialectree.run``."""
    given = {"question": CLAIM, **way.given}
    return asyncio.run(begin(methods()[way.method], given, way.context(model), runs).conduct())


@every
@pytest.mark.parametrize("kept", [True, False], ids=["in a folder", "nowhere"])
def test_the_record_of_a_hosted_run_is_that_of_the_same_run_of_our_own(
    way: Way, kept: bool, tmp_path: Path
) -> None:
    mine, hosts = way.speakers(), way.speakers()
    expected = own(way, mine, tmp_path / "own")

    async def drive() -> Any:
        thread = way.graph.copy({"checkpointer": InMemorySaver()})
        with keeping(tmp_path / "runs" if kept else None):
            ruling = await thread.ainvoke(
                {"question": CLAIM, **way.given}, CONFIG, context=way.context(hosts)
            )
        return ruling, (await thread.aget_state(CONFIG)).values

    ruling, state = asyncio.run(drive())
    record = RunRecord.model_validate(state["record"])
    assert {*ruling} == {"verdict", "run_id"}
    assert comparable(record) == comparable(expected)
    assert Counter(hosts.calls) == Counter(mine.calls)
    assert (record.run_id, state["run"]["id"]) == (ruling["run_id"],) * 2
    assert (state["run"]["settings"], record.thread) == (record.settings, "1")
    folders = RunFolder.all(tmp_path / "runs")
    assert [folder.record() for folder in folders] == [record] * kept
    if kept:
        assert dialectree.load(record.run_id, runs=tmp_path / "runs") == record
        assert len(folders[0].calls()) == len(mine.calls)
        assert {event.run_id for event in folders[0].events()} == {record.run_id}


def forget() -> None:
    """Stand for a new process, which has nothing in memory of a run."""
    hosted._active.clear()
    hosted._resting.clear()


NAMED = {"nothing": None, "an empty mapping": {}, "another budget": {"max_calls": 50}}
named_now = pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)


@named_now
def test_a_hosted_run_that_stopped_goes_on_elsewhere_with_its_id_and_its_settings(
    named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    saver = InMemorySaver()
    with LocalEndpoint() as endpoint:
        given: Any = {"model": "openai:any", "base_url": endpoint.url, "judge": "me"}
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)

        async def drive(todo: Any, context: Any) -> Any:
            thread = methods()["rsd"].graph().copy({"checkpointer": saver})
            await thread.ainvoke(todo, CONFIG, context=context)
            return await thread.aget_state(CONFIG)

        question = {"question": "What do cows eat?", "options": ["plants", "meat"]}
        stopped = asyncio.run(drive(question, given))
        stop = stopped.interrupts[0]
        first = dialectree.load(stopped.values["run"]["id"], runs=tmp_path / "runs")
        assert (first.status, first.verdict.answer) == ("running", None)
        calls, before = endpoint.stats()["calls"], first.tree.nodes["0"].transcript
        forget()
        state = asyncio.run(drive(Command(resume={stop.id: "B"}), named)).values
        assert endpoint.stats()["calls"] == calls
    record = RunRecord.model_validate(state["record"])
    assert record == dialectree.load(first.run_id, runs=tmp_path / "runs")
    assert (record.run_id, state["verdict"]["label"]) == (first.run_id, "B")
    assert (record.models["debater_a"], record.usage.calls) == (first.models["debater_a"], calls)
    assert record.settings == first.settings
    assert record.tree.nodes["0"].transcript[: len(before)] == before


JUDGE_SAYS_A = [{"match": "You judge a debate", "set": {"label": "A", "answer": "yes"}}]
COWS: dict[str, Any] = {"question": "Do cows eat plants?"}
STOPPED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "rsd": ("rsd", {"judge_orders": "both"}, {**COWS, "options": ["yes", "no"]}),
    "tsd": ("tsd", {"max_depth": 0, "leaf_rounds": 4}, COWS),
    "tsd with rsd": (
        "tsd",
        {"max_depth": 0, "leaf_protocol": "rsd", "inner": {"rsd": {"judge_orders": "both"}}},
        COWS,
    ),
}


class Stopped:
    """A run of a host that stopped at its budget of four calls."""

    def __init__(self, endpoint: LocalEndpoint, name: str) -> None:
        self.method, own, self.question = STOPPED[name]
        self.saver = InMemorySaver()
        self.told: list[Event] = []
        first: Any = {"model": "openai:first", "base_url": endpoint.url, "cache": False, **own}
        self.whole = asyncio.run(self.drive(self.question, first))["usage"]["calls"]
        endpoint.reset()
        with pytest.raises(BudgetReached):
            asyncio.run(self.drive(self.question, {**first, "max_calls": 4}))
        assert endpoint.stats()["calls"] == 4 < self.whole
        forget()

    async def drive(self, todo: Any, context: Any) -> Any:
        """Return the record of the run in the thread."""
        thread = methods()[self.method].graph().copy({"checkpointer": self.saver})
        how: Any = {"stream_mode": "custom", "subgraphs": True}
        async for _, event in thread.astream(todo, CONFIG, context=context, **how):
            self.told.append(Event.model_validate(event))
        return (await thread.aget_state(CONFIG)).values["record"]


def models(record: Any) -> set[str]:
    return {spec.replace(f"@{record['settings']['base_url']}", "") for spec in record["models"].values()}


@named_now
@pytest.mark.parametrize("name", STOPPED)
def test_a_run_that_stopped_at_a_budget_goes_on_with_the_models_and_settings_it_had(
    name: str, named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    with LocalEndpoint(rules=JUDGE_SAYS_A) as endpoint:
        stopped = Stopped(endpoint, name)
        monkeypatch.setenv("DIALECTREE_MODEL", "openai:other")
        record = asyncio.run(stopped.drive(None, named))
        assert {call["model"] for call in endpoint.calls()} == {"first"}
        assert endpoint.stats()["calls"] == stopped.whole == record["usage"]["calls"]
    assert (record["status"], models(record)) == ("answered", {"openai:first"})
    events = RunFolder(tmp_path / "runs" / record["run_id"]).events()
    assert [one for one in stopped.told if one.run_id == record["run_id"]] == events
    assert [one.n for one in events] == [*range(1, len(events) + 1)]
    usage = fold_run(events).usage.model_dump(exclude={"critical_path_calls"})
    assert usage.items() <= record["usage"].items()
    kinds = ("began", "resumed", "ended")
    assert [one.kind for one in events if one.kind in kinds] == ["began", "ended", "resumed", "ended"]


@pytest.mark.parametrize("kind", ["a mapping", "settings", "a copy of settings"])
def test_what_is_named_where_a_run_goes_on_counts_over_what_it_had(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    with LocalEndpoint(rules=JUDGE_SAYS_A) as endpoint:
        stopped = Stopped(endpoint, "rsd")
        named: Any = {"model": "openai:second", "max_calls": 2}
        if kind == "settings":
            named = Settings(**named)
        if kind == "a copy of settings":
            named = Settings().model_copy(update=named)
        with pytest.raises(BudgetReached):
            asyncio.run(stopped.drive(None, named))
        record = asyncio.run(stopped.drive(None, {}))
        assert Counter(call["model"] for call in endpoint.calls()) == {
            "first": stopped.whole - 2,
            "second": 2,
        }
    assert models(record) >= {"openai:first, openai:second"}


def test_the_record_names_settings_of_other_protocols_also_where_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    way = Way("rsd", {"judge": "me"})
    host: Any = StateGraph(RoleSwitchingDebate)
    host.add_node("debate", way.graph)
    host.add_edge(START, "debate")
    thread = host.compile(InMemorySaver())
    own = {"model": way.speakers(), "judge": "me"}

    async def drive() -> None:
        question: Any = {"question": CLAIM, "options": ["yes", "no"]}
        await thread.ainvoke(question, CONFIG, context={"dialectree": {**own, "max_depth": 1}})
        forget()
        await thread.ainvoke(Command(resume="A"), CONFIG, context={"dialectree": own})

    asyncio.run(drive())
    record = dialectree.load("last", runs=tmp_path / "runs")
    notice = "max_depth: rsd has no such setting, so it changes nothing"
    assert (record.status, record.notices) == ("answered", [notice])


@every
def test_a_broken_off_hosted_run_is_partial_and_goes_on_with_its_own_calls(way: Way, tmp_path: Path) -> None:
    alone = own(way, way.speakers(), tmp_path / "own")
    model = way.speakers(fragile_at=max(1, alone.usage.calls // 2))
    saver = InMemorySaver()

    async def drive(todo: Any) -> Any:
        thread = way.graph.copy({"checkpointer": saver})
        with keeping(tmp_path / "runs"), suppress(Crash):
            await thread.ainvoke(todo, CONFIG, context=way.context(model))
        return (await thread.aget_state(CONFIG)).values

    before = asyncio.run(drive({"question": CLAIM, **way.given}))
    partial = dialectree.load(before["run"]["id"], runs=tmp_path / "runs")
    assert partial.status == "partial" and "Crash()" in partial.notices
    model.fragile_at = 0
    forget()
    state = asyncio.run(drive(None))
    record = RunRecord.model_validate(state["record"])
    assert record.run_id == partial.run_id
    assert (record.tree, record.verdict) == (alone.tree, alone.verdict)
    assert record.usage.calls == alone.usage.calls


@every
def test_every_step_of_a_thread_can_be_edited_and_run_on_from(way: Way) -> None:
    async def edited() -> None:
        thread = way.graph.copy({"checkpointer": InMemorySaver()})
        context = way.context(way.speakers())
        given: Any = {"question": CLAIM, **way.given}
        await thread.ainvoke(given, CONFIG, context=context)
        history = [state async for state in thread.aget_state_history(CONFIG)]
        for after, before in pairwise(history[:-1]):
            if len(before.next) == 1 and after.next:  # one step led from one to the other
                edit = {"question": f"{CLAIM} Or not?"}
                at = await thread.aupdate_state(after.config, edit, as_node=before.next[0])
                assert (await thread.aget_state(at)).next == after.next
                ruling = await thread.ainvoke(None, at, context=context)
                assert ruling["verdict"]["answer"]
                assert ruling["run_id"]

    asyncio.run(edited())


@pytest.mark.parametrize("named", ["{id}", "../runs/{id}"], ids=["another's run", "a path"])
def test_a_thread_whose_state_names_a_run_that_is_not_its_own_takes_up_none(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    saver = InMemorySaver()
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        given: Any = {"model": "openai:any", "judge": "me"}
        question = {"question": "What do cows eat?", "options": ["plants", "meat"]}

        async def stop() -> Any:
            thread = methods()["rsd"].graph().copy({"checkpointer": saver})
            await thread.ainvoke(question, CONFIG, context=given)
            return await thread.aget_state(CONFIG)

        stopped = asyncio.run(stop())
        folder = RunFolder.find(stopped.values["run"]["id"], tmp_path / "runs")
        record = folder.record()
        if named == "{id}":
            record.owner = "somebody"
        folder.write_record(record)
        before = {path.name: path.read_bytes() for path in folder.path.iterdir()}

        async def go_on() -> Any:
            thread = methods()["rsd"].graph().copy({"checkpointer": saver})
            run = {**stopped.values["run"], "id": named.format(id=folder.run_id)}
            at = await thread.aupdate_state(CONFIG, {"run": run}, as_node="opening")
            await thread.ainvoke(None, at, context=given)

        forget()
        asyncio.run(go_on())
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before


def test_whoever_hears_of_a_run_finds_its_folder_and_a_refused_one_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))

    graph = methods()["art"].graph()

    async def follow(given: Any) -> None:
        async for event in graph.astream({"question": CLAIM}, context=given, stream_mode="custom"):
            told = RunFolder.find(event["run_id"], tmp_path / "runs").events()
            assert told[event["n"] - 1].model_dump(mode="json") == event

    with LocalEndpoint() as endpoint:
        given: Any = {"model": "openai:any", "base_url": endpoint.url}
        asyncio.run(follow(given))
        with pytest.raises(InputError, match="this is a question"):
            asyncio.run(graph.ainvoke({"question": "Is it so?"}, context=given))
    assert len([*(tmp_path / "runs").glob("*/run.json")]) == 1
