"""Limit what a small model writes, and find where its texts break off or repeat themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
_ENDED = re.compile(r"[.!?…。！？][)’”'\"\]]*\s*$")
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


WORDS, CHARACTERS_OF_WORD = 80, 8
"""Words of a text where a prompt names no number, and the characters that a word takes."""
MOST_ITEMS = 10
"""Items of a list without a limit that a model of medium size writes."""
_AT_MOST = re.compile(r"at most (\d+) words")


def longest_text(prompt: str) -> int:
    """Return the characters that a text may have at most: twice the words that a prompt allows."""
    words = max((int(number) for number in _AT_MOST.findall(prompt)), default=WORDS)
    return 2 * CHARACTERS_OF_WORD * words


def limited(part: Any, longest: int) -> Any:
    """Return the schema ``part`` with texts of at most ``longest`` characters, and short lists."""
    if isinstance(part, list):
        return [limited(item, longest) for item in part]
    if not isinstance(part, dict):
        return part
    fields = {name: limited(value, longest) for name, value in part.items()}
    match fields:
        case {"enum": _}:
            pass
        case {"type": "string"}:
            fields["maxLength"] = min(fields.get("maxLength", longest), longest)
        case {"type": "array"} if "prefixItems" not in fields and "maxItems" not in fields:
            fields["maxItems"] = max(fields.get("minItems", 0), MOST_ITEMS)
    return fields


def find_cut_texts(schema: Any, value: Any, *, small: bool, where: str = "") -> list[str]:
    """Return the fields whose text breaks off in the middle of a sentence.

    A ``small`` model may break off anywhere, another one at the longest length of the field.
    """
    match schema, value:
        case {"properties": dict(fields)}, dict():
            return [
                path
                for name, part in fields.items()
                if name in value
                for path in find_cut_texts(
                    part, value[name], small=small, where=f"{where}.{name}".removeprefix(".")
                )
            ]
        case {"type": "array", "items": items}, list():
            return [
                path
                for item in value
                for path in find_cut_texts(items, item, small=small, where=where)
            ]
        case {"type": "string"}, str() if "enum" not in schema:
            most = schema.get("maxLength")
            full = most is not None and len(value) >= most - 2 and not _ENDED.search(value)
            short = small and whole_sentences(value) not in (None, value.rstrip())
            return [where] if full or short else []
        case {"anyOf": list(branches)}, _:
            return [
                path
                for part in branches
                for path in find_cut_texts(part, value, small=small, where=where)
            ]
    return []


def trim_text(value: Any, path: str) -> str:
    """End the text at ``path`` of a reply with its last whole sentence; return what is left out.

    A text of one sentence stays as it is. Items of a list have their list's path.
    """
    name, _, inner = path.partition(".")
    if isinstance(value[name], list) and not inner:
        parts: list[tuple[Any, Any]] = [(value[name], n) for n, _ in enumerate(value[name])]
    elif isinstance(value[name], list):
        return "".join(trim_text(item, inner) for item in value[name])
    elif inner:
        return trim_text(value[name], inner)
    else:
        parts = [(value, name)]
    left_out = ""
    for holder, place in parts:
        text: str = holder[place]
        if (whole := whole_sentences(text)) is not None and whole != text.rstrip():
            holder[place], left_out = whole, text[len(whole) :]
    return left_out


def split_sentences(text: str) -> list[str]:
    """Return the sentences of ``text``."""
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    starts = [0, *ends]
    parts = (text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True))
    return [part.strip() for part in parts if any(map(str.isalnum, part))]


COPIED_WORDS, COPIED_SHARE = 12, 1 / 3
"""A turn must not repeat so many words in a row of its opponent for a larger share of its own."""


def copied_share(text: str, opponent: Iterable[str], common: Iterable[str] = ()) -> float:
    """Return the share of the words of ``text``, 0 to 1, that it repeats from its opponent.

    Words count where twelve of them in a row stand in one text of ``opponent`` and in none of the
    ``common`` ones, which both have read.
    """
    words = _WORD.findall(text.lower())
    if len(words) < COPIED_WORDS:
        return 0.0
    theirs = {run for text in opponent for run in _runs(text)}
    theirs -= {run for text in common for run in _runs(text)}
    repeated = set[int]()
    for start, run in enumerate(_runs(text)):
        if run in theirs:
            repeated.update(range(start, start + COPIED_WORDS))
    return len(repeated) / len(words)


def _runs(text: str) -> list[tuple[str, ...]]:
    """Return every twelve words of ``text`` that follow one another."""
    words = _WORD.findall(text.lower())
    return [
        tuple(words[start : start + COPIED_WORDS]) for start in range(len(words) - COPIED_WORDS + 1)
    ]


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
