"""From bytes to text: the encodings that papers come in, and what is no text at all."""

from __future__ import annotations

import codecs
import re

from dialectree.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


_STRAY = re.compile("[\udc80-\udcff]+")
"""Bytes that are no UTF-8, as Python keeps them."""


def decoded(data: bytes, name: str) -> str:
    """The text in ``data``: UTF-8, whatever its byte order mark says, or else Latin-1."""
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        mended = _with_stray_bytes(data, encoding) if encoding.startswith("utf-8") else None
        text = mended or _latin(data)
    if _is_rubbish(text):
        raise InputError(f"{name}: not text; give a PDF, text, Markdown, LaTeX or JSON file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _with_stray_bytes(data: bytes, encoding: str) -> str | None:
    """UTF-8 but for some bytes, which are Latin-1, and a last character that is cut off.

    None where such bytes are as many as the letters beyond ASCII that the rest holds.
    """
    text = codecs.getincrementaldecoder(encoding)("surrogateescape").decode(data)
    beyond = sum(not sign.isascii() for sign in text)
    stray = sum(map(len, _STRAY.findall(text)))
    if beyond <= 2 * stray:
        return None
    return _STRAY.sub(lambda found: _latin(found[0].encode("utf-8", "surrogateescape")), text)


def _latin(data: bytes) -> str:
    return data.decode("cp1252", errors="replace")


def sound(text: str) -> str:
    """``text`` that can be encoded: what is no character becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _encoding(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    return _utf_16_without_mark(data) or "utf-8"


def _utf_16_without_mark(data: bytes) -> str | None:
    """Every other byte of Western text in UTF-16 is zero."""
    start = data[:2000]
    if len(start) >= 8 and start[1::2].count(0) > 0.4 * len(start) and not start[::2].count(0):
        return "utf-16-le"
    if len(start) >= 8 and start[::2].count(0) > 0.4 * len(start) and not start[1::2].count(0):
        return "utf-16-be"
    return None


def _is_rubbish(text: str) -> bool:
    """More signs that no text has than a damaged text would have."""
    start = text[:20_000]
    odd = sum(1 for sign in start if (sign < " " and sign not in "\t\n\r\f\v") or sign == "�")
    return odd > 0.02 * len(start)
