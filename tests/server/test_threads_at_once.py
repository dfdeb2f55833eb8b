"""Threads of a real server that end at once: none is lost, and none stays."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph_sdk import get_client

from dialectree.interfaces.server.saved_threads import checkpointer
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import serving

AT_ONCE = 30
ALICE, BOB = "alice-0123456789abcdef", "bob-0123456789abcdef"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, endpoint: LocalEndpoint) -> Iterator[str]:
    environment: Any = {
        "DIALECTREE_SERVER_KEYS": f"alice:{ALICE},bob:{BOB}",
        "DIALECTREE_ALLOW_URLS": endpoint.url,
    }
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, "--n-jobs-per-worker", "10", **environment) as url:
        yield url


def test_every_second_thread_is_deleted_at_once_on_a_fresh_file(server: str) -> None:
    async def deleted(*keys: str) -> None:
        clients = [get_client(url=server, api_key=key) for key in keys]
        made = [[(await client.threads.create())["thread_id"] for _ in range(AT_ONCE)] for client in clients]
        await asyncio.gather(
            *(
                client.threads.delete(thread)
                for client, threads in zip(clients, made, strict=True)
                for thread in threads[::2]
            )
        )
        for client, threads in zip(clients, made, strict=True):
            left = await client.threads.search(limit=1000)
            assert {one["thread_id"] for one in left} == {*threads[1::2]}
            await client.aclose()

    asyncio.run(deleted(ALICE, BOB))


def test_a_deletion_under_way_is_finished_when_the_server_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "threads.sqlite"
    monkeypatch.setenv("DIALECTREE_CHECKPOINTS", str(file))

    async def served() -> None:
        async with checkpointer() as saver:
            for thread in ("one", "another"):
                place: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
                await saver.aput(place, empty_checkpoint(), {}, {})
            await saver.adelete_thread("one")

    asyncio.run(served())
    with closing(sqlite3.connect(file)) as saved:
        assert saved.execute("SELECT thread_id FROM checkpoints").fetchall() == [("another",)]


def test_every_stateless_run_is_answered_and_leaves_no_thread(server: str, endpoint: LocalEndpoint) -> None:
    async def answered() -> list[Any]:
        async with get_client(url=server, api_key=ALICE) as client:
            before = await client.threads.count()

            async def one(number: int) -> Any:
                given: Any = {"question": f"What do {number} cows eat?"}
                context: Any = {"model": "openai:any", "base_url": endpoint.url}
                return await client.runs.wait(None, "single_shot", input=given, context=context)

            states = [*await asyncio.gather(*map(one, range(AT_ONCE)))]
            assert await client.threads.count() == before
            return states

    states = asyncio.run(answered())
    assert len([one for one in states if one["verdict"]]) == AT_ONCE
