"""Addresses, files and settings that a client of a server names: the operator allows them, or not.

The server has no key, so that nothing but the permission keeps a request from being sent.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from langgraph_sdk import get_client

from dialectree.errors import SettingsError
from dialectree.interfaces.server.owners import check_settings
from dialectree.protocols.protocol import load_protocols
from dialectree.protocols.trust import find_reserved_settings
from tests.recorder import Recorder, recorder
from tests.server.test_langgraph_dev import COWS, PAPERS
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def thief() -> Iterator[Recorder]:
    """An address that nobody allows; it must get nothing."""
    with recorder() as started:
        yield started
    assert not started.sent


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the server's machine that nobody allows."""
    file = tmp_path_factory.mktemp("models") / "own.gguf"
    file.write_bytes(b"GGUF")
    return file


def post(url: str, body: Any) -> httpx.Response:
    accept = {"accept": "application/json"}
    return httpx.post(url, json=body, headers=accept, timeout=PATIENCE_S)


def in_context(server: str, settings: Any) -> str:
    run = {"assistant_id": "rsd", "input": COWS, "context": settings}
    return post(f"{server}/runs/wait", run).text


def in_configurable(server: str, settings: Any) -> str:
    run = {"assistant_id": "rsd", "input": COWS, "config": {"configurable": settings}}
    return post(f"{server}/runs/wait", run).text


def in_a_chat(server: str, settings: Any) -> str:
    said = {"messages": [{"role": "user", "content": "What do cows eat?\n- plants\n- meat"}]}
    run = {"assistant_id": "rsd_chat", "input": said, "context": settings}
    return post(f"{server}/runs/wait", run).text


def in_an_assistant(server: str, settings: Any) -> str:
    return post(f"{server}/assistants", {"graph_id": "rsd", "context": settings}).text


def in_a_changed_assistant(server: str, settings: Any) -> str:
    made = post(f"{server}/assistants", {"graph_id": "rsd"}).json()["assistant_id"]
    httpx.patch(f"{server}/assistants/{made}", json={"context": settings})
    return post(f"{server}/runs/wait", {"assistant_id": made, "input": COWS}).text


def in_a_cron(server: str, settings: Any) -> str:
    cron = {"assistant_id": "rsd_chat", "input": {}, "context": settings, "schedule": "0 0 * * *"}
    return post(f"{server}/runs/crons", cron).text


ROADS: list[Callable[[str, Any], str]] = [
    in_context,
    in_configurable,
    in_a_chat,
    in_an_assistant,
    in_a_changed_assistant,
    in_a_cron,
]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", ["base_url", "model", "roles"])
def test_an_address_that_is_not_allowed_gets_nothing(
    server: str, thief: Recorder, road: Callable[[str, Any], str], name: str
) -> None:
    spec = f"openai:any@{thief.url}"
    value = {"base_url": thief.url, "model": spec, "roles": {"debater": spec}}[name]
    assert "DIALECTREE_ALLOW_URLS" in road(server, {name: value})
    assert not thief.sent


def test_an_address_in_a_call_of_a_tool_gets_nothing(server: str, thief: Recorder) -> None:
    for settings in ({"base_url": thief.url}, {"model": f"openai:any@{thief.url}"}):
        params = {"name": "role_switching_debate", "arguments": COWS, "context": settings}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert post(f"{server}/mcp", call).status_code == 500  # LangGraph's word for a refusal
        assert not thief.sent


def test_an_address_in_the_state_of_a_thread_gets_nothing(server: str, thief: Recorder) -> None:
    async def changed(settings: Any) -> str:
        async with get_client(url=server) as client:
            thread = (await client.threads.create())["thread_id"]
            await client.runs.wait(thread, "rsd", input=COWS, interrupt_after=["opening"])
            state: Any = await client.threads.get_state(thread)
            run = state["values"]["run"]
            run["settings"] |= settings
            await client.threads.update_state(thread, {"run": run}, as_node="opening")
            return str(await client.runs.wait(thread, "rsd", raise_error=False))

    spec = f"openai:any@{thief.url}"
    for settings in ({"base_url": thief.url}, {"model": spec}, {"roles": {"debater": spec}}):
        assert "__error__" in asyncio.run(changed(settings))
        assert not thief.sent


def test_embeddings_and_webhooks_are_addresses_too(server: str, thief: Recorder) -> None:
    settings = {"embeddings": f"openai:any@{thief.url}"}
    run = {"assistant_id": "tod", "input": PAPERS, "context": settings}
    assert "DIALECTREE_ALLOW_URLS" in post(f"{server}/runs/wait", run).text
    for host in ("127.0.0.1", "localhost", "10.0.0.1", "192.168.0.1"):
        run = {"assistant_id": "rsd", "input": COWS, "webhook": f"https://{host}/"}
        refused = post(f"{server}/runs/wait", run)
        assert refused.status_code == 422 and "host blocked" in refused.text, host


@pytest.mark.parametrize("road", ROADS)
def test_a_file_is_refused_whether_or_not_it_is_there(
    server: str, model: Path, road: Callable[[str, Any], str]
) -> None:
    told = []
    for file in (model, model.with_name("no.gguf")):
        said = road(server, {"model": f"local:{file}"})
        assert "DIALECTREE_ALLOW_MODELS" in said
        told.append("".join(said.split(file.name)).partition("with id")[0])
    assert told[0] == told[1]


def test_a_folder_of_embeddings_is_refused_whether_or_not_it_is_there(server: str, model: Path) -> None:
    for folder in (model.parent, model.parent / "none", "sentence-transformers/other"):
        settings = {"embeddings": str(folder)}
        run = {"assistant_id": "tod", "input": PAPERS, "context": settings}
        refused = post(f"{server}/runs/wait", run)
        assert refused.status_code == 422
        assert refused.json()["detail"].startswith(f"{folder}: clients of a server may name no file")


OPERATORS = [
    ("concurrency", 1),
    ("requests_per_minute", 1.0),
    ("cache", False),
    ("call_deadline", 1.0),
    ("prices", {"openai:any": [1, 1]}),
    ("calibration", "/etc/hostname"),
    ("calibration", "/no/such/file"),
]


def test_a_jury_of_hundreds_is_refused(server: str) -> None:
    for jury in (["openai:any"] * 500, ",".join(["openai:any"] * 26)):
        for road in (in_context, in_configurable, in_an_assistant, in_a_cron, in_a_chat):
            said = road(server, {"jury": jury})
            assert "jury: clients of a server may name at most 25 judges" in said, road
    inner = {"leaf_protocol": "rsd", "inner": {"rsd": {"jury": ["openai:any"] * 26}}}
    with pytest.raises(SettingsError, match="at most 25 judges"):
        check_settings("tsd", inner)
    check_settings("rsd", {"jury": ["openai:any"] * 25})


def test_a_body_that_is_too_large_is_refused_before_it_comes(server: str) -> None:
    at = urlsplit(server)
    for path in ("/runs/wait", "/protocols/rsd/prepare", "/nowhere"):
        with closing(HTTPConnection(at.netloc, timeout=PATIENCE_S)) as connection:
            connection.putrequest("POST", path)
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(10**12))
            connection.endheaders()
            refused = connection.getresponse()
            assert (refused.status, b"at most 64 MB" in refused.read()) == (413, True)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A file that nobody writes to: whoever opens it waits for ever."""
    os.mkfifo(path := tmp_path / "pipe")
    return path


@pytest.mark.parametrize("nested", [False, True])
def test_a_file_of_the_operators_is_not_looked_at_whatever_it_is(
    server: str, pipe: Path, nested: bool
) -> None:
    told = set[str]()
    for file in (pipe, "/dev/zero", "/etc/hostname", "/no/such/file"):
        settings: Any = {"route": str(file)}
        graph, given = "vote_first", {"question": COWS["question"], "options": COWS["options"]}
        if nested:
            graph, settings = "tsd", {"inner": {"vote_first": settings}, "max_depth": 0}
            given = {"question": COWS["question"]}
        for place in ("context", "config"):
            named = settings if place == "context" else {"configurable": settings}
            run = {"assistant_id": graph, "input": given, place: named}
            began = time.monotonic()
            refused = post(f"{server}/runs/wait", run)
            assert time.monotonic() - began < PATIENCE_S
            told.add(f"{refused.status_code} {refused.json()['detail']}")
    (only,) = told
    assert only.startswith("422 route: the server's operator sets it, by DIALECTREE_ROUTE")
    assert httpx.get(f"{server}/ok").status_code == 200


@pytest.mark.parametrize("protocol", [one.name for one in load_protocols().values()])
def test_what_is_the_operators_is_refused_by_its_name_before_its_value_is_read(
    pipe: Path, protocol: str
) -> None:
    kind = load_protocols()[protocol].settings
    names = find_reserved_settings(kind, dict.fromkeys(kind.model_fields))
    assert {"concurrency", "calibration"} <= {*names}
    for name in names:
        said = f"{name}: the server's operator sets it"
        with pytest.raises(SettingsError, match=said):
            check_settings(protocol, {name: str(pipe), "seed": "no number"})
        with pytest.raises(SettingsError, match=said):
            check_settings("tsd", {"inner": {protocol: {name: str(pipe)}}})
        with pytest.raises(SettingsError, match=said):
            check_settings("tsd", {"inner": {f"{protocol}.{name}": str(pipe)}})


@pytest.mark.parametrize(("name", "value"), OPERATORS)
def test_a_setting_of_the_operator_is_refused(server: str, name: str, value: Any) -> None:
    for road in (in_context, in_configurable, in_an_assistant, in_a_cron):
        assert f"{name}: the server's operator sets it" in road(server, {name: value}), road
