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
from itertools import islice

_WORD = re.compile(r"[^\W\d_]{4,}")
_NO_SIGN = re.compile(r"[\W_]+")
_LONGEST = 60
"""Letters of a word that are compared."""
_NAMED = 8
"""Words that a notice names."""


def find_missing_words(plain_text: str, accounted: Iterable[str]) -> list[str]:
    """Return the words of ``plain_text`` whose letters and figures are nowhere in ``accounted``."""
    return _find_missing(_Text(plain_text), _Text(" ".join(accounted)))


def find_invented_words(plain_text: str, accounted: Iterable[str]) -> list[str]:
    """Return words of ``accounted`` that ``plain_text`` has nowhere, or not as often.

    Letters in a wrong order make such words. A word may consist of two parts that stand apart in
    the plain text: what is between them was left out.
    """
    return _find_invented(_Text(plain_text), _Text(" ".join(accounted)))


def check_conservation(plain_text: str, blocks: Iterable[str], left_out: Iterable[str]) -> list[str]:
    """Return one notice for words that were lost and one for words that were made up."""
    plain, accounted = _Text(plain_text), _Text(" ".join([*blocks, *left_out]))
    notices = []
    if missing := _find_missing(plain, accounted):
        notices.append(f"{len(missing)} words were not read, {_among(missing)}")
    if invented := _find_invented(plain, accounted):
        notices.append(f"{len(invented)} words may be read wrongly, {_among(invented)}")
    return notices


class _Text:
    """A text, its letters and figures in one form, and how often it has each."""

    def __init__(self, text: str) -> None:
        self.text, self.signs = text, _signs(text)
        self.counts = Counter(self.signs)


def _find_missing(plain: _Text, accounted: _Text) -> list[str]:
    missing = plain.counts - accounted.counts
    if not missing:
        return []
    unknown = Counter(plain.text.split()) - Counter(accounted.text.split())
    words: list[str] = []
    for word in unknown.elements():
        signs = Counter(_signs(word))
        if signs and signs <= missing:
            words.append(word)
            missing -= signs
    parted = (word for word in unknown.elements() if not missing.keys().isdisjoint(_signs(word)))
    return [*words, *islice(parted, missing.total())] or [*missing.elements()]


def _find_invented(plain: _Text, accounted: _Text) -> list[str]:
    if accounted.signs == plain.signs:
        return []
    words = dict.fromkeys(_WORD.findall(accounted.text))
    letters = {word: word.casefold() if word.isascii() else _signs(word) for word in words}
    strange = [word for word in words if not _is_in(letters[word], plain.signs)]
    return strange or [*(accounted.counts - plain.counts).elements()]


def _is_in(word: str, letters: str) -> bool:
    """Return whether a word stands in ``letters``, whole or in two parts."""
    if word in letters or len(word) > _LONGEST:
        return word[:_LONGEST] in letters
    return any(word[:at] in letters and word[at:] in letters for at in range(1, len(word)))


def _among(words: list[str]) -> str:
    return f"among them {' '.join(words[:_NAMED])!r:.200}"


def _signs(text: str) -> str:
    """Return the letters and figures of a text, in one form."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _NO_SIGN.sub("", text.casefold())
