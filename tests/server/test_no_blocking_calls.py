"""A run of our own inside ``langgraph dev``, which refuses blocking calls in its event loop."""

import asyncio
from pathlib import Path

import pytest
from blockbuster import BlockingError
from langgraph_runtime_inmem import queue  # type: ignore[import-untyped]

import dialectree
from dialectree.errors import BudgetReached
from dialectree.interfaces.server.chat import chat_graph
from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import COWS


def test_neither_a_whole_run_nor_one_that_is_broken_off_and_resumed_blocks_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "cache"))
    runs = tmp_path / "runs"

    async def debates(url: str) -> None:
        guard = queue._enable_blockbuster()
        try:
            with pytest.raises(BlockingError):
                Path(tmp_path / "blocks").mkdir()
            given = {"options": COWS["options"], "model": "openai:any", "base_url": url}
            whole = await dialectree.arun("rsd", COWS["question"], runs=runs, **given)
            assert whole.usage.calls
            with pytest.raises(BudgetReached) as broken_off:
                await dialectree.arun("rsd", COWS["question"], runs=runs, seed=1, max_calls=3, **given)
            resumed = await dialectree.aresume(str(broken_off.value.run_id), runs=runs)
            assert resumed.usage.calls >= 3
        finally:
            if guard is not None:
                guard.deactivate()

    with LocalEndpoint() as endpoint:
        asyncio.run(debates(endpoint.url))
    assert len(RunFolder.all(runs)) == 2


def test_an_estimate_by_list_prices_does_not_block_the_event_loop(tmp_path: Path) -> None:
    async def price() -> str:
        guard = queue._enable_blockbuster()
        try:
            given = {"options": COWS["options"], "model": "openai:gpt-4o", "runs": tmp_path}
            return str(await dialectree.aestimate("rsd", COWS["question"], **given))
        finally:
            if guard is not None:
                guard.deactivate()

    assert " by list prices of " in asyncio.run(price())


def test_a_chats_first_message_does_not_block_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("DIALECTREE_MODEL", "openai:any")
    chat = chat_graph("rsd")

    answers: list[str] = []

    async def ask(url: str) -> None:
        guard = queue._enable_blockbuster()
        try:
            state = await chat.ainvoke({"messages": [("user", COWS["question"])]}, context={"base_url": url})
            answers.append(str(state["messages"][-1].content))
        finally:
            if guard is not None:
                guard.deactivate()

    with LocalEndpoint() as endpoint:
        # A reloading server is started by `python -c`: pydantic looks up where that code lies.
        exec("asyncio.run(ask(url))", {"asyncio": asyncio, "ask": ask, "url": endpoint.url})
    assert "what it rests on" in answers[0]  # ended, by a judge who rules by chance
