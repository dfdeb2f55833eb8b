"""Whether a quotation stands in the text that it is said to be from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from dialectree.nodes.answers import exact, folded

_ELLIPSIS = re.compile(r"[\[(]\s?\.{3,}\s?[\])]|\.{3,}|\.(?: \.){2,}")
_EMPHASIS = re.compile(r"(?<!\w)[*]+|[*]+(?!\w)")  # Markdown's, which a quotation may drop
_POINT = re.compile(r"\d[.,]\d|\d_\d|[\w)\]]\^[\w({-]")  # 3.5, 10_2, 10^-3
# The minus or the point that a number begins with: no dash, range or end of a sentence before one.
_NUMBER = r"""(?<![\w)\]}])(?<!\w[%‰°'"€£$¥])(?:(?<!-)-(?=\.?\d)|(?<!\.)\.(?=\d))"""
_SIGN = re.compile(_NUMBER)
_BEFORE = re.compile(rf"""(?:(?!{_NUMBER})[ .,;:!?'"-])*+""")
_BEHIND = " .,;:!?'\"-"
_RULE = re.compile(r"(?<!\S)[—―]+(?=\.?\d)")  # a dash and no minus: "from —40 in all— on"


def occurs(quote: str, text: str) -> bool:
    """Whether the words of ``quote`` stand in ``text``, whole and in a row.

    Case, blanks, the shape of quotes and dashes, and what surrounds the quotation do not matter.
    At an ellipsis the quotation may leave something out. One without a word occurs nowhere.
    """
    pieces = [_BEFORE.sub("", piece, 1).rstrip(_BEHIND) for piece in _ELLIPSIS.split(_plain(quote))]
    pieces = [piece for piece in pieces if any(map(str.isalnum, piece))]
    plain, at = _plain(text), 0
    for piece in pieces:
        at = _end(piece, plain, at)
        if at < 0:
            return False
    return bool(pieces)


@lru_cache(256)
def _plain(text: str) -> str:
    """As it is compared. One turn is searched for many quotations, in many rounds."""
    return " ".join(_EMPHASIS.sub("", folded(exact(_RULE.sub("", text)))).split())


def _end(piece: str, text: str, at: int) -> int:
    """Where ``piece`` ends in ``text``, sought from ``at`` on; -1 where it does not stand."""
    signed = _SIGN.match(piece) is not None
    while (start := text.find(piece, at)) >= 0:
        end = start + len(piece)
        cut = _goes_on(text, start) or _goes_on(text, end)
        if not cut and not (signed and _SIGN.match(text, start) is None):
            return end
        at = start + 1
    return -1


def _goes_on(text: str, at: int) -> bool:
    """Whether a word or a number runs across the place ``at``: "st|art", "3|.5", "-|40"."""
    left, right = text[max(at - 2, 0) : at], text[at : at + 2]
    if _in_word(left[-1:]) and _in_word(right[:1]):
        return True
    if at and _SIGN.match(text, at - 1):
        return True
    point = left[-1:] + right if right[:1] in (".", ",", "^", "_") else left + right[:1]
    return _POINT.fullmatch(point) is not None


def _in_word(sign: str) -> bool:
    """Letters, figures, and the marks that some scripts set on them."""
    return bool(sign) and unicodedata.category(sign)[0] in "LMN"


# No apostrophe is one: "the authors' own", "f(x)'s", "the '90s", "'tis".
_SINGLE = r"(?<![\w)\]])[‘‚’'](?=\S)(?!\d\ds?\b|(?:tis|twas|em|til)\b)"
_WITHIN = r"(?:[^“”„‟\"＂]++|“[^“”„‟\"＂]++”)"  # a quotation may hold another one
_OPENING = "[“”„‟\"＂❝〝«»‹›「『`‘‚’']"  # sought first: most texts quote nothing
# A sign that also closes, or stands in words, opens only what begins at it. What nothing closes
# goes on to the end of its sentence.
_QUOTED = re.compile(
    rf"(?={_OPENING})(?:"
    rf"[“\"＂]({_WITHIN}++)[”\"＂]|[„‟]([^“”„‟\"＂]++)[“”\"＂]"
    r"|(?<!\w)”(?=\S)([^“”„‟\"＂]++)[”\"＂]"
    r"|(?<!\w)[“„](?=\w)((?:[^“”„‟\"＂.!?]++|[.!?](?!\s|\Z)|“[^“”„‟\"＂]++”)++)"
    r"|❝([^❝❞]++)❞|〝([^〝〞〟]++)[〞〟]"
    r"|«([^«»]++)»|(?<!\w)»(?=\S)([^«»]++)«|‹([^‹›]++)›|(?<!\w)›(?=\S)([^‹›]++)‹"
    r"|「([^「」]++)」|『([^『』]++)』|``((?:(?!``).)+?)''"
    rf"|{_SINGLE}((?:(?!{_SINGLE}).)+?)(?<!\s)[’‘'](?!\w))",
    re.DOTALL,
)
_WORDS = re.compile(r"[぀-ヿ一-鿿]|\w+")
_FEWEST = 2
"""Words of a quotation; a single word in quotes is more often a name or irony."""


def quoted(text: str) -> list[str]:
    """What stands in quotes of any kind in ``text``, of two words or more."""
    found = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    return [quote for quote in found if len(_WORDS.findall(quote)) >= _FEWEST]


def unfounded(text: str, sources: Sequence[str]) -> list[str]:
    """The quotations in ``text`` that stand in none of ``sources``."""
    return [q for q in quoted(text) if not any(occurs(q, source) for source in sources)]


def own_words(text: str, sources: Sequence[str]) -> str:
    """``text`` without the quotations that stand in none of ``sources``."""
    for quote in unfounded(text, sources):
        text = text.replace(quote, "…")
    return text
