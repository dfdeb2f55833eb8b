"""Split texts into words as ToD and earlier versions search them."""

from __future__ import annotations

import re
from itertools import pairwise

from bm25s.stopwords import STOPWORDS_EN

_WIDE = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
"""A character of Chinese or Japanese, which put no blanks between words."""
_WIDE_SIGN = re.compile(_WIDE)
_WORD = re.compile(rf"{_WIDE}+|(?:(?!{_WIDE})\w)+")
_ANY_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(STOPWORDS_EN)


def words(text: str) -> list[str]:
    """Split ``text`` into words in lower case, without stop words.

    Chinese and Japanese, which put no blanks between words, are split into pairs of characters.
    """
    text = text.lower()
    if not _WIDE_SIGN.search(text):
        return [word for word in _ANY_WORD.findall(text) if word not in _STOP_WORDS]
    split: list[str] = []
    for word in _WORD.findall(text):
        if len(word) > 1 and _WIDE_SIGN.match(word):
            split += map("".join, pairwise(word))
        elif word not in _STOP_WORDS:
            split.append(word)
    return split
