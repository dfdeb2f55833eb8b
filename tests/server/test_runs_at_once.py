"""Many runs on one real server: each keeps its folder, its record and its calls."""

import asyncio
from pathlib import Path
from typing import Any

from langgraph_sdk import get_client

from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import AT_ONCE


def test_no_run_is_lost_among_twenty_and_each_has_its_own_folder(
    server: str, server_folder: Path, slow: LocalEndpoint
) -> None:
    async def debate(server: str, url: str) -> list[Any]:
        context: Any = {"model": "openai:any", "base_url": url}
        async with get_client(url=server) as client:

            async def one(number: int) -> Any:
                thread = (await client.threads.create())["thread_id"]
                given: Any = {"question": f"What do {number} cows eat?", "options": ["plants", "meat"]}
                await client.runs.wait(thread, "rsd", input=given, context=context)
                state: Any = await client.threads.get_state(thread)
                return state["values"]

            return [*await asyncio.gather(*map(one, range(AT_ONCE)))]

    slow.reset()
    states = asyncio.run(debate(server, slow.url))
    paid = slow.stats()["calls"]
    folders = RunFolder.all(server_folder / "runs")
    ids = {state["run_id"] for state in states}
    kept = {folder.run_id: folder for folder in folders if folder.run_id in ids}
    assert len(kept) == len(ids) == AT_ONCE
    for number, state in enumerate(states):
        record = RunRecord.model_validate(state["record"])
        folder = kept[record.run_id]
        assert folder.record() == record
        assert record.input["question"] == f"What do {number} cows eat?"
        assert (record.status, record.verdict and record.verdict.label) == ("answered", "B")
        assert len(folder.calls()) == record.usage.calls
    assert sum(len(folder.calls()) for folder in kept.values()) == paid
