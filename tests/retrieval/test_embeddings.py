"""Models by name: where they are found, their query prompts, and the errors without them."""

from __future__ import annotations

import json
import logging
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import numpy as np
import pytest

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.retrieval.encoders import BGE_QUERY, SentenceEncoder, Vectors, cached
from dialectree.retrieval.library import embedder

BGE = "BAAI/bge-small-en-v1.5"


def install(monkeypatch: pytest.MonkeyPatch, model: Callable[..., Any]) -> None:
    """Let ``model`` stand in for SentenceTransformer."""
    module = SimpleNamespace(SentenceTransformer=model)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_bge_is_loaded_once_and_gets_its_instruction_before_a_query(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    with pytest.raises(SettingsError, match="--embeddings: there is no model at"):
        SentenceEncoder(name)


def test_a_wrong_endpoint_is_a_wrong_setting_and_shows_no_password() -> None:
    wrong = "--embeddings: an address begins with http://"
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
    for words in (f"hf download {BGE}", "--embeddings bm25", "--embeddings openai:NAME@URL"):
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
    with pytest.raises(SettingsError, match="brings code of its own, which is never run"):
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
    return cached(encoder, query=query).embed_documents(texts)


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
