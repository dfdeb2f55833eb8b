"""Embeddings from an endpoint: in batches, in order, and with the family's errors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dialectree.errors import (
    DialectreeError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    SettingsError,
    Unreachable,
)
from dialectree.retrieval.library import Source, find, shelved
from dialectree.retrieval.remote import RemoteEncoder
from dialectree.retrieval.vectors import Vectors
from tests.models.asking import QuickClock
from tests.models.conftest import quick as quick
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
    """Each text as its length, and in the wrong order."""
    rows = [{"index": n, "embedding": [3.0, len(text)]} for n, text in enumerate(texts)]
    return sends({"object": "list", "data": rows[::-1]})


def embedded(*script: Answer, texts: Sequence[str] = ("four",), **more: Any) -> tuple[Vectors, Any]:
    """What an encoder makes of ``texts``, and the endpoint that it asked."""

    async def work() -> tuple[Vectors, Any]:
        choose = None if script else lambda body: vectors(body["input"])
        async with ScriptedEndpoint(*script, choose=choose) as endpoint:
            encoder = RemoteEncoder("embed-1", endpoint.url)
            return await asyncio.to_thread(encoder.passages, texts), endpoint

    return asyncio.run(work())


def test_vectors_come_back_in_the_order_of_the_texts_and_normalised() -> None:
    made, endpoint = embedded(texts=["four", "x"])
    assert np.allclose(made[0], [0.6, 0.8]) and np.allclose(np.linalg.norm(made, axis=1), 1)
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.bodies == [
        {"model": "embed-1", "input": ["four", "x"], "encoding_format": "float"}
    ]


def test_many_texts_go_in_several_requests() -> None:
    texts = ["x" * (n % 50 + 1) for n in range(600)]
    made, endpoint = embedded(texts=texts)
    assert sorted(len(body["input"]) for body in endpoint.bodies) == [88, 256, 256]
    expected = np.array([[3.0, len(text)] for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(made, expected)


def test_the_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    _, endpoint = embedded()
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-secret"


def test_no_proxy_stands_before_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert len(embedded()[0]) == 1


def test_what_may_pass_is_tried_again(quick: QuickClock) -> None:
    script = fails(500), fails(429, headers={"retry-after": "7"}), breaks_off(), vectors(["four"])
    made, endpoint = embedded(*script)
    assert len(endpoint.bodies) == 4 and len(made) == 1
    assert 7.0 in quick.slept


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (fails(401), KeyRefused, "refuses the key"),
        (fails(404), RequestError, "has no embeddings of openai:embed-1"),
        (fails(400, "bad input"), RequestError, "bad input"),
        (fails(400, "maximum context length is 8192"), RequestError, "too long"),
        (fails(500), ModelUnavailable, "gives no embeddings: status 500"),
        (sends({"data": []}), RequestError, "1 texts were sent, 0 usable vectors"),
        (
            sends({"data": [{"index": 0, "embedding": [0.0, 0.0]}]}),
            RequestError,
            "1 texts were sent",
        ),
        (writes("<html>hello</html>", "text/html"), RequestError, "gives no embeddings"),
    ],
)
def test_what_cannot_pass_is_one_line(
    quick: QuickClock, answer: Answer, kind: type[DialectreeError], words: str
) -> None:
    with pytest.raises(kind, match=words) as raised:
        embedded(answer)
    assert "\n" not in str(raised.value)


def test_nobody_at_the_address_is_unreachable(quick: QuickClock) -> None:
    with pytest.raises(Unreachable, match="nobody answers at http://127"):
        RemoteEncoder("embed-1", "http://127.0.0.1:9/v1").passages(["x"])


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(KeyRefused, match="set OPENAI_API_KEY"):
        RemoteEncoder("embed-1", None).passages(["x"])


def test_an_address_must_be_one() -> None:
    with pytest.raises(SettingsError, match="--embeddings: an address begins with http"):
        RemoteEncoder("embed-1", "ftp://host")


def test_secrets_of_an_address_are_in_no_name() -> None:
    ways = ["https://me:secret@host/v1?key=hidden", "https://host/v1?key=hidden", "https://host/v1"]
    names = [RemoteEncoder("embed-1", way).name for way in ways]
    assert len(set(names)) == 3  # they embed apart, and are cached apart
    assert [name.partition("#")[0] for name in names] == ["openai:embed-1@https://host/v1"] * 3
    assert "secret" not in str(names) and "hidden" not in str(names)


@pytest.mark.parametrize("status", [200, 404])
def test_an_error_that_quotes_the_key_is_told_without_it(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with pytest.raises(RequestError, match=r"\*\*\*") as raised:
        embedded(sends({"error": {"message": "no: sk-secret"}}, status))
    assert "sk-secret" not in str(raised.value)


def test_a_debate_finds_through_an_endpoint() -> None:
    source = Source(paper=paper("A first paragraph. " * 9, "And a much longer second one. " * 9))

    async def work() -> tuple[list[int], int]:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            name = f"openai:embed-1@{endpoint.url}"
            async with shelved([source], name):
                [hits] = await find(source.digest, name, ["x" * len("A first" * 40)], 2)
            return [hit.number for hit in hits], len(endpoint.bodies)

    numbers, requests = asyncio.run(work())
    assert len(numbers) == 2 and requests == 2
