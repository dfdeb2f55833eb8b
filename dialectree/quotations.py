"""Find quotations in free text, and look them up in the texts that their speaker was shown."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from dialectree.answers import exact, normal

LEAST_WORDS, LEAST_WIDE = 5, 12
"""Least words of a long quotation, or characters in a script without blanks."""
_FEWEST_WORDS, _FEWEST_WIDE = 2, 5
"""Least words and characters of a quotation; shorter ones are names, or irony."""
_DEEPEST = 8
"""Most levels of quotations within quotations."""
_FILLER = "\0"
"""Stands for code, and for characters that need no blanks around them."""
_GAP, _MOST_PIECES = 600, 8
"""Most characters that an ellipsis may replace, and most pieces of a quotation with ellipses."""

_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese: scripts without blanks."""
_CODE = re.compile(r"```.*?```|``(?:(?!'')[^`\n])+``(?!\w)|(?<!`)`[^`\n]+`(?!`)", re.DOTALL)
_CLOSERS = {
    **{'"': ('"', "”", "“"), "“": ("”", '"'), "„": ("“", "”", '"'), "”": ("”", '"')},
    **{"«": ("»",), "»": ("«",), "‹": ("›",), "›": ("‹",), "＂": ("＂",), "״": ("״",)},
    **{"「": ("」",), "『": ("』",), "｢": ("｣",), "〝": ("〞", "〟"), "❝": ("❞",)},
    **{"'": ("'", "’"), "‘": ("’", "'"), "‚": ("‘", "’", "'"), "`": ("'", "’")},
    **{"``": ("''", '"', "”"), "''": ("''",)},
}
"""The marks that open a quotation, each with the marks that close it."""
_SINGLE = {"'", "‘", "‚", "`", "''"}
"""Marks that open a quotation only if another mark closes it."""
_SURE = {"„", "«", "‹", "「", "『", "｢", "〝", "❝"}
"""Marks that open a quotation wherever they stand."""
_UNSURE = {'"', "“", "'", "‘", "’", "''", "＂", "״"}
"""Marks that close a quotation only if no word follows directly."""
_MARK = re.compile(r"\n[^\S\n]*\n|``|''|\\?\"|[“”„«»‹›＂״「」『』｢｣〝〞〟❝❞'‘’‚`]")
_ELLIPSIS = re.compile(r"[…⋯]|\.(?:\s?\.){2,}")
_INITIAL = re.compile(r"\[([^\W\d_])\](?=\w)")
"""A letter whose case was changed to fit, as in "[t]he"."""
_LOOSE = re.compile(r"(?<!\d)[.,]|[.,](?!\d)|(?<=\w)-|-(?!\d)")
"""Dots, commas and dashes that are not part of a number."""


class Quotation(NamedTuple):
    """Words between quotation marks, with their position in the text."""

    start: int
    end: int
    text: str

    @property
    def long(self) -> bool:
        """Return whether the quotation has more words than a name or a term."""
        words, wide = _size(self.text)
        return words >= LEAST_WORDS or wide >= LEAST_WIDE


def quotations(text: str) -> list[Quotation]:
    """Return the quotations in `text` outside code.

    Without a closing mark in the paragraph, a quotation extends to the end of its line. For nested
    quotations, only the outer one is returned.
    """
    matches = []
    for start, end in _spans(text):
        inner = text[start:end]
        first = start + len(inner) - len(inner.lstrip())
        words, wide = _size(inner)
        if words >= _FEWEST_WORDS or wide >= _FEWEST_WIDE:
            matches.append(Quotation(first, first + len(inner.strip()), inner.strip()))
    return matches


class QuotationSearch:
    """Search for quotations in the texts that a speaker was shown.

    A quotation can run on from one text into the next, as from sentence to sentence.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = f" {' '.join(map(_words, texts))} "

    def holds(self, quote: str) -> bool:
        """Return whether the words, numbers and formula signs in `quote` occur in sequence.

        At an ellipsis, a part of one passage may be missing. Case, punctuation, dashes and the width
        of letters do not count.
        """
        pieces = [_words(piece) for piece in _ELLIPSIS.split(_INITIAL.sub(r"\1", quote))]
        pieces = [f" {piece} " for piece in pieces if any(map(str.isalnum, piece))]
        if len(pieces) == 1:
            return pieces[0] in self._words
        if not 0 < len(pieces) <= _MOST_PIECES:
            return False
        ends = [*self._ends(pieces[0])]
        for piece in pieces[1:]:
            ends = [end for end in self._ends(piece) if _follows(end - len(piece), ends)]
        return bool(ends)

    def _ends(self, piece: str) -> Iterator[int]:
        end = 0
        while (start := self._words.find(piece, end)) >= 0:
            end = start + len(piece) - 1  # at the blank with which the next word begins
            yield end


def _follows(start: int, ends: Sequence[int]) -> bool:
    """Return whether a piece from `start` follows one of `ends` closely enough."""
    before = bisect_right(ends, start + 1)
    return before > 0 and start - ends[before - 1] <= _GAP


def remove_false_quotations(text: str, read: QuotationSearch) -> tuple[str, list[str]]:
    """Return `text` with "…" in place of each long quotation that `read` does not contain.

    Also return all quotations that `read` does not contain. The short ones stay in the text.
    """
    parts, last, false = [], 0, []
    for quotation in quotations(text):
        if read.holds(quotation.text):
            continue
        false.append(quotation.text)
        if quotation.long:
            parts += [text[last : quotation.start], "…"]
            last = quotation.end
    return "".join([*parts, text[last:]]), false


@lru_cache(maxsize=2048)  # speakers are shown the same sentences, call by call
def _words(text: str) -> str:
    """Return the words, numbers and formula signs in `text`, with single blanks."""
    plain = normal(_LOOSE.sub(" ", text.translate(_PLAIN)))
    return " ".join(_WIDE.sub(r" \g<0> ", plain).split())


def _size(text: str) -> tuple[int, int]:
    """Return the number of words and of wide characters in `text`."""
    words = sum(any(map(str.isalnum, word)) for word in text.split())
    return words, len(_WIDE.findall(text))


class _Plain(dict[int, str]):
    """Map characters to the part that is compared: letters, digits, and signs of formulas.

    Wide or narrow letters and ligatures become plain letters; 10³ stays different from 103.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        form = unicodedata.decomposition(char).partition(" ")[0]
        if form[:1] == "<" and form not in ("<super>", "<sub>", "<fraction>"):
            char = unicodedata.normalize("NFKC", char)
        self[code] = "".join(map(self._normalize_char, " " if char.isspace() else exact(char)))
        return self[code]

    @staticmethod
    def _normalize_char(char: str) -> str:
        kind = unicodedata.category(char)
        if kind[0] in "LMN" or char in ".,-":
            return char
        return f" {char} " if kind in ("Sm", "Sc") or char in "%‰°^¶" else " "


_PLAIN = _Plain()


class _Mark(NamedTuple):
    """A quotation mark, and its possible roles given the characters next to it."""

    sign: str
    start: int
    end: int
    opens: bool = False
    """True if the mark can begin a quotation."""
    ends: bool = False
    """True if no word follows directly."""
    doubtful: bool = False
    """True if the mark can be an inch mark, or the apostrophe of "the authors' model"."""

    def closes(self, opener: _Mark) -> bool:
        """Return whether this mark can end the quotation that `opener` began."""
        sure = opener.sign != '"' and self.sign != opener.sign and self.sign not in _UNSURE
        return self.sign in _CLOSERS[opener.sign] and (sure or self.ends)


def _marks(text: str) -> Iterator[_Mark]:
    """Yield the quotation marks of `text`, without apostrophes, and the blank lines of `text`."""
    for match in _MARK.finditer(text):
        start, end = match.span()
        sign = match[0].lstrip("\\")
        before, after = text[start - 1 : start], text[end : end + 1]
        single = sign in ("'", "’")
        if single and before.isalnum() and (after.isalnum() or after in {*"«“„"}):
            continue  # it's, d'«amour»
        free = after == _FILLER or not (before.isalnum() or before in {*".!?)]}"})
        opens = sign in _SURE or (sign in _CLOSERS and free and after.strip() != "")
        goes_on = after.isalnum() or (after == "…" and free) or (sign == "“" and after == _FILLER)
        doubtful = after == " " and (before == "s" if single else before.isdigit() and sign == '"')
        ends = not goes_on or (before == _FILLER and sign != "“")
        yield _Mark(sign, start, end, opens, ends, doubtful)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each quotation; for nested ones, of the outer one."""
    bare = _WIDE.sub(_FILLER, _CODE.sub(lambda code: _FILLER * len(code[0]), text))
    last = _Mark("\n\n", len(text), len(text))
    opened: list[_Mark] = []
    ends: dict[_Mark, int] = {}
    for mark, following in pairwise([*_marks(bare), last, last]):
        depth = max((n for n, opener in enumerate(opened) if mark.closes(opener)), default=-1)
        if mark.sign.isspace():
            opened.clear()
        elif depth < 0 and mark.opens:
            ends[mark] = -1
            opened = [*opened, mark][-_DEEPEST:]
        elif depth >= 0:
            surer = following.closes(opened[depth]) and not (following.opens or following.doubtful)
            if not (mark.doubtful and surer):
                ends[opened[depth]] = mark.start
                del opened[depth:]
    openers = [mark for mark, end in ends.items() if end >= 0 or mark.sign not in _SINGLE]
    end = 0
    for opener, following in pairwise([*openers, last]):
        if opener.start >= end:
            end = ends[opener]
            if end < 0:
                line = bare.find("\n", opener.end, following.start)
                end = line if line >= 0 else following.start
            yield opener.end, end
