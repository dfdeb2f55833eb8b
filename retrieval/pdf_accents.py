"""Accents that TeX's first fonts set as signs of their own: they go back on their letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from dialectree.retrieval.pdfium import Sign

_ACCENTS = {
    **{"\u00a8": "\u0308", "\u00b4": "\u0301", "`": "\u0300"},
    **{"\u02c6": "\u0302", "\u02dc": "\u0303", "\u02c7": "\u030c"},
    **{"\u02da": "\u030a", "\u02dd": "\u030b", "\u00b8": "\u0327"},
}
"""Each that takes room for itself, and the one that stands on a letter."""
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_AROUND = 200
"""Signs before and after an accent: the file may have it as much as a line from its letter."""
_TOUCHING = 0.12
"""Of a sign's size: letters as near as that have no blank between them."""


def composed(signs: Sequence[Sign]) -> list[Sign]:
    """The signs with each accent in its letter, without the blanks that it had made around it."""
    found: list[Sign | None] = list(signs)
    for at, accent in enumerate(signs):
        if accent.text in _ACCENTS and (place := _letter_under(signs, at)) is not None:
            base = _DOTLESS.get(signs[place].text, signs[place].text)
            letter = unicodedata.normalize("NFC", base + _ACCENTS[accent.text])
            if len(letter) == 1:
                found[place], found[at] = replace(signs[place], text=letter), None
    return _closed_up(found)


def _letter_under(signs: Sequence[Sign], at: int) -> int | None:
    """Where the letter is whose width holds the accent's middle."""
    accent = signs[at]
    middle, near = (accent.x0 + accent.x1) / 2, 0.1 * accent.size

    def apart(place: int) -> float:
        return abs((signs[place].x0 + signs[place].x1) / 2 - middle)

    under = [
        place
        for place in range(max(at - _AROUND, 0), min(at + _AROUND, len(signs)))
        if signs[place].text.isalpha()
        and signs[place].text not in _ACCENTS
        and abs(signs[place].y - accent.y) < 0.5 * accent.size
        and signs[place].x0 - near <= middle <= signs[place].x1 + near
    ]
    return min(under, key=apart, default=None)


def _closed_up(signs: Sequence[Sign | None]) -> list[Sign]:
    """What is left of the signs; around one that is gone, blanks between letters that touch go."""
    found: list[Sign] = []
    blanks: list[Sign] = []
    gone = False
    for sign in signs:
        if sign is None:
            gone = True
        elif sign.text.isspace():
            blanks.append(sign)
        else:
            touching = gone and found and abs(sign.x0 - found[-1].x1) < _TOUCHING * sign.size
            found += [sign] if touching else [*blanks, sign]
            blanks, gone = [], False
    return [*found, *blanks]
