"""Read the header of a GGUF file: what the model is, without its weights."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

VERSIONS = (2, 3)
"""The versions of the format that llama.cpp reads."""

_DAMAGED = "has a damaged header; download it again"
_NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIiI?QqQ", strict=True))
"""Codes of ``struct`` as wide as the numbers of the metadata, by type; no fraction is needed."""
_STRING, _ARRAY = 8, 9
_LONGEST = 2**26
"""Bytes of a text in a header; only a damaged one claims to have more."""
_BLOCKS: tuple[tuple[int, dict[int, int]], ...] = (
    (1, {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2}),
    (32, {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 20: 18, 39: 17}),
    (256, {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 34: 54, 35: 66}),
    (256, {16: 66, 17: 74, 18: 98, 19: 50, 21: 110, 22: 82, 23: 136, 29: 56}),
)
"""Weights in a block, and the bytes of such a block by the type of its tensor."""


class Header(NamedTuple):
    """What the header of a GGUF file says about its model."""

    parameters: int | None
    """The number of parameters; None in one part of a model that is split over several files."""
    has_template: bool
    """Whether the file has a chat template, which turns messages into a prompt."""


def read_header(file: Path) -> Header:
    """Return the header of ``file``.

    Raises OSError for a file that cannot be read, and ValueError with what is wrong for one that
    is not a whole GGUF file.
    """
    size = file.stat().st_size
    try:
        with file.open("rb") as stream:
            header, end = _read(stream)
    except struct.error:  # the file ended
        raise ValueError(f"is truncated at {size:,} bytes; download it again") from None
    if size < end:
        raise ValueError(f"is truncated at {size:,} of {end:,} bytes; download it again")
    return header


def _read(stream: BinaryIO) -> tuple[Header, int]:
    """Return the header, and the place where the last tensor ends."""
    if stream.read(4) != b"GGUF":
        raise ValueError("is not a GGUF file")
    if (version := _number(stream, "I")) not in VERSIONS:
        raise ValueError(f"is a GGUF file of version {version}, which llama.cpp does not read")
    tensors, pairs = _number(stream, "Q"), _number(stream, "Q")
    metadata: dict[bytes, int] = {}
    for _ in range(pairs):
        key = _text(stream)
        metadata[key] = _value(stream, _number(stream, "I"))
    parameters = last = end = 0
    for _ in range(tensors):
        _text(stream)  # its name
        weights = math.prod(_number(stream, "Q") for _ in range(_number(stream, "I")))
        kind, offset = _number(stream, "I"), _number(stream, "Q")
        parameters += weights
        last = max(last, offset + _bytes(weights, kind))
    if tensors:
        alignment = metadata.get(b"general.alignment") or 32
        end = -(-stream.tell() // alignment) * alignment + last
    is_part = metadata.get(b"split.count", 1) > 1
    has_template = metadata.get(b"tokenizer.chat_template", 0) > 0
    return Header(None if is_part else parameters, has_template), end


def _value(stream: BinaryIO, kind: int) -> int:
    """Return a number of the metadata, or the length of a text or list."""
    if kind in _NUMBERS:
        return _number(stream, _NUMBERS[kind])
    if kind == _STRING:
        return len(_text(stream))
    element, count = (_number(stream, "I"), _number(stream, "Q")) if kind == _ARRAY else (kind, 0)
    if element in _NUMBERS:
        stream.seek(count * struct.calcsize(_NUMBERS[element]), os.SEEK_CUR)
    elif element == _STRING:
        for _ in range(count):
            _text(stream)
    else:
        raise ValueError(_DAMAGED)
    return count


def _number(stream: BinaryIO, code: str) -> int:
    (number,) = struct.unpack(f"<{code}", stream.read(struct.calcsize(code)))
    return int(number)


def _text(stream: BinaryIO) -> bytes:
    length = _number(stream, "Q")
    if length > _LONGEST:
        raise ValueError(_DAMAGED)
    return stream.read(length)


def _bytes(weights: int, kind: int) -> int:
    """Return how many bytes a tensor takes; 0 for a type that is not known here."""
    for block, sizes in _BLOCKS:
        if kind in sizes:
            return -(-weights // block) * sizes[kind]
    return 0
