"""Whether a ruling's winner and its answer name the same side: docs/decisions/one-side.md.

Free text is not read to find out what it means. A yes-or-no answer names a side by its first word;
any other answer names a side where it is that side's text, or its letter.
"""

from __future__ import annotations

from collections.abc import Mapping

from dialectree.nodes.answers import named, normal
from dialectree.nodes.tree_structured_debate.sides import Side, leading


def says_otherwise(answer: str, side: Side | None, whose: str, field: str = "answer") -> str | None:
    """Return the fault of an ``answer`` that begins with Yes where ``side`` is NO, or vice versa.

    An answer that begins with neither has no such fault, nor has any where ``side`` is neither.
    """
    said = leading(answer)
    if said == side or said is None or side not in ("YES", "NO"):
        return None
    return (
        f"`{field}` begins with {said.title()}, but the side of {whose} is {side}. Both must name "
        "the same side"
    )


def names_another(winner: str, answer: str, texts: Mapping[str, str]) -> str | None:
    """Return the fault of an answer that is the text, or the letter, of another than ``winner``.

    A text that the winner's holds as a whole tells no side.
    """
    side = named(answer, texts)
    if side in (None, winner) or normal(texts[side]) in normal(texts[winner]):
        return None
    return f"`winner` is {winner}, but `answer` is that of {side}. Both must name the same side"
