"""Limit what a small model writes, and find where its texts break off or repeat themselves."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

SHORTEST, LONGEST = 20, 300
"""Characters of a free text that a small model writes."""
ITEMS = 3
"""Items of a list that a small model writes, unless there must be more."""
TEMPERATURE = 0.3
"""The temperature of a small model. Each repair adds as much."""
CUT_OFF = LONGEST - 20
"""Characters above which the grammar may have cut a text off."""
REPEATED_GROUPS, REPEATED_SHARE = 12, 0.4
"""A text of so many three-word groups must not repeat a larger share of them."""
_SENTENCE_END = re.compile(r"[.!?…][)’”'\]]*(?=\s|$)")
_WORD = re.compile(r"\w+(?:['’]\w+)*")


def brief(part: Any, *, grammar: bool = False) -> Any:
    """Return the schema ``part`` with limits for a model that would go on and on.

    A free text, which may be longer than 300 characters there, has 20 to 300, or none where it may
    be empty. ``grammar`` also keeps out of texts what belongs to JSON, at which a small model ends
    them, and line breaks, and gives numbers two decimals.
    """
    if isinstance(part, list):
        return [brief(item, grammar=grammar) for item in part]
    if not isinstance(part, dict):
        return part
    limited = {name: brief(value, grammar=grammar) for name, value in part.items()}
    match limited:
        case {"enum": _}:
            pass
        case {"type": "string"}:
            least, most = limited.pop("minLength", 0), limited.pop("maxLength", LONGEST)
            written = max(least, SHORTEST) if most > LONGEST else least
            most = min(most, LONGEST)
            if grammar:
                text = rf'[^"\\\[\]{{}}\x00-\x1f]{{{written},{most}}}'
                limited["pattern"] = f"^{text}$" if least else f"^({text})?$"
            else:
                limited |= {"minLength": written if least else 0, "maxLength": most}
        case {"type": "array"} if "prefixItems" not in limited:
            most = min(limited.get("maxItems", ITEMS), ITEMS)
            limited["maxItems"] = max(limited.get("minItems", 0), most)
        case {"type": "number"} if grammar:
            limited["multipleOf"] = 0.01
    return limited


def whole_sentences(text: str) -> str | None:
    """Return ``text`` without an unfinished sentence at its end, if whole ones stand before it.

    Return None for one long sentence, which the grammar may have cut off.
    """
    ends = [end.end() for end in _SENTENCE_END.finditer(text) if end.end() >= SHORTEST]
    if ends:
        return text[: ends[-1]]
    return text.rstrip() if len(text) <= CUT_OFF else None


def until_it_repeats(text: str) -> str:
    """Return ``text`` up to its first sentence that mostly repeats what stands before it."""
    seen: set[tuple[str, ...]] = set()
    start = 0
    for end in [*(end.end() for end in _SENTENCE_END.finditer(text)), len(text)]:
        groups = three_word_groups(text[start:end])
        if 2 * sum(group in seen for group in groups) > len(groups):
            return text[:start]
        seen.update(groups)
        start = end
    return text


def is_repetitive(text: str, prompt: str) -> bool:
    """Return whether ``text`` repeats itself or the words of ``prompt`` too often."""
    groups, seen = three_word_groups(text), _groups_of_prompt(prompt)
    repeated = sum(group in seen or group in groups[:n] for n, group in enumerate(groups))
    return len(groups) >= REPEATED_GROUPS and repeated > REPEATED_SHARE * len(groups)


@cache
def _groups_of_prompt(prompt: str) -> frozenset[tuple[str, ...]]:
    return frozenset(three_word_groups(prompt))


def three_word_groups(text: str) -> list[tuple[str, ...]]:
    """Return every three words of ``text`` that follow one another."""
    words = _WORD.findall(text.lower())
    return [*zip(words, words[1:], words[2:], strict=False)]
