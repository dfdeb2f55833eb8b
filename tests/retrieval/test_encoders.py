"""Encoders: models by name and behind an endpoint, their cache, and the errors without them."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
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
from dialectree.retrieval import encoders
from dialectree.retrieval.embedders import Timing, embedder
from dialectree.retrieval.encoders import BGE_QUERY, RemoteEncoder, SentenceEncoder, Vectors, cache_embeddings
from dialectree.retrieval.library import keep_open, search_paper
from dialectree.retrieval.papers import AmendedPaper
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, breaks_off, fails, sends, writes
from tests.retrieval.watched import paper

# Models of this machine


BGE = "BAAI/bge-small-en-v1.5"


def install(monkeypatch: pytest.MonkeyPatch, model: Callable[..., Any]) -> None:
    """Let ``model`` stand in for SentenceTransformer."""
    module = SimpleNamespace(SentenceTransformer=model)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_bge_is_loaded_once_and_gets_its_instruction_before_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[str, dict[str, Any]]] = []
    encoded: list[tuple[str, list[str], str | None]] = []

    def model(name: str, **options: Any) -> SimpleNamespace:
        def encode(kind: str) -> Callable[..., Vectors]:
            def work(texts: list[str], prompt: str | None, **more: Any) -> Vectors:
                encoded.append((kind, texts, prompt))
                return np.eye(len(texts), 8, dtype=np.float32)

            return work

        loaded.append((name, options))
        prompts = {"query": "", "document": ""}
        return SimpleNamespace(
            prompts=prompts, encode_query=encode("query"), encode_document=encode("document")
        )

    install(monkeypatch, model)
    encoder = SentenceEncoder(BGE)
    encoder.encode(["a passage"], query=False)
    encoder.encode(["a query"], query=True)
    assert encoded == [("document", ["a passage"], None), ("query", ["a query"], BGE_QUERY)]
    assert loaded == [(BGE, {"local_files_only": True, "trust_remote_code": False})]


@pytest.mark.parametrize("name", ["", "./nowhere", "a/b/c"])
def test_what_can_be_no_model_is_a_wrong_setting(name: str) -> None:
    with pytest.raises(SettingsError, match="`embeddings`: there is no model at"):
        SentenceEncoder(name)


def test_a_wrong_endpoint_is_a_wrong_setting_and_shows_no_password() -> None:
    wrong = "`embeddings`: an address begins with http://"
    with pytest.raises(SettingsError, match=wrong) as raised:
        embedder("openai:e@me:secret@host:80/v1")
    assert "secret" not in str(raised.value)


def test_without_a_network_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object, **__: object) -> Any:
        raise OSError("nothing in the cache")

    def nobody(*_: object, **__: object) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    install(monkeypatch, absent)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    with pytest.raises(ModelUnavailable) as raised:
        SentenceEncoder(BGE).load()
    message = str(raised.value)
    assert raised.value.status == 3 and "\n" not in message
    for words in (f"hf download {BGE}", "`embeddings` bm25", "`embeddings` openai:NAME@URL"):
        assert words in message


def test_the_code_in_a_models_folder_is_never_run(tmp_path: Path) -> None:
    """Neither a module of the folder nor a class that its configuration maps to."""
    folder, trace = tmp_path / "model", tmp_path / "trace"
    folder.mkdir()
    code = f"open({str(trace)!r}, 'w').close()\nclass Own:\n    load = staticmethod(print)\n"
    (folder / "own.py").write_text(code)
    module = {"idx": 0, "name": "0", "path": "", "type": "own.Own"}
    (folder / "modules.json").write_text(json.dumps([module]))
    config = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(SettingsError, match="needs code of its own, which is never run"):
        SentenceEncoder(str(folder)).load()
    (folder / "modules.json").unlink()
    with pytest.raises(SettingsError):
        SentenceEncoder(str(folder)).load()
    assert not trace.exists()
    (folder / "modules.json").write_text("[]")
    with pytest.raises(SettingsError, match="is no embedding model that can be used"):
        SentenceEncoder(str(folder)).load()


TEXTS = ["one", "two", "three"]


class Counted(SentenceEncoder):
    """An encoder of three dimensions that counts its texts."""

    batch = 2  # type: ignore[assignment]

    def __init__(self, name: str = "a/model") -> None:
        self.name = name
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        self.texts += texts
        return np.array([[len(text), 0.1, 1] for text in texts], dtype=np.float32)


def embed(encoder: Counted, texts: list[str] = TEXTS, *, query: bool = False) -> list[list[float]]:
    return cache_embeddings(encoder, query=query).embed_documents(texts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_text_is_embedded_once_for_each_model_and_kind(folder: Path) -> None:
    encoder = Counted()
    first = embed(encoder)
    assert embed(encoder, ["three", "four", "one"])[::2] == [first[2], first[0]]
    assert encoder.texts == [*TEXTS, "four"]
    embed(encoder, query=True)
    assert encoder.texts[4:] == TEXTS
    embed(other := Counted("a_model"))
    assert other.texts == TEXTS
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*")} == {0o600, 0o700}


@pytest.mark.parametrize("content", [b"", b"[3.0, 0.1", np.eye(1, 3, dtype="f4").tobytes()])
def test_a_torn_or_foreign_file_counts_as_none(folder: Path, content: bytes) -> None:
    first = embed(Counted())
    for file in filter(Path.is_file, folder.rglob("*")):
        file.write_bytes(content)
    again, warm = Counted(), Counted()
    assert embed(again) == first and again.texts == TEXTS
    assert embed(warm) == first and warm.texts == []


def test_a_folder_that_cannot_be_written_costs_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "vectors").write_text("a file stands where the folder should")
    with caplog.at_level(logging.WARNING):
        assert len(embed(Counted())) == 3
    assert "cannot cache vectors" in caplog.text


# Behind an endpoint


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
    assert endpoint.bodies == [{"model": "embed-1", "input": ["four", "x"], "encoding_format": "float"}]
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-secret"


def test_the_user_and_the_query_of_an_address_are_sent() -> None:
    async def work() -> str:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            url = endpoint.url.replace("://", "://me:secret@") + "?version=2"
            await asyncio.to_thread(RemoteEncoder("e", url).encode, ["x"], query=True)
            assert endpoint.paths == ["/v1/embeddings?version=2"]
            return endpoint.headers[0]["Authorization"]

    assert asyncio.run(work()) == "Basic bWU6c2VjcmV0"


LARGE_BGE = "BAAI/bge-large-en-v1.5"


@pytest.mark.parametrize(
    ("model", "asked"), [(LARGE_BGE, f"{BGE_QUERY}x"), ("BAAI/bge-m3", "x"), ("embed-1", "x")]
)
def test_a_bge_model_behind_an_endpoint_gets_its_instruction_before_a_query(model: str, asked: str) -> None:
    async def work() -> list[str]:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            at = embedder(f"openai:{model}@{endpoint.url}")
            await at.queries(["x"], Timing())
            await asyncio.to_thread(at.passages().embed_documents, ["x"])
            return [text for body in endpoint.bodies for text in body["input"]]

    assert asyncio.run(work()) == [asked, "x"]
    plain, now = f"openai:{model}@http://host/v1", RemoteEncoder(model, "http://host/v1").name
    assert (now == plain) is (asked == "x")  # older vectors of its queries lie by the plain name


def test_passing_failures_are_tried_again_and_a_rate_limit_is_waited_for(pauses: list[float]) -> None:
    made, endpoint = embedded(fails(500), breaks_off(), vectors(["four"]))
    assert len(endpoint.bodies) == 3 and len(made) == 1
    limit = fails(429, headers={"retry-after": "7"})
    made, _ = embedded(*[limit] * 9, vectors(["four"]))
    assert len(made) == 1 and pauses.count(7) == 6


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (fails(401), KeyRefused, "refuses the key"),
        (fails(404, "no: sk-secret"), RequestError, r"embed-1 .*`embeddings`.*\*\*\*"),
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
    source = AmendedPaper(paper=paper(*(f"This is paragraph number {n}. " * 9 for n in range(300))))

    async def work() -> tuple[list[int], list[int]]:
        async with ScriptedEndpoint(choose=lambda body: vectors(body["input"])) as endpoint:
            name = f"openai:embed-1@{endpoint.url}"
            async with keep_open([source], name):
                [hits] = await search_paper(source.digest, name, ["x" * 250], 2)
            return [hit.number for hit in hits], [len(body["input"]) for body in endpoint.bodies]

    numbers, batches = asyncio.run(work())
    assert len(numbers) == 2 and batches[0] == 256 and batches[-1] == 1 and len(batches) > 2


def test_nobody_at_the_address_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="nobody answers at http://127"):
        RemoteEncoder("embed-1", "http://127.0.0.1:9/v1").encode(["x"], query=False)
