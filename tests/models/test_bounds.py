"""What comes back with a reply is bounded: the size of its body, and its token counts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from aiohttp import web

from dialectree.errors import CallError
from dialectree.models.clients import BODY_BYTES, bounded, clients
from dialectree.models.error_mapping import Oversized
from dialectree.models.run import Run
from dialectree.records import Call
from dialectree.records.journal import Journal
from tests.models.asking import GOOD, RULE, QuickClock, at, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, writes

pytestmark = pytest.mark.anyio

MESSAGE = {"role": "assistant", "content": GOOD}
LARGE = json.dumps({"choices": [{"message": MESSAGE}]}).encode() + b" " * BODY_BYTES
EVENTS = "text/event-stream"


def replies(
    body: bytes, status: int = 200, kind: str = "application/json", **headers: str
) -> Answer:
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
        with bounded(), pytest.raises(Oversized):
            await client.post(served.url, json={})
        assert (await client.post(served.url, json={})).content == LARGE

    def send(request: Any) -> Any:
        return library.Response(200, content=iter([LARGE]))

    with library.Client(transport=library.MockTransport(send)) as client:
        with bounded(), pytest.raises(Oversized):
            client.get("http://any")
        assert client.get("http://any").content == LARGE


async def test_a_stream_that_is_too_large_is_not_read_to_its_end() -> None:
    async with ScriptedEndpoint(events(*["x" * 100_000] * 90)) as served:
        chat = (await clients()).chat(served.url, "", "any", stream_usage=False)
        with bounded(), pytest.raises(Oversized):
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
        journal = Journal(tmp_path / "calls.jsonl")
        assert await question(context, Run("run", context, journal)) == RULE
        journal.close()
        chat = (await clients()).chat(served.url, "", "any", stream_usage=True)
        assert "".join([str(piece.text) async for piece in chat.astream("?")]) == "x"
    call = Call.model_validate_json((tmp_path / "calls.jsonl").read_bytes())
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens) == counted
