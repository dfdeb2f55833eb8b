"""A guard against branch drift: a child should bring no entity that its parent lacks.

Recorded and shown, never acted upon: capital letters and figures are a hint, not a proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_][\w'’-]*")


def newcomers(child: str, known: Iterable[str]) -> list[str]:
    """Names and figures of ``child`` that stand in none of the texts ``known``.

    A name is a capitalised word that does not open a sentence; a figure is a word with a digit.
    """
    before = {_stem(word) for text in known for word in _WORD.findall(text)}
    found = [
        word
        for sentence in re.split(r"(?<=[.?!:])\s+", child)
        for place, word in enumerate(_WORD.findall(sentence))
        if (any(c.isdigit() for c in word) or (place and word[0].isupper() and word != "I"))
    ]
    return list(dict.fromkeys(word for word in found if _stem(word) not in before))


def _stem(word: str) -> str:
    return re.sub(r"['’]s$", "", word).casefold()
