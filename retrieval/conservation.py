"""Check that reading a file neither lost nor invented words.

A reader takes the words of a file in two ways: as blocks, and as plain text from the format's
library. The check compares the letters and figures of both as multisets in one normal form. It
ignores mended hyphens, blanks, marks and order.
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
"""Most letters of a word to compare."""
_NAMED = 8
"""Most words that a notice lists."""


def find_missing_words(plain_text: str, accounted: Iterable[str]) -> list[str]:
    """Return the words of ``plain_text`` whose letters and figures ``accounted`` lacks."""
    return _find_missing(_Text(plain_text), _Text(" ".join(accounted)))


def find_invented_words(plain_text: str, accounted: Iterable[str]) -> list[str]:
    """Return words of ``accounted`` that ``plain_text`` lacks, or has less often.

    Letters in a wrong order cause such words. A word made of two parts of the plain text
    is not invented: the text between the parts was left out.
    """
    return _find_invented(_Text(plain_text), _Text(" ".join(accounted)))


def check_conservation(plain_text: str, blocks: Iterable[str], left_out: Iterable[str]) -> list[str]:
    """Return one notice for lost words and one for invented words."""
    plain, accounted = _Text(plain_text), _Text(" ".join([*blocks, *left_out]))
    notices = []
    if missing := _find_missing(plain, accounted):
        notices.append(f"{len(missing)} words were not read, {_among(missing)}")
    if invented := _find_invented(plain, accounted):
        notices.append(f"{len(invented)} words may be read wrongly, {_among(invented)}")
    return notices


class _Text:
    """A text, its letters and figures in one form, and their counts."""

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
    """Return whether ``letters`` has a word, whole or in two parts."""
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
