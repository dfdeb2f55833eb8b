"""Check that reading a file lost no word and made none up.

A reader takes the words of a file in two ways: as blocks, and as the plain text that the format's
library gives. Letters and figures are compared as a multiset of signs in one normal form, so that
mended hyphens, blanks and marks do not count. Order is not compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]{4,}")
_NAMED = 8
"""Words that a notice names."""


def missing_words(plain_text: str, taken: Iterable[str]) -> list[str]:
    """Return the words of ``plain_text`` whose letters and figures are nowhere in ``taken``."""
    texts = [*taken]
    missing = _signs(plain_text) - _signs(" ".join(texts))
    if not missing:
        return []
    known = Counter(word for text in texts for word in text.split())
    unknown = Counter(plain_text.split()) - known
    return [word for word in unknown.elements() if _signs(word) & missing] or [
        *missing.elements()
    ]


def invented_words(plain_text: str, taken: Iterable[str]) -> list[str]:
    """Return words of ``taken`` that ``plain_text`` has nowhere, or not as often.

    Letters in a wrong order and columns that were read across make such words.
    """
    letters = "".join(sign for sign in _normalized(plain_text) if sign.isalnum())
    texts = [*taken]
    words = [word for text in texts for word in _WORD.findall(text)]
    strange = [word for word in words if _letters(word) not in letters]
    surplus = _signs(" ".join(texts)) - _signs(plain_text)
    return strange or [*surplus.elements()]


def conservation_notices(plain_text: str, blocks: Iterable[str], left_out: Iterable[str]) -> list[str]:
    """Return one notice for words that were lost and one for words that were made up."""
    sources = [*blocks]
    taken = [*sources, *left_out]
    notices = []
    if missing := missing_words(plain_text, taken):
        notices.append(f"{len(missing)} words were not read, {_among(missing)}")
    if invented := invented_words(plain_text, taken):
        notices.append(f"{len(invented)} words may be read wrongly, {_among(invented)}")
    return notices


def _among(words: list[str]) -> str:
    return f"among them {' '.join(words[:_NAMED])!r:.200}"


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _letters(word: str) -> str:
    return "".join(sign for sign in _normalized(word) if sign.isalnum())


def _signs(text: str) -> Counter[str]:
    """Count the letters and figures of a text, in one form."""
    counts = Counter(_normalized(text))
    return Counter({sign: count for sign, count in counts.items() if sign.isalnum()})
