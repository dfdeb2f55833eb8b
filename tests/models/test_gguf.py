"""The head of a GGUF file, from files of a few bytes."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from dialectree.errors import SettingsError
from dialectree.models import gguf


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words.encode())) + words.encode()


def number(name: str, value: int) -> bytes:
    return text(name) + struct.pack("<II", 4, value)


def file_of(folder: Path, *pairs: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs))
    return path


def test_the_head_is_read_up_to_the_tokenizer(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + text("chat") + text("small"),
        number("llama.block_count", 30),
        text("llama.rope.freq_base") + struct.pack("<If", 6, 1e5),
        text("llama.attention.head_count_kv") + struct.pack("<IIQ3i", 9, 5, 3, 2, 8, 4),
        number("tokenizer.ggml.eos_token_id", 7),
    )
    assert gguf.head(path) == {"block_count": 30, "attention.head_count_kv": 8}


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.gguf"
    path.write_text("Dear diary")
    with pytest.raises(SettingsError, match=r"notes\.gguf is not a GGUF file"):
        gguf.head(path)


@pytest.mark.parametrize("length", [5, 23, 30, 40])
def test_a_file_that_breaks_off_is_refused(tmp_path: Path, length: int) -> None:
    path = file_of(tmp_path, number("llama.block_count", 30))
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(SettingsError, match="broken GGUF file"):
        gguf.head(path)


def test_a_name_of_absurd_length_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, struct.pack("<Q", 2**62))
    with pytest.raises(SettingsError, match="broken GGUF file"):
        gguf.head(path)


def test_memory_is_weights_and_attention_and_something_for_the_rest(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    head = {"block_count": 30, "embedding_length": 576, "attention.head_count": 9}
    head["attention.head_count_kv"] = 3
    kept = 30 * 2 * 3 * 64 * 2 * 8192  # layers, keys and values, heads, width, bytes, tokens
    rest = gguf.memory_needed(path, {}, 8192)
    assert gguf.memory_needed(path, head, 8192) - rest == kept
    assert 100e6 < rest < 300e6


def test_attention_may_be_wider_than_the_model(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    head = {"block_count": 1, "attention.head_count_kv": 1}
    head |= {"attention.key_length": 256, "attention.value_length": 128}
    assert gguf.memory_needed(path, head, 1) - gguf.memory_needed(path, {}, 1) == 2 * 384
