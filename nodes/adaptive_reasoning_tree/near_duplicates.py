"""Texts that say nearly the same as an earlier one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from dialectree.nodes.answers import folded

ALIKE = 0.8
"""The share of two texts' words, taken together, that both use. Ours, from no paper."""


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """Places of the texts that use nearly the same words as an earlier one that is kept.

    Two texts are alike when the Jaccard similarity of their sets of words is at least ``ALIKE``;
    case, order and punctuation do not matter. A text without words is like none. Nothing is
    understood here: one "not" in a long text makes no difference.
    """
    kept: list[set[str]] = []
    found: list[int] = []
    for place, text in enumerate(texts):
        words = _words(text)
        if any(len(words & other) >= ALIKE * len(words | other) for other in kept):
            found.append(place)
        elif words:
            kept.append(words)
    return found


def _words(text: str) -> set[str]:
    """Runs of letters, figures and the marks set on them; "don't" is one word."""
    plain = folded(text).replace("'", "")
    return set("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in plain).split())
