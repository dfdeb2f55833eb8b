"""From bytes to text: the encodings that papers come in, and what is no text at all."""

from __future__ import annotations

import re

import charset_normalizer
import ftfy

from dialectree.errors import InputError

_OTHER_SCRIPTS = re.compile(r"Cyrillic|Greek|Hebrew|Arabic|CJK|Hiragana|Katakana|Hangul")


def decoded(data: bytes, name: str) -> str:
    """Return the text in `data`; stray bytes in UTF-8 are read as Windows wrote them."""
    try:
        text = data.decode("utf-8-sig")
        if "\0" in text:
            text = _guessed(data)
    except UnicodeDecodeError:
        text = _guessed(data)
    if _is_rubbish(text):
        raise InputError(f"{name}: not text; give a PDF, text, Markdown, LaTeX or JSON file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _guessed(data: bytes) -> str:
    """Trust a guess of another script; Western encodings are too much alike in a short text."""
    guess = charset_normalizer.from_bytes(data[:200_000]).best()
    if guess is not None:
        wide = guess.encoding.startswith(("utf_16", "utf_32"))
        if wide or _OTHER_SCRIPTS.search(" ".join(guess.alphabets)):
            return data.decode(guess.encoding, errors="replace").lstrip("\ufeff")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("cp1252", errors="replace")
    return ftfy.fix_encoding(text)


def sound(text: str) -> str:
    """Return `text` as it can be encoded: what is no character becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _is_rubbish(text: str) -> bool:
    """Whether more signs in a text are odd than damage explains."""
    start = text[:20_000]
    odd = sum(1 for sign in start if (sign < " " and sign not in "\t\n\r\f\v") or sign == "�")
    return odd > 0.02 * len(start)
