"""Clients of ``langgraph dev`` that want the server's key, and pages that want it to run."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import websockets

from tests.recorder import Recorder, recorder
from tests.server.test_langgraph_dev import COWS
from tests.waiting import PATIENCE_S

EVIL = {"origin": "http://evil.example"}


@pytest.fixture(scope="module")
def thief() -> Iterator[Recorder]:
    """An address that nobody allows; it must get nothing."""
    with recorder() as started:
        yield started
    assert not started.sent


@pytest.mark.parametrize("way", ["assistant", "role"])
def test_an_address_of_a_client_is_an_error_that_says_what_to_do(
    server: str, thief: Recorder, way: str
) -> None:
    given: Any = {"model": "openai:any", "base_url": thief.url}
    path, body = "assistants", {"graph_id": "rsd", "context": given}
    if way == "role":
        given = {"model": "openai:any", "roles": {"debater": f"openai:any@{thief.url}"}}
        path, body = "runs/wait", {"assistant_id": "rsd", "input": COWS, "context": given}
    refused = httpx.post(f"{server}/{path}", json=body, timeout=PATIENCE_S)
    assert refused.status_code == 422 and thief.url in refused.text
    assert "DIALECTREE_ALLOW_URLS" in refused.text


@pytest.mark.parametrize("kind", ["text/plain", None])
def test_a_page_of_another_site_starts_no_run(server: str, kind: str | None) -> None:
    run = {"assistant_id": "rsd", "input": COWS, "context": {"model": "openai:any"}}
    headers = EVIL if kind is None else {**EVIL, "content-type": kind}
    content = json.dumps(run).encode()
    done = httpx.post(f"{server}/runs/wait", content=content, headers=headers, timeout=PATIENCE_S)
    assert done.status_code == 415
    assert "application/json" in done.text
    assert "access-control-allow-origin" not in done.headers


def test_a_page_of_another_site_opens_no_socket(server: str) -> None:
    url = f"{server.replace('http', 'ws')}/threads/{uuid.uuid4()}/stream/events"

    async def opened(**named: Any) -> str:
        async with websockets.connect(url, **named) as socket:
            await socket.send(json.dumps({"id": 1, "method": "agent.getTree"}))
            return str(await socket.recv())

    assert "no_such_run" in asyncio.run(opened())
    with pytest.raises(websockets.InvalidStatus, match="403"):
        asyncio.run(opened(origin=EVIL["origin"]))
