"""A run that a host drives leaves the record that a run of our own leaves."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

import dialectree
from dialectree.hosted import keeping
from dialectree.protocol import methods
from dialectree.records import RunRecord
from dialectree.runner import begin
from dialectree.runs import RunFolder
from tests.graphs.test_every_protocol import Way, every
from tests.scripted import ScriptedModel

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}
CLAIM = "It is so."


def comparable(record: RunRecord) -> dict[str, Any]:
    """Return a record without its id and its times."""
    told = record.model_dump(mode="json")
    for name in ("run_id", "started", "ended", "owner"):
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
    assert state["run"]["settings"] == record.settings
    folders = RunFolder.all(tmp_path / "runs")
    assert [folder.record() for folder in folders] == [record] * kept
    if kept:
        assert dialectree.load(record.run_id, runs=tmp_path / "runs") == record
        assert len(folders[0].calls()) == len(mine.calls)
        assert {event.run_id for event in folders[0].events()} == {record.run_id}
