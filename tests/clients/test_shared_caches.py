"""The reply cache in a real PostgreSQL and a real Redis."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.models.asking import Completion
from dialectree.models.cache import reply_cache
from tests.cli.commands import command
from tests.clients import databases
from tests.endpoint import LocalEndpoint
from tests.servers import free_port
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.clients
DONE = Completion("text é \x00 \ud800", "stop", None, 2, 10, 5, 3)
NOWHERE = Path("nowhere")


@pytest.fixture(scope="module", params=["postgres", "redis"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    with getattr(databases, request.param)() as url:
        yield url


@pytest.fixture(autouse=True)
def shared(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_URL", address)


def get(key: str) -> Completion | None:
    return asyncio.run(reply_cache(NOWHERE).get(key))


def test_every_event_loop_reads_what_another_kept_and_the_first_reply_stays() -> None:
    async def keep(completion: Completion) -> None:
        await reply_cache(NOWHERE).put("key", completion)

    assert get("key") is None
    asyncio.run(keep(DONE))
    asyncio.run(keep(Completion("later")))
    assert get("key") == DONE


WRITER = """
import asyncio, sys
from pathlib import Path
from dialectree.models.cache import reply_cache
from dialectree.models.asking import Completion

async def main():
    cache, name = reply_cache(Path()), sys.argv[1]
    async def work(n):
        await cache.put(f"{name}.{n}", Completion(f"{name} says {n}"))
        assert (await cache.get(f"{name}.{n}")).text == f"{name} says {n}"
    await asyncio.gather(*map(work, range(50)))

asyncio.run(main())
"""


def test_processes_share_it_from_the_first_moment_and_close_what_they_opened() -> None:
    words = [sys.executable, "-W", "error", "-c", WRITER]
    writers = [subprocess.Popen([*words, name], stderr=subprocess.PIPE, text=True) for name in "ab"]
    for writer in writers:
        _, output = writer.communicate(timeout=PATIENCE_S)
        assert (writer.returncode, output) == (0, "")
    assert all(get(f"{name}.{n}") for name in "ab" for n in range(50))


def test_a_debate_that_another_machine_paid_for_costs_nothing(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        ask = ("--model", "openai:any", "--base-url", endpoint.url, "--json")
        words = ("decide", "A or B?", "--option", "A", "--option", "B", *ask)
        first = command(*words)
        assert first.status == 0, first.err
        paid = endpoint.stats()["calls"]
        again = command(*words)
        assert 0 < paid == endpoint.stats()["calls"]
    assert json.loads(again.out)["verdict"] == json.loads(first.out)["verdict"]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert all(databases.PASSWORD.encode() not in path.read_bytes() for path in written)


@pytest.mark.parametrize("place", ["nobody", "wrong password"])
def test_a_database_that_does_not_answer_is_one_line_without_the_password(
    address: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = address.replace(databases.PASSWORD, "an0ther-word")
    if place == "nobody":
        port = address.rpartition(":")[2].partition("/")[0]
        url = address.replace(port, str(free_port()))
    monkeypatch.setenv("DIALECTREE_CACHE_URL", url)
    with pytest.raises(InputError, match=r"\Athe reply cache \S+127.0.0.1[^\n]+`cache=False`") as error:
        get("key")
    assert "-word" not in str(error.value)
