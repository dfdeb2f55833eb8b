"""Embeddings from an endpoint: in batches, with patience, and with clear errors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dialectree.errors import (
    DialectreeError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    Unreachable,
)
from dialectree.retrieval import encoders
from dialectree.retrieval.encoders import BGE_QUERY, RemoteEncoder, Vectors
from dialectree.retrieval.library import Source, Timing, embedder, find, shelved
from tests.models.scripted_endpoint import (
    Answer,
    ScriptedEndpoint,
    breaks_off,
    fails,
    sends,
    writes,
)
from tests.retrieval.watched import paper


def vectors(texts: Sequence[str]) -> Answer:
    """Answer with the length of each text."""
    rows = [{"index": n, "embedding": [3.0, len(text)]} for n, text in enumerate(texts)]
    return sends({"object": "list", "data": rows, "model": "embed-1"})


def embedded(*script: Answer, texts: Sequence[str] = ("four",)) -> tuple[Vectors, Any]:
    """Return the vectors of ``texts``, and the endpoint that made them."""

    async def work() -> tuple[Vectors, Any]:
        choose = None if script else lambda body: vectors(body["input"])
        async with ScriptedEndpoint(*script, choose=choose) as endpoint:
            encoder = RemoteEncoder("embed-1", endpoint.url)
            return await asyncio.to_thread(encoder.encode, texts, query=False), endpoint

    return asyncio.run(work())


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let every pause pass at once, and keep its length."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(encoders, "PATIENCE_S", 20.0)
    return slept


def test_vectors_are_normalised_and_the_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    made, endpoint = embedded(texts=["four", "x"])
    assert np.allclose(made[0], [0.6, 0.8]) and np.allclose(np.linalg.norm(made, axis=1), 1)
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.bodies == [
        {"model": "embed-1", "input": ["four", "x"], "encoding_format": "float"}
    ]
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-secret"


def test_the_user_and_the_query_of_an_address_are_sent() -> None:
    async def work() -> str:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            url = endpoint.url.replace("://", "://me:secret@") + "?version=2"
            await asyncio.to_thread(RemoteEncoder("e", url).encode, ["x"], query=True)
            assert endpoint.paths == ["/v1/embeddings?version=2"]
            return endpoint.headers[0]["Authorization"]

    assert asyncio.run(work()) == "Basic bWU6c2VjcmV0"


BGE = "BAAI/bge-large-en-v1.5"


@pytest.mark.parametrize(
    ("model", "asked"), [(BGE, f"{BGE_QUERY}x"), ("BAAI/bge-m3", "x"), ("embed-1", "x")]
)
def test_a_bge_model_behind_an_endpoint_gets_its_instruction_before_a_query(
    model: str, asked: str
) -> None:
    async def work() -> list[str]:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            at = embedder(f"openai:{model}@{endpoint.url}")
            await at.queries(["x"], Timing())
            await asyncio.to_thread(at.passages().embed_documents, ["x"])
            return [text for body in endpoint.bodies for text in body["input"]]

    assert asyncio.run(work()) == [asked, "x"]
    plain, now = f"openai:{model}@http://host/v1", RemoteEncoder(model, "http://host/v1").name
    assert (now == plain) is (asked == "x")  # older vectors of its queries lie by the plain name


def test_passing_failures_are_tried_again_and_a_rate_limit_is_waited_for(
    pauses: list[float],
) -> None:
    made, endpoint = embedded(fails(500), breaks_off(), vectors(["four"]))
    assert len(endpoint.bodies) == 3 and len(made) == 1
    limit = fails(429, headers={"retry-after": "7"})
    made, _ = embedded(*[limit] * 9, vectors(["four"]))
    assert len(made) == 1 and pauses.count(7) == 6


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (fails(401), KeyRefused, "refuses the key"),
        (fails(404, "no: sk-secret"), RequestError, r"embed-1 .*--embeddings.*\*\*\*"),
        (fails(429, code="insufficient_quota"), ModelUnavailable, "wants to be paid"),
        (vectors(["one", "two"]), RequestError, "1 texts were sent, 2 usable vectors"),
        (writes("<html>hello</html>", "text/html"), RequestError, "gives no embeddings"),
    ],
)
def test_other_failures_are_one_line_without_the_key(
    answer: Answer, kind: type[DialectreeError], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with pytest.raises(kind, match=words) as raised:
        embedded(answer)
    assert "\n" not in str(raised.value) and "sk-secret" not in str(raised.value)


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(KeyRefused, match="set OPENAI_API_KEY"):
        RemoteEncoder("embed-1", None).encode(["x"], query=False)


def test_secrets_of_an_address_are_in_no_name() -> None:
    ways = ["https://me:secret@host/v1?key=hidden", "https://host/v1?key=hidden", "https://host/v1"]
    names = [RemoteEncoder("embed-1", way).name for way in ways]
    assert len(set(names)) == 3  # they embed apart, and are cached apart
    assert [name.partition("#")[0] for name in names] == ["openai:embed-1@https://host/v1"] * 3
    assert "secret" not in str(names) and "hidden" not in str(names)


def test_a_debate_finds_through_an_endpoint_in_batches() -> None:
    source = Source(paper=paper(*(f"This is paragraph number {n}. " * 9 for n in range(300))))

    async def work() -> tuple[list[int], list[int]]:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            name = f"openai:embed-1@{endpoint.url}"
            async with shelved([source], name):
                [hits] = await find(source.digest, name, ["x" * 250], 2)
            return [hit.number for hit in hits], [len(body["input"]) for body in endpoint.bodies]

    numbers, batches = asyncio.run(work())
    assert len(numbers) == 2 and batches[0] == 256 and batches[-1] == 1 and len(batches) > 2


def test_nobody_at_the_address_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="nobody answers at http://127"):
        RemoteEncoder("embed-1", "http://127.0.0.1:9/v1").encode(["x"], query=False)
