"""The sides of a leaf debate: their assignment, the opener, and the check of a ruling's side.

Sides cost no call. Every draw depends on the seed, the node and the question, so names and places
are balanced over the nodes of a debate and over many questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from dialectree.answers import exact, match_candidate, normal
from dialectree.system import chance

Debater = Literal["A", "B"]
Side = Literal["YES", "NO", "SPAN", "OTHER"]
CHOSEN: tuple[Side, Side] = ("SPAN", "OTHER")
"""The sides for which the debater chooses the answer."""
CLARIFIED = "\n(Clarified by the person who asks: "
"""The text between a question and the person's explanation."""

_AUXILIARIES = re.compile(
    r"(am|is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|ought|shall|should|will"
    r"|would)(n't)?|can't|won't|shan't|ain't"
)
_YES_OR_NO = re.compile(r"[\W_]*(yes|no)\b", re.IGNORECASE)


def as_asked(question: str) -> str:
    """Return `question` without the person's explanation."""
    return question.partition(CLARIFIED)[0]


def is_polar(question: str) -> bool:
    """Return whether a question begins with an auxiliary verb and does not contain "or"."""
    words = re.findall(r"\w+(?:'\w+)*", normal(as_asked(question)))
    return bool(words) and _AUXILIARIES.fullmatch(words[0]) is not None and "or" not in words


def is_asked(text: str) -> bool:
    """Return whether `text` ends in a question mark; exclamation marks may follow it."""
    return exact(text).rstrip("!！").endswith(("?", "？", "؟"))


def leading(text: str) -> Literal["YES", "NO"] | None:
    """Return the yes or no that `text` begins with, or None."""
    match = _YES_OR_NO.match(text)
    if match is None:
        return None
    return "YES" if match[1].lower() == "yes" else "NO"


def says_otherwise(answer: str, side: Side | None, side_holder: str, field: str = "answer") -> str | None:
    """Return the fault of an `answer` that begins with Yes for the `side` NO, or vice versa.

    Return None for an answer that begins with neither.
    """
    answered = leading(answer)
    if answered in (side, None) or side not in ("YES", "NO"):
        return None
    return (
        f"`{field}` begins with {answered.title()}, but the side of {side_holder} is {side}. Both must "
        "name the same side"
    )


def names_another(winner: str, answer: str, texts: Mapping[str, str]) -> str | None:
    """Return the fault of an answer that is the text or the letter of a loser.

    A text that the winner's text contains is allowed, because two texts often share a sentence.
    """
    label = match_candidate(answer, texts)
    if label in (None, winner) or normal(texts[label]) in normal(texts[winner]):
        return None
    return f"`winner` is {winner}, but `answer` is that of {label}. Both must name the same side"


def opener(seed: int, node: str, take: int, question: str) -> Debater:
    """Draw the debater who speaks first."""
    return "A" if chance.coin(seed, "opener", node, take, as_asked(question)) else "B"


def side(seed: int, node: str, take: int, question: str, debater: str) -> Side:
    """Return the side that a debater defends.

    A polar question sets YES against NO. Otherwise the opener defends the answer that it finds
    best, and the other debater the strongest answer that cannot be true as well.
    """
    if is_polar(question):
        says_yes = "A" if chance.coin(seed, "yes", node, take, as_asked(question)) else "B"
        return "YES" if debater == says_yes else "NO"
    return "SPAN" if debater == opener(seed, node, take, question) else "OTHER"


def concise_is_a(seed: int, node: str, take: int, question: str) -> bool:
    """Draw whether the concise synthesis is shown as candidate A."""
    return chance.coin(seed, "candidates", node, take, as_asked(question))
