"""A server that several people share, each with a key: who gets what, and who is refused."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from dialectree.interfaces.server import routes
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import COWS, JUDGE_SAYS_B, serving
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.clients

ALICE, BOB = "alice-0123456789abcdef", "bob-0123456789abcdef"
NOBODY = str(uuid.UUID(int=1))
MOST_TO_REFUSE_S = 2
"""A refusal that takes longer has looked at what it refuses."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=JUDGE_SAYS_B) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def server(folder: Path, endpoint: LocalEndpoint) -> Iterator[str]:
    more = folder / "keys"
    more.write_text(f"bob:{BOB}\n")
    environment: Any = {
        "DIALECTREE_SERVER_KEYS": f"alice:{ALICE}",
        "DIALECTREE_SERVER_KEYS_FILE": str(more),
        "DIALECTREE_ALLOW_URLS": endpoint.url,
    }
    with serving(folder, **environment) as url:
        yield url


@pytest.fixture(scope="module")
def thread(server: str, endpoint: LocalEndpoint) -> str:
    """A thread of alice's with a finished debate."""

    async def debated() -> str:
        context: Any = {"model": "openai:any", "base_url": endpoint.url}
        async with get_client(url=server, api_key=ALICE) as client:
            made = (await client.threads.create())["thread_id"]
            await client.runs.wait(made, "rsd", input=COWS, context=context)
            await client.store.put_item(["notes"], "cows", {"eat": "plants"})
            return made

    return asyncio.run(debated())


def call(server: str, key: str | None, method: str, path: str, body: Any = None) -> httpx.Response:
    headers = {} if key is None else {"x-api-key": key}
    return httpx.request(method, f"{server}{path}", json=body, headers=headers, timeout=PATIENCE_S)


OURS = [(method, one.path) for one in routes for method in (one.methods or set()) - {"HEAD"}]
OTHERS = ("/assistants/search", "/threads/search", "/runs/wait", "/mcp/", "/store/items")
DROP = {"changes": [{"change": "drop", "where": "0/A1"}]}
BODIES = {"contest": DROP, "estimate": DROP, "answer": {"answer": "A"}}
"""By the last part of a path, a body of its shape."""


@pytest.mark.parametrize("key", [None, "", "wrong-0123456789abcdef", ALICE[:-1]])
def test_without_a_key_of_the_server_nothing_is_served(server: str, key: str | None) -> None:
    for method, path in (*OURS, *(("POST", path) for path in OTHERS)):
        at = path.format(run_id="last", other="last", name="rsd", digest="0" * 32)
        refused = call(server, key, method, at, {})
        assert refused.status_code == 401, path
        assert "x-api-key" in refused.text
    studio = httpx.get(f"{server}/debates", headers={"x-auth-scheme": "langsmith"})
    assert studio.status_code == 401


@pytest.mark.parametrize("key", [None, "wrong-0123456789abcdef", BOB])
def test_the_page_itself_needs_no_key(server: str, key: str | None) -> None:
    assert call(server, key, "GET", "/page").headers["location"] == "page/"
    page = call(server, key, "GET", "/page/")
    assert page.status_code == 200 and page.text.startswith("<!doctype html>")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'") and "frame-ancestors 'none'" in policy
    assert call(server, key, "POST", "/page/", {}).status_code in (401, 404)


def test_a_key_is_taken_as_a_bearer_too(server: str) -> None:
    bearer = {"authorization": f"Bearer {BOB}"}
    assert httpx.get(f"{server}/debates", headers=bearer).status_code == 200


FOREIGN = [
    ("GET", "/threads/{thread}", None),
    ("GET", "/threads/{thread}/state", None),
    ("POST", "/threads/{thread}/history", {}),
    ("GET", "/threads/{thread}/runs", None),
    ("PATCH", "/threads/{thread}", {"metadata": {"owner": "bob"}}),
    ("POST", "/threads/{thread}/runs", {"assistant_id": "rsd", "input": COWS}),
    ("POST", "/threads/{thread}/runs/wait", {"assistant_id": "rsd", "input": COWS}),
    ("DELETE", "/threads/{thread}", None),
    ("GET", "/debates/20260101-000000-abcdef", None),
    ("GET", "/debates/20260101-000000-abcdef/report.html", None),
    ("GET", "/debates/..%2Fkeys", None),
    ("POST", "/debates/last/contest", DROP),
    ("POST", "/runs/wait", {"assistant_id": NOBODY, "input": COWS}),
    ("GET", f"/assistants/{NOBODY}", None),
]


@pytest.mark.parametrize(("method", "path", "body"), FOREIGN)
def test_what_is_anothers_is_not_there(
    server: str, thread: str, endpoint: LocalEndpoint, method: str, path: str, body: Any
) -> None:
    endpoint.reset()
    refused = call(server, BOB, method, path.format(thread=thread), body)
    assert refused.status_code in (403, 404) and "meat" not in refused.text
    assert refused.status_code == 404 or "history" not in path
    assert call(server, ALICE, "GET", f"/threads/{thread}").status_code == 200
    assert endpoint.stats()["calls"] == 0


def test_no_route_has_a_debate_of_anothers(server: str, thread: str, endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    (line,) = call(server, ALICE, "GET", "/debates").json()
    run = line["run_id"]
    about = [(method, path) for method, path in OURS if "{run_id}" in path]
    for method, path in about:
        at, body = (path.format(run_id=run, other=run, digest="0" * 32), BODIES.get(path.rpartition("/")[2]))
        refused = call(server, BOB, method, at, body if method == "POST" else None)
        assert refused.status_code == 404 and "there is no run" in refused.text, path
        if method == "GET":
            own = call(server, ALICE, "GET", at).status_code
            assert own == (404 if path.endswith(("/contested", "{digest}")) else 200), path
    assert len(about) > 12
    assert (line["owner"], line["thread"]) == ("alice", thread)
    state = call(server, ALICE, "GET", f"/threads/{thread}/state").json()
    assert state["values"]["run_id"] == run
    assert call(server, BOB, "GET", "/debates").json() == []
    assert endpoint.stats()["calls"] == 0


def test_lists_hold_what_is_ones_own(server: str, thread: str) -> None:
    threads = [call(server, key, "POST", "/threads/search", {}).json() for key in (ALICE, BOB)]
    assert [len(one) for one in threads] == [1, 0]
    items = [
        call(server, key, "POST", "/store/items/search", {"namespace_prefix": []}).json()["items"]
        for key in (ALICE, BOB)
    ]
    assert [len(one) for one in items] == [1, 0]


def test_without_a_model_a_run_ends_with_one_line_and_no_call(server: str, endpoint: LocalEndpoint) -> None:
    endpoint.reset()

    async def asked() -> Any:
        async with get_client(url=server, api_key=BOB) as client:
            made = (await client.threads.create())["thread_id"]
            return await client.runs.wait(made, "rsd", input=COWS, raise_error=False)

    ended = asyncio.run(asked())
    assert "no model is named: put `model`" in ended["__error__"]["message"]
    assert call(server, BOB, "GET", "/debates").json() == []
    assert endpoint.stats()["calls"] == 0


def test_another_cannot_go_on_with_a_thread_by_a2a(server: str, thread: str) -> None:
    part = {"kind": "text", "text": "why?"}
    message = {"role": "user", "parts": [part], "messageId": "1", "contextId": thread}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    headers = {"x-api-key": BOB, "accept": "application/json"}
    reply = httpx.post(f"{server}/a2a/rsd", json=body, headers=headers, timeout=PATIENCE_S)
    assert "meat" not in reply.text and "error" in reply.json()


WRONG = [
    ({"max_cals": 1}, "did you mean max_calls?"),
    ({"gate": 99}, "`gate`: input should be less than or equal to 25"),
    ({"roles": {"juge": "openai:any"}}, "no method has such a role"),
    ({"judge_orders": "twice"}, "`judge_orders`: input should be 'one' or 'both'"),
    ({"model": "no-provider"}, "model"),
]


@pytest.mark.parametrize(("wrong", "line"), WRONG)
def test_wrong_settings_are_refused_before_a_model_is_called(
    server: str, endpoint: LocalEndpoint, wrong: dict[str, Any], line: str
) -> None:
    endpoint.reset()
    context = {"model": "openai:any", "base_url": endpoint.url, **wrong}
    run = {"assistant_id": "rsd", "input": COWS, "context": context}
    assistant = {"graph_id": "rsd", "context": context}
    cron = {**run, "schedule": "0 0 * * *"}
    for path, body in (("/runs/wait", run), ("/assistants", assistant), ("/runs/crons", cron)):
        refused = call(server, ALICE, "POST", path, body)
        assert refused.status_code == 422, path
        assert line in refused.json()["detail"]
    assert endpoint.stats()["calls"] == 0


def test_an_assistant_is_its_makers_alone(server: str, endpoint: LocalEndpoint) -> None:
    claimed = {"owner": "bob", "created_by": "system"}
    body = {"graph_id": "rsd", "name": "alices", "context": {"gate": 3}, "metadata": claimed}
    made = call(server, ALICE, "POST", "/assistants", body).json()
    path, name = f"/assistants/{made['assistant_id']}", {"name": "mine", "metadata": claimed}
    assert made["metadata"] == {"owner": "alice"}
    endpoint.reset()
    run = {"assistant_id": made["assistant_id"], "input": COWS}
    for method, at, sent in (
        ("GET", path, None),
        ("GET", f"{path}/schemas", None),
        ("PATCH", path, name),
        ("DELETE", path, None),
        ("POST", "/runs/wait", run),
        ("POST", "/runs/crons", {**run, "schedule": "0 0 * * *"}),
    ):
        assert call(server, BOB, method, at, sent).status_code == 404, at
    assert call(server, ALICE, "PATCH", path, name).json()["metadata"] == {"owner": "alice"}
    graphs = {
        one["graph_id"] for one in call(server, BOB, "POST", "/assistants/search", {"limit": 100}).json()
    }
    assert graphs >= {"rsd", "tsd"} and endpoint.stats()["calls"] == 0
    tools = [_tools(server, key) for key in (ALICE, BOB)]
    assert tools[0] - tools[1] == {"mine"} and "role_switching_debate" in tools[1]


def _tools(server: str, key: str) -> set[str]:
    """The names in the list of tools that the server's MCP has for a client."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"x-api-key": key, "accept": "application/json"}
    listed = httpx.post(f"{server}/mcp", json=body, headers=headers, timeout=PATIENCE_S).json()
    return {tool["name"] for tool in listed["result"]["tools"]}


def test_no_key_is_in_what_the_server_writes(server: str, folder: Path, thread: str) -> None:
    seen = call(server, ALICE, "GET", f"/threads/{thread}/runs").text
    seen += call(server, ALICE, "GET", f"/threads/{thread}/state").text
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "keys"]
    seen += "".join(path.read_bytes().decode("latin-1") for path in files)
    assert "alice" in seen
    assert ALICE not in seen and BOB not in seen


def test_a_document_is_read_for_the_client_that_gave_it_alone(
    server: str, folder: Path, endpoint: LocalEndpoint
) -> None:
    context: Any = {"model": "openai:any", "base_url": endpoint.url, "embeddings": "bm25"}

    def prepared(key: str, sources: Any) -> httpx.Response:
        body = {"given": {**COWS, "sources": sources}, "settings": context, "estimate": False}
        return call(server, key, "POST", "/protocols/rsd/prepare", body)

    def debated(key: str, sources: Any) -> str:
        given = {**COWS, "sources": sources}
        run = {"assistant_id": "rsd", "input": given, "context": context}
        return call(server, key, "POST", "/runs/wait", run).text

    async def smuggled() -> str:
        async with get_client(url=server, api_key=BOB) as client:
            thread = (await client.threads.create())["thread_id"]
            given: Any = {**COWS, "sources": [{"name": "own.md", "text": "Cows eat plants."}]}
            context_of_run: Any = {**context}
            await client.runs.wait(
                thread, "rsd", input=given, context=context_of_run, interrupt_after=["opening"]
            )
            await client.threads.update_state(thread, {"sources": listed}, as_node="opening")
            return str(await client.runs.wait(thread, "rsd", raise_error=False))

    secret = "Cows of the queen eat clover."
    listed = prepared(ALICE, [{"name": "secret.md", "text": secret}]).json()["input"]["sources"]
    nobodys = [{**listed[0], "digest": "0" * 32}]
    refused = prepared(BOB, listed)
    assert refused.status_code == 422
    assert "no document of yours has such a digest" in refused.text
    assert refused.text == prepared(BOB, nobodys).text == prepared(ALICE, nobodys).text
    for said in (debated(BOB, listed), asyncio.run(smuggled())):
        assert "no document of yours has such a digest" in said and "clover" not in said
    assert not any(secret in str(call) for call in endpoint.calls())
    assert "__error__" not in debated(ALICE, listed)
    sent = [*folder.glob("runs/.documents/*/*.json")]
    assert any(listed[0]["digest"] in file.name for file in sent)
    for file in sent:
        file.unlink()  # a client's own runs have its documents, too
    assert prepared(ALICE, listed).status_code == 200
    assert prepared(BOB, listed).text == refused.text


def test_what_is_refused_holds_up_neither_its_client_nor_another(
    server: str, thread: str, tmp_path: Path, endpoint: LocalEndpoint
) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    options = {"question": COWS["question"], "options": COWS["options"]}
    nobodys = {**COWS, "sources": [{"name": "a.md", "digest": "0" * 32, "text": ""}]}
    refused = {
        "route: the server's operator sets it": {
            "assistant_id": "vote_first",
            "input": options,
            "context": {"route": str(pipe)},
        },
        "no document of yours": {"assistant_id": "rsd", "input": nobodys, "context": {}},
        "at most 25": {
            "assistant_id": "rsd",
            "input": COWS,
            "context": {"jury": [f"openai:{number}" for number in range(500)]},
        },
    }
    with ThreadPoolExecutor(1) as others:
        for said, run in refused.items():
            served = others.submit(call, server, ALICE, "GET", f"/threads/{thread}")
            began = time.monotonic()
            answer = call(server, BOB, "POST", "/runs/wait", run)
            took_s = time.monotonic() - began
            assert said in answer.text, (answer.status_code, answer.text)
            assert served.result().status_code == 200
            assert took_s < MOST_TO_REFUSE_S, said
