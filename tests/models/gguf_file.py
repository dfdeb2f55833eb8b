"""Write a small GGUF file: a header, and weights that are zeros."""

from __future__ import annotations

import struct
from pathlib import Path

TEMPLATE = "{{ messages }}"
Value = int | float | str | list[str] | list[int]


def gguf(
    file: Path,
    shapes: list[tuple[int, ...]],
    metadata: dict[str, Value] | None = None,
    *,
    template: str | None = TEMPLATE,
) -> Path:
    """Write ``file`` with a tensor of float16 of each shape."""
    pairs: dict[str, Value] = {
        "general.architecture": "llama",
        "rope.scale": 0.5,
        "tokenizer.tokens": ["<s>", "a", ""],
        "tokenizer.types": [1, 2, 3],
        **(metadata or {}),
    }
    if template is not None:
        pairs["tokenizer.chat_template"] = template
    content = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(pairs))
    for key, value in pairs.items():
        content += _text(key) + _value(value)
    offset = 0
    for number, shape in enumerate(shapes):
        content += _text(f"block.{number}") + struct.pack("<I", len(shape))
        content += struct.pack(f"<{len(shape)}QIQ", *shape, 1, offset)
        weights = 1
        for length in shape:
            weights *= length
        offset += 2 * weights
    content += bytes(-len(content) % 32)
    with file.open("wb") as stream:
        stream.write(content)
        stream.truncate(len(content) + offset)  # sparse: a large model takes no room
    return file


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _value(value: Value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    head = struct.pack("<I", 9)
    if isinstance(value[0], str):
        return head + struct.pack("<IQ", 8, len(value)) + b"".join(map(_text, map(str, value)))
    return head + struct.pack(f"<IQ{len(value)}i", 5, len(value), *value)
