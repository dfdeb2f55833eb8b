"""The head of a GGUF file: whether it is one, and how much memory it takes to run."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

from dialectree.errors import SettingsError

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_NUMBERS[12] = "d"
_TEXT, _LIST = 8, 9
_LONGEST_NAME = 2**16
_OVERHEAD = 160 * 2**20  # the server's own memory and the model's scratch buffers, in bytes

Head = dict[str, int]
"""The whole numbers that a file says of its model, without the name of the architecture."""


def head(path: Path) -> Head:
    """Read what a GGUF file says of its model; SettingsError where it is none or breaks off.

    The numbers stand before the tokenizer's long lists, where the reading stops. Of a list of
    numbers, one for each layer, the largest counts.
    """
    found: Head = {}
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise SettingsError(f"{path} is not a GGUF file")
        try:
            _, _, pairs = _unpack(file, "IQQ")
            for _ in range(pairs):
                name = _name(file)
                if name.startswith("tokenizer."):
                    break
                value = _value(file, *_unpack(file, "I"))
                if isinstance(value, int):
                    found[name.partition(".")[2]] = value
        except (struct.error, UnicodeDecodeError, KeyError, OverflowError) as error:
            raise SettingsError(f"{path} is a broken GGUF file: fetch it again") from error
    return found


def memory_needed(path: Path, head: Head, tokens: int) -> int:
    """Bytes that the model needs: its weights, what attention keeps of ``tokens``, and the rest."""
    heads = max(1, head.get("attention.head_count", 1))
    width = head.get("embedding_length", 0) // heads
    key, value = head.get("attention.key_length", width), head.get("attention.value_length", width)
    kept = (key + value) * head.get("attention.head_count_kv", heads) * head.get("block_count", 0)
    return path.stat().st_size + 2 * kept * tokens + _OVERHEAD


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    form = "<" + form
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _name(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > _LONGEST_NAME:
        raise OverflowError
    return file.read(length).decode()


def _value(file: BinaryIO, kind: int) -> float | None:
    """The next value: a number, the largest of a list of numbers, or None for text, passed over."""
    if kind == _TEXT:
        (length,) = _unpack(file, "Q")
        file.seek(length, os.SEEK_CUR)
        return None
    if kind == _LIST:
        inner, count = _unpack(file, "IQ")
        values = [_value(file, inner) for _ in range(count)]
        return max((value for value in values if value is not None), default=None)
    number: float = _unpack(file, _NUMBERS[kind])[0]
    return number
