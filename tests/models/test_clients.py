"""What comes back is bounded, heard of by whoever listens, and shows no secret."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from aiohttp import web
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run as Traced

from dialectree.errors import CallError, DialectreeError
from dialectree.models.clients import BODY_BYTES, clients, limit_body_size
from dialectree.models.error_mapping import OversizedBody
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import ProtocolSettings, build_settings
from tests.endpoint import LocalEndpoint
from tests.models.asking import GOOD, RULE, QuickClock, at, kept, lines, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, fails, sends, writes

pytestmark = pytest.mark.anyio

MESSAGE = {"role": "assistant", "content": GOOD}
LARGE = json.dumps({"choices": [{"message": MESSAGE}]}).encode() + b" " * BODY_BYTES
EVENTS = "text/event-stream"


def replies(body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Answer:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=body, status=status, content_type=kind, headers=named)

    return answer


def events(*pieces: str, usage: str = "null") -> Answer:
    """A stream of OpenAI's with those pieces of text."""
    chunks = [{"id": "1", "choices": [{"index": 0, "delta": {"content": each}}]} for each in pieces]
    lines = [*map(json.dumps, chunks), f'{{"id": "1", "choices": [], "usage": {usage}}}', "[DONE]"]
    return replies("".join(f"data: {line}\n\n" for line in lines).encode(), kind=EVENTS)


OVERSIZED = {
    "plain": (replies(LARGE), "larger than 8 MB"),
    "gzip": (replies(gzip.compress(LARGE), content_encoding="gzip"), "larger than 8 MB"),
    "an error": (replies(LARGE, 500), "larger than 8 MB"),
    "a redirect": (replies(LARGE, 307, location="/v1/elsewhere"), "larger than 8 MB"),
    "a stream that nobody asked for": (replies(LARGE, kind=EVENTS), "larger than 8 MB"),
    "brotli": (replies(b"\x1b", content_encoding="br"), "compressed by 'br'"),
    "damaged": (replies(b"no", content_encoding="gzip"), "not gzip"),
}


@pytest.mark.parametrize(("answer", "fault"), OVERSIZED.values(), ids=OVERSIZED.keys())
async def test_a_body_that_is_too_large_is_not_read_to_its_end(
    answer: Answer, fault: str, quick: QuickClock
) -> None:
    async with ScriptedEndpoint(answer) as served:
        with pytest.raises(CallError, match=fault):
            await question(at(served.url))


async def test_a_compressed_reply_is_read() -> None:
    body = gzip.compress(LARGE[:-BODY_BYTES])
    async with ScriptedEndpoint(replies(body, content_encoding="gzip")) as served:
        assert await question(at(served.url)) == RULE
        assert served.headers[0]["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("library", [httpx, httpx2])
async def test_the_clients_of_every_library_obey_and_others_are_left_alone(library: Any) -> None:
    answer = replies(gzip.compress(LARGE), content_encoding="gzip")
    async with ScriptedEndpoint(answer) as served, library.AsyncClient() as client:
        with limit_body_size(), pytest.raises(OversizedBody):
            await client.post(served.url, json={})
        assert (await client.post(served.url, json={})).content == LARGE

    def send(request: Any) -> Any:
        return library.Response(200, content=iter([LARGE]))

    with library.Client(transport=library.MockTransport(send)) as client:
        with limit_body_size(), pytest.raises(OversizedBody):
            client.get("http://any")
        assert client.get("http://any").content == LARGE


async def test_a_stream_that_is_too_large_is_not_read_to_its_end() -> None:
    async with ScriptedEndpoint(events(*["x" * 100_000] * 90)) as served:
        chat = (await clients()).chat(served.url, "", "any", stream_usage=False)
        with limit_body_size(), pytest.raises(OversizedBody):
            async for _ in chat.astream("?"):
                pass


async def test_a_stream_of_many_pieces_arrives_whole_in_fewer() -> None:
    words = [f"{n} " for n in range(3000)]
    async with ScriptedEndpoint(events(*words)) as served:
        chat = (await clients()).chat(served.url, "", "any", stream_usage=False)
        pieces = [str(piece.text) async for piece in chat.astream("?")]
    assert "".join(pieces) == "".join(words)
    assert len(pieces) < 1100


# Token counts


def counts(prompt: str, completion: str, cached: str = "0") -> str:
    details = f'"prompt_tokens_details": {{"cached_tokens": {cached}}}'
    return f'{{"prompt_tokens": {prompt}, "completion_tokens": {completion}, {details}}}'


USAGES = [
    (counts("9", "3", "4"), (9, 3, 4)),
    (counts("9.0", "1000000000"), (9, 10**9, 0)),
    (counts("12.5", "3"), (0, 3, 0)),
    (counts("NaN", "Infinity", "-Infinity"), (0, 0, 0)),
    (counts("-7", "-1e9", "-4.5"), (0, 0, 0)),
    (counts("1e300", "1000000001"), (0, 0, 0)),
    (counts('"12"', "true", "[1]"), (0, 0, 0)),
    (counts("null", "{}", '"x"'), (0, 0, 0)),
    ('{"prompt_tokens": 9, "prompt_tokens_details": "x", "cost": 0.1}', (9, 0, 0)),
    ('"many"', (0, 0, 0)),
    ("[1]", (0, 0, 0)),
    ("NaN", (0, 0, 0)),
]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # LangChain's, in a stream
@pytest.mark.parametrize(("usage", "counted"), USAGES)
async def test_an_odd_token_count_is_none_and_loses_no_reply(
    usage: str, counted: tuple[int, int, int], tmp_path: Path
) -> None:
    choice = json.dumps({"index": 0, "message": MESSAGE})
    plain = writes(f'{{"id": "1", "choices": [{choice}], "usage": {usage}}}')
    async with ScriptedEndpoint(plain, events("x", usage=usage)) as served:
        context = at(served.url)
        with kept(tmp_path / "calls.jsonl", context) as run:
            assert await question(context, run) == RULE
        chat = (await clients()).chat(served.url, "", "any", stream_usage=True)
        assert "".join([str(piece.text) async for piece in chat.astream("?")]) == "x"
    (call,) = lines(tmp_path / "calls.jsonl")
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens) == counted


# What listeners hear


ASKED = {"question": "Is it so?", "options": ["a cow", "a tree"]}
GRAPH = method("basic").graph()


class Counting(AsyncCallbackHandler):
    """Counts the calls that it hears of."""

    def __init__(self) -> None:
        self.started = 0

    async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.started += 1


async def by_a_handler(context: ProtocolSettings) -> int:
    counting = Counting()
    await GRAPH.ainvoke(ASKED, {"callbacks": [counting]}, context=context)
    return counting.started


async def by_events(context: ProtocolSettings) -> int:
    events = GRAPH.astream_events(ASKED, context=context, version="v2")
    return len([event async for event in events if event["event"] == "on_chat_model_end"])


@pytest.mark.parametrize("heard", [by_a_handler, by_events])
def test_every_call_is_heard_of(heard: Callable[[ProtocolSettings], Coroutine[None, None, int]]) -> None:
    with LocalEndpoint(seed=3) as endpoint:
        context = build_settings(ProtocolSettings, model=f"openai:any@{endpoint.url}", cache=False)
        count = asyncio.run(heard(context))
        assert count == endpoint.stats()["calls"] >= 5


def test_no_words_of_a_call_stand_in_the_chat_of_a_host() -> None:
    async def messages(context: ProtocolSettings) -> list[Any]:
        told: Any = GRAPH.astream(ASKED, context=context, stream_mode="messages", subgraphs=True)
        return [message async for message in told]

    with LocalEndpoint(seed=3) as endpoint:
        context = build_settings(ProtocolSettings, model=f"openai:any@{endpoint.url}", cache=False)
        assert asyncio.run(messages(context)) == []
        assert endpoint.stats()["calls"] >= 5


SPOKEN = json.dumps({"answer": "a cow", "explanation": "It moos.", "confidence": 0.5})
KEY, WAY_IN = "sk-very-secret-key", "user:open%20sesame@"
QUOTED = f"{KEY}, Basic dXNlcjpvcGVuIHNlc2FtZQ==, open sesame, ?code=a%2Fb%3D%3D, a/b=="
QUOTING = {
    "a refusal": fails(401, QUOTED, {"x-quoted": QUOTED}, param=QUOTED),
    "an error with status 200": sends({"error": {"message": QUOTED}}),
}


@pytest.mark.parametrize("answer", QUOTING.values(), ids=QUOTING.keys())
def test_an_error_that_quotes_the_request_is_heard_of_without_its_secrets(
    answer: Answer, quick: QuickClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    async def heard() -> list[Traced]:
        async with ScriptedEndpoint(answer) as served:
            url = f"http://{WAY_IN}127.0.0.1:{served.port}/v1?code=a%2Fb%3D%3D"
            with collect_runs() as collected, suppress(DialectreeError):
                context = build_settings(ProtocolSettings, model=f"openai:any@{url}", cache=False)
                await method("single_shot").graph().ainvoke(ASKED, context=context)
            return collected.traced_runs

    def told_of(runs: list[Traced]) -> str:
        return "".join(f"{r.inputs} {r.outputs} {r.error}{told_of(r.child_runs)}" for r in runs)

    told = told_of(asyncio.run(heard()))
    assert "Error" in told or "Garbled" in told
    for secret in (KEY, "dXNlcjpvcGVuIHNlc2FtZQ", "open sesame", "a%2Fb", "a/b=="):
        assert secret not in told


def streamed(pieces: list[str], whole: bool = True) -> Answer:
    """A reply in pieces, as OpenAI streams it; the connection breaks after them if not whole."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}}]}
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        if not whole:
            assert request.transport is not None
            request.transport.close()
            return response
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        await response.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())
        return response

    return answer


def test_a_host_that_streams_gets_tokens_and_a_broken_stream_is_asked_for_again(quick: QuickClock) -> None:
    pieces = [SPOKEN[:20], SPOKEN[20:50], SPOKEN[50:]]

    async def texts() -> tuple[list[str], list[Any]]:
        script = (streamed(pieces[:1], whole=False), streamed(pieces))
        async with ScriptedEndpoint(*script) as served:
            context = build_settings(ProtocolSettings, model=f"openai:any@{served.url}", cache=False)
            graph = method("single_shot").graph()
            told: Any = graph.astream_events(ASKED, context=context, version="v2")
            chunks: list[Any] = [
                event["data"]["chunk"] async for event in told if event["event"] == "on_chat_model_stream"
            ]
            return [chunk.text for chunk in chunks if chunk.text], served.bodies

    heard, bodies = asyncio.run(texts())
    assert heard == [pieces[0], *pieces]
    assert [body["stream"] for body in bodies] == [True, True]
    assert bodies[0]["stream_options"] == {"include_usage": True}
