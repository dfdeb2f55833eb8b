"""Models by name: where they are found, their query prompts, and the errors without them."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import huggingface_hub.constants
import numpy as np
import pytest

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.retrieval.embeddings import embedder
from dialectree.retrieval.encoders import BGE_QUERY, SentenceEncoder, Vectors
from tests.retrieval.watched import MINILM


class StubModel:
    """Stand in for SentenceTransformer, and keep its options and its texts."""

    made: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    asked: ClassVar[list[tuple[str, list[str], str | None]]] = []
    prompts: ClassVar[dict[str, str]] = {"query": "", "document": ""}

    def __init__(self, where: str, **options: Any) -> None:
        self.made.append((where, options))

    def encode_query(self, texts: Sequence[str], prompt: str | None, **more: Any) -> Vectors:
        self.asked.append(("query", list(texts), prompt))
        return np.eye(len(texts), 8, dtype=np.float32)

    def encode_document(self, texts: Sequence[str], prompt: str | None, **more: Any) -> Vectors:
        self.asked.append(("document", list(texts), prompt))
        return np.eye(len(texts), 8, dtype=np.float32)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> type[StubModel]:
    class Stub(StubModel):
        made: ClassVar[list[tuple[str, dict[str, Any]]]] = []
        asked: ClassVar[list[tuple[str, list[str], str | None]]] = []

    module = SimpleNamespace(SentenceTransformer=Stub)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return Stub


def test_bge_gets_its_instruction_before_a_query(stub: type[StubModel]) -> None:
    encoder = SentenceEncoder("BAAI/bge-small-en-v1.5")
    encoder.encode(["a passage"], query=False)
    encoder.encode(["a query"], query=True)
    assert stub.asked == [
        ("document", ["a passage"], None),
        ("query", ["a query"], BGE_QUERY),
    ]


def test_a_model_is_loaded_once_and_never_with_code_of_its_own(stub: type[StubModel]) -> None:
    encoder = SentenceEncoder("BAAI/bge-small-en-v1.5")
    for _ in range(3):
        encoder.encode(["a query"], query=True)
    [(where, options)] = stub.made
    assert where == "BAAI/bge-small-en-v1.5"
    assert options == {"local_files_only": True, "trust_remote_code": False}


def test_vectors_of_a_real_model_have_length_one() -> None:
    texts = ["Bread rises because yeast makes gas.", "short"]
    vectors = SentenceEncoder(MINILM).encode(texts, query=False)
    assert vectors.dtype == np.float32 and vectors.shape == (2, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["", "./nowhere", "a/b/c"])
def test_what_can_be_no_model_is_a_wrong_setting(name: str) -> None:
    with pytest.raises(SettingsError, match="--embeddings: there is no model at"):
        SentenceEncoder(name)


def test_a_wrong_endpoint_is_a_wrong_setting_and_shows_no_password() -> None:
    with pytest.raises(
        SettingsError, match="--embeddings: an address begins with http://"
    ) as raised:
        embedder("openai:e@me:secret@host:80/v1")
    assert "secret" not in str(raised.value)


def no_network(*_: object, **__: object) -> Any:
    raise OSError("nothing in the cache")


@pytest.fixture
def empty_cache(stub: type[StubModel], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stub, "__init__", no_network)


def test_without_a_network_one_line_says_what_to_do(
    empty_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*_: object, **__: object) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    with pytest.raises(ModelUnavailable) as raised:
        SentenceEncoder("BAAI/bge-small-en-v1.5").load()
    message = str(raised.value)
    assert raised.value.status == 3 and "\n" not in message
    for words in (
        "hf download BAAI/bge-small-en-v1.5",
        "--embeddings bm25",
        "--embeddings openai:NAME@URL",
    ):
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


def test_a_folder_without_a_model_is_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(SettingsError, match="is no embedding model that can be used"):
        SentenceEncoder(str(tmp_path)).load()
