"""Looking for model servers on loopback ports, among good, strange and hostile ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import socket
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from dialectree.models import neighbours as looking
from dialectree.models.neighbours import Neighbour, neighbours

Answers = dict[str, Any]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]


def listing(*names: str, **card: object) -> dict[str, object]:
    """A list of models as the OpenAI API shapes it."""
    data = [{"id": name, "object": "model", "created": 1, **card} for name in names]
    return {"object": "list", "data": data}


OLLAMA: Answers = {
    "/v1/models": listing("llama3.2:latest", "qwen2.5:1.5b", owned_by="library"),
    "/api/version": {"version": "0.5.1"},
}
LM_STUDIO: Answers = {
    "/v1/models": listing("qwen/qwen3-4b", "text-embedding-x", owned_by="organization_owner"),
    "/api/v0/models": {
        "object": "list",
        "data": [
            {"id": "qwen/qwen3-4b", "object": "model", "type": "llm", "state": "loaded"},
            {"id": "text-embedding-x", "object": "model", "type": "embeddings", "state": "loaded"},
        ],
    },
    "*": {"error": "Unexpected endpoint or method."},
}
VLLM: Answers = {
    "/v1/models": listing("facebook/opt-125m", owned_by="vllm", max_model_len=2048),
    "/version": {"version": "0.9.0"},
}
LLAMA_CPP: Answers = {
    "/v1/models": listing("/models/some model.gguf", owned_by="llamacpp"),
    "/props": {"default_generation_settings": {}, "total_slots": 1},
}


def http(content: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}Connection: close\r\n\r\n"
    )
    return head.encode() + content


def answering(answers: Answers, asked: list[str] | None = None) -> Talk:
    """A server that answers some paths with JSON, and others with 404 or what stands under *."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        if asked is not None:
            asked.append(path)
        answer = answers.get(path, answers.get("*"))
        content = json.dumps(answer).encode()
        writer.write(http(content) if answer is not None else http(b"no", "404 Not Found"))
        await writer.drain()

    return talk


def sending(raw: bytes) -> Talk:
    """A server that sends the same bytes whatever it is asked."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        with contextlib.suppress(ConnectionError):
            await writer.drain()

    return talk


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that takes the call and never says a word."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server whose list of models never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[")
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(b" " * 65536)
            await writer.drain()


async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that says a little now and then, so that no single read takes too long."""
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    with contextlib.suppress(ConnectionError, asyncio.CancelledError):
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def serving(talk: Talk) -> AsyncIterator[int]:
    """The port of a stand-in."""
    calls: set[asyncio.Task[None]] = set()

    async def call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        calls.add(task)
        try:
            await talk(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(call, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def found_beside(*talks: Talk, timeout_s: float = 1.0) -> tuple[list[Neighbour], list[int]]:
    """What is found when these servers run, and their ports."""

    async def look() -> tuple[list[Neighbour], list[int]]:
        async with contextlib.AsyncExitStack() as stack:
            ports = [await stack.enter_async_context(serving(talk)) for talk in talks]
            return await neighbours(ports, timeout_s=timeout_s), ports

    return asyncio.run(look())


@pytest.mark.parametrize(
    ("answers", "kind", "models"),
    [
        (OLLAMA, "Ollama", ("llama3.2:latest", "qwen2.5:1.5b")),
        (LM_STUDIO, "LM Studio", ("qwen/qwen3-4b",)),
        (VLLM, "vLLM", ("facebook/opt-125m",)),
        (LLAMA_CPP, "llama.cpp", ("/models/some model.gguf",)),
        ({"/v1/models": listing("m")}, "OpenAI-compatible", ("m",)),
    ],
)
def test_each_kind_of_server_is_known_by_what_it_says(
    answers: Answers, kind: str, models: tuple[str, ...]
) -> None:
    (neighbour,), (port,) = found_beside(answering(answers))
    assert (neighbour.kind, neighbour.models) == (kind, models)
    assert neighbour.base_url == f"http://127.0.0.1:{port}/v1"


def test_all_are_found_at_once_in_the_order_asked() -> None:
    found, ports = found_beside(*map(answering, (LM_STUDIO, LLAMA_CPP, OLLAMA, VLLM)))
    assert [each.kind for each in found] == ["LM Studio", "llama.cpp", "Ollama", "vLLM"]
    assert [each.base_url for each in found] == [f"http://127.0.0.1:{port}/v1" for port in ports]


def test_the_flags_use_the_first_model() -> None:
    (neighbour,), (port,) = found_beside(answering(OLLAMA))
    assert neighbour.flags == (
        f"--model openai:llama3.2:latest --base-url http://127.0.0.1:{port}/v1"
    )


def test_the_flags_are_safe_to_paste_into_a_shell() -> None:
    answers = {"/v1/models": listing("$(rm -rf ~); echo 'x'")}
    (neighbour,), (port,) = found_beside(answering(answers))
    assert shlex.split(neighbour.flags) == [
        "--model",
        "openai:$(rm -rf ~); echo 'x'",
        "--base-url",
        f"http://127.0.0.1:{port}/v1",
    ]


@pytest.mark.parametrize("data", [None, []])
def test_an_ollama_without_models_has_no_flags(data: list[object] | None) -> None:
    answers = OLLAMA | {"/v1/models": {"object": "list", "data": data}}
    (neighbour,), _ = found_beside(answering(answers))
    assert (neighbour.kind, neighbour.models, neighbour.flags) == ("Ollama", (), "")


def test_names_are_shown_without_hidden_characters_and_once() -> None:
    names = [
        "a\x1b[31mb\n\r\x00c",
        "\u202eevil\u2028",
        "same",
        "sa\u200bme",
        "\x07",
        "x" * 500,
        "\ud800",
    ]
    (neighbour,), _ = found_beside(answering({"/v1/models": listing(*names)}))
    assert neighbour.models == ("a[31mbc", "evil", "same", "x" * 200)


def test_a_flood_of_models_is_cut() -> None:
    answers = {"/v1/models": listing(*(f"m{number}" for number in range(1000)))}
    (neighbour,), _ = found_beside(answering(answers))
    assert len(neighbour.models) == 200


@pytest.mark.parametrize(
    "raw",
    [
        http(b"<html><title>It works</title></html>"),
        http(b"\x00\xff\xfe garbage"),
        http(b""),
        http(b"null"),
        http(b"[]"),
        http(b"{}"),
        http(b'{"data": [{"id": "m"}]}'),
        http(b'{"object": "list", "data": "m"}'),
        http(b'{"object": "list", "data": []}'),
        http(b'{"object": "list", "data": ["m"]}'),
        http(b'{"object": "list", "data": [{"id": 1}]}'),
        http(b"[" * 100_000),
        http(b"9" * 100_000),
        http(b" " * (1 << 21)),
        http(b"{}", "500 Internal Server Error"),
        http(b"", "302 Found", "Location: http://127.0.0.1:9/\r\n"),
        http(b"", "302 Found", "Location: http://[\r\n"),
        http(b"not gzip", headers="Content-Encoding: gzip\r\n"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: never\r\n\r\n{}",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01",
        b"",
    ],
)
def test_what_is_no_model_server_is_passed_over(raw: bytes) -> None:
    assert found_beside(sending(raw))[0] == []


def test_strange_facts_about_a_model_do_no_harm() -> None:
    answers = {"/v1/models": listing("m", owned_by=["?"], max_model_len={}), "*": [1, None]}
    (neighbour,), _ = found_beside(answering(answers))
    assert (neighbour.kind, neighbour.models) == ("OpenAI-compatible", ("m",))


@pytest.mark.parametrize("talk", [silent, endless, dripping])
def test_a_server_that_keeps_one_waiting_is_passed_over_in_time(talk: Talk) -> None:
    started = time.monotonic()
    found, _ = found_beside(talk, answering(OLLAMA), timeout_s=0.3)
    assert [each.kind for each in found] == ["Ollama"]
    assert time.monotonic() - started < 3


def test_a_server_slow_to_say_whose_it_is_is_still_reported() -> None:
    calls: list[str] = []
    names = answering({"/v1/models": listing("m")})

    async def quick_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append("call")
        await (names if len(calls) == 1 else silent)(reader, writer)

    (neighbour,), _ = found_beside(quick_once, timeout_s=0.3)
    assert (neighbour.kind, neighbour.models) == ("OpenAI-compatible", ("m",))


def test_a_port_where_nobody_listens_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert asyncio.run(neighbours([taken.getsockname()[1]])) == []


def test_what_is_no_model_server_is_asked_only_once() -> None:
    asked: list[str] = []
    found_beside(answering({"*": {"hello": "world"}}, asked))
    assert asked == ["/v1/models"]


def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    (neighbour,), _ = found_beside(answering(VLLM))
    assert neighbour.kind == "vLLM"


def test_the_usual_ports_are_asked_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looking.PORTS == {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}

    async def look() -> list[Neighbour]:
        async with serving(answering(LLAMA_CPP)) as port:
            monkeypatch.setattr(looking, "PORTS", {"llama.cpp": port})
            return await neighbours()

    assert [each.kind for each in asyncio.run(look())] == ["llama.cpp"]
