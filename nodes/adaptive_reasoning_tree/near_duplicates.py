"""Near-duplicates: arguments that use nearly the same words as an earlier one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialectree.answers import normal

ALIKE = 0.8
"""Shared words over all words of two near-duplicates, at least. Ours; no paper gives a figure."""


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """Return the places of the texts that are near-duplicates of an earlier, distinct one.

    Compare sets of words by Jaccard similarity: case, order and punctuation do not count. A text
    without words has no near-duplicate. The meaning is not read, so one "not" makes no difference.
    """
    distinct: list[set[str]] = []
    duplicates: list[int] = []
    for place, text in enumerate(texts):
        words = set(re.findall(r"\w+", normal(text).replace("'", "")))
        if any(len(words & earlier) >= ALIKE * len(words | earlier) for earlier in distinct):
            duplicates.append(place)
        elif words:
            distinct.append(words)
    return duplicates
