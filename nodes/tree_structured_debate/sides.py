"""Who defends what in a leaf debate, and who speaks first. No call is spent on it.

All of it is drawn from the seed, the node and the question, so that neither a name nor a place is
favoured: neither over the nodes of a debate, nor over many questions of one seed.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from dialectree import chance

Debater = Literal["A", "B"]
Side = Literal["YES", "NO", "SPAN", "OTHER"]
CHOSEN: tuple[Side, Side] = ("SPAN", "OTHER")
"""The sides whose answer the debater chooses itself."""
CLARIFIED = "\n(Clarified by the person who asks: "
"""Stands between a question and what the person said that it means."""

_AUXILIARIES = re.compile(
    r"(am|is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|ought|shall|should|will"
    r"|would)(n't)?|can't|won't|shan't|ain't"
)


def as_asked(question: str) -> str:
    """A question without what the person said that it means."""
    return question.partition(CLARIFIED)[0]


def is_polar(question: str) -> bool:
    """True for a yes-or-no question: it begins with an auxiliary verb and holds no "or".

    What the person said that it means does not count.
    """
    words = re.findall(r"\w+(?:'\w+)*", as_asked(question).lower().replace("’", "'"))
    return bool(words) and _AUXILIARIES.fullmatch(words[0]) is not None and "or" not in words


_LEADING = re.compile(r"[\W_]*(yes|no)\b", re.IGNORECASE)


def leading(text: str) -> Literal["YES", "NO"] | None:
    """Return the yes or no that ``text`` begins with, or None."""
    found = _LEADING.match(text)
    if found is None:
        return None
    return "YES" if found[1].lower() == "yes" else "NO"


def is_asked(text: str) -> bool:
    """True for what ends in a question mark of any script, whatever closes or stresses it.

    A statement may end in a question that it quotes.
    """
    left = len(text)
    while left and _closes(text[left - 1]):
        left -= 1
    if not left or (_quotes(text[:left], text[left:]) and not is_polar(text)):
        return False
    last = unicodedata.name(text[left - 1], "")
    if last == "SEMICOLON" and left > 1:  # after a Greek letter it is the question mark
        return "GREEK" in unicodedata.name(text[left - 2], "")
    return "QUESTION" in last or last == "INTERROBANG"


_QUOTE = "[\"'“”‘’„«»‹›「」『』]"


def _quotes(text: str, close: str) -> bool:
    """Whether ``close`` ends a quotation that begins within ``text``, after other words."""
    began = re.search(rf"\w.*\s{_QUOTE}\s?\w", text, re.DOTALL)
    return began is not None and re.search(_QUOTE, close) is not None


def _closes(sign: str) -> bool:
    """Blanks, quotes, brackets, exclamation marks, emphasis, and what cannot be seen."""
    if unicodedata.category(sign) in ("Ps", "Pe", "Pi", "Pf", "Zs", "Zl", "Zp", "Cc", "Cf", "Mn"):
        return True
    name = unicodedata.name(sign, "")
    return sign in "\"'`´*_" or ("EXCLAMATION" in name and "QUESTION" not in name)


def opener(seed: int, node: str, take: int, question: str) -> Debater:
    """Who speaks first."""
    return "A" if chance.coin(seed, "opener", node, take, as_asked(question)) else "B"


def side(seed: int, node: str, take: int, question: str, debater: Debater) -> Side:
    """What a debater defends.

    A polar question pits YES against NO. Otherwise the opener defends the answer that it finds
    best, and the other the strongest one that cannot be true as well.
    """
    if is_polar(question):
        says_yes = "A" if chance.coin(seed, "yes", node, take, as_asked(question)) else "B"
        return "YES" if debater == says_yes else "NO"
    return "SPAN" if debater == opener(seed, node, take, question) else "OTHER"


def concise_is_a(seed: int, node: str, take: int, question: str) -> bool:
    """Whether the concise synthesis is shown as candidate A."""
    return chance.coin(seed, "candidates", node, take, as_asked(question))
