"""Whoever listens hears of every call, however a host listens; the requests are the same ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import web
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run

from dialectree.errors import DialectreeError
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import ProtocolSettings, build
from tests.endpoint import LocalEndpoint
from tests.models.asking import QuickClock
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, fails, sends

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
def test_every_call_is_heard_of(
    heard: Callable[[ProtocolSettings], Coroutine[None, None, int]],
) -> None:
    with LocalEndpoint(seed=3) as endpoint:
        context = build(ProtocolSettings, model=f"openai:any@{endpoint.url}", cache=False)
        count = asyncio.run(heard(context))
        assert count == endpoint.stats()["calls"] >= 5


def test_no_words_of_a_call_stand_in_the_chat_of_a_host() -> None:
    async def messages(context: ProtocolSettings) -> list[Any]:
        told: Any = GRAPH.astream(ASKED, context=context, stream_mode="messages", subgraphs=True)
        return [message async for message in told]

    with LocalEndpoint(seed=3) as endpoint:
        context = build(ProtocolSettings, model=f"openai:any@{endpoint.url}", cache=False)
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

    async def heard() -> list[Run]:
        async with ScriptedEndpoint(answer) as served:
            url = f"http://{WAY_IN}127.0.0.1:{served.port}/v1?code=a%2Fb%3D%3D"
            with collect_runs() as collected, suppress(DialectreeError):
                context = build(ProtocolSettings, model=f"openai:any@{url}", cache=False)
                await method("single_shot").graph().ainvoke(ASKED, context=context)
            return collected.traced_runs

    def told_of(runs: list[Run]) -> str:
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


def test_a_host_that_streams_gets_tokens_and_a_broken_stream_is_asked_for_again(
    quick: QuickClock,
) -> None:
    pieces = [SPOKEN[:20], SPOKEN[20:50], SPOKEN[50:]]

    async def texts() -> tuple[list[str], list[Any]]:
        script = (streamed(pieces[:1], whole=False), streamed(pieces))
        async with ScriptedEndpoint(*script) as served:
            context = build(ProtocolSettings, model=f"openai:any@{served.url}", cache=False)
            graph = method("single_shot").graph()
            told: Any = graph.astream_events(ASKED, context=context, version="v2")
            chunks: list[Any] = [
                event["data"]["chunk"]
                async for event in told
                if event["event"] == "on_chat_model_stream"
            ]
            return [chunk.text for chunk in chunks if chunk.text], served.bodies

    heard, bodies = asyncio.run(texts())
    assert heard == [pieces[0], *pieces]
    assert [body["stream"] for body in bodies] == [True, True]
    assert bodies[0]["stream_options"] == {"include_usage": True}
