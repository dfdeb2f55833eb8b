"""Limit the texts of a small model, and find where they break off or repeat themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

SHORTEST, LONGEST = 20, 300
"""The fewest and the most characters of a free text that a small model writes."""
ITEMS = 3
"""Items of a list that a small model writes, unless the schema requires more."""
TEMPERATURE = 0.3
"""The temperature of a small model. Each repair adds the same amount again."""
CUT_OFF = LONGEST - 20
"""Characters above which the grammar may have cut a text off."""
GROUP_SIZE, REPEATED_GROUPS, REPEATED_SHARE = 3, 12, 0.4
"""A text of at least 12 groups of 3 words may repeat at most 0.4 of them."""
_SENTENCE_END = re.compile(r"[.!?…][)’”'\]]*(?=\s|$)")
_ENDED = re.compile(r"[.!?…。！？][)’”'\"\]]*\s*$")
_WORD = re.compile(r"\w+(?:['’]\w+)*")


def brief(part: Any, *, grammar: bool = False) -> Any:
    """Return the schema ``part`` with limits for a model that would not stop by itself.

    If a text may be longer than 300 characters, its limits become 20 and 300; it may be empty if the
    schema allows that. ``grammar`` also gives numbers two decimals, and bans line breaks and JSON's
    marks from texts, because a small model ends a text at such a mark.
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
            min_length, upper_limit = limited.pop("minLength", 0), limited.pop("maxLength", LONGEST)
            lower_limit = max(min_length, SHORTEST) if upper_limit > LONGEST else min_length
            upper_limit = min(upper_limit, LONGEST)
            if grammar:
                text = rf'[^"\\\[\]{{}}\x00-\x1f]{{{lower_limit},{upper_limit}}}'
                limited["pattern"] = f"^{text}$" if min_length else f"^({text})?$"
            else:
                limited |= {"minLength": lower_limit if min_length else 0, "maxLength": upper_limit}
        case {"type": "array"} if "prefixItems" not in limited:
            upper_limit = min(limited.get("maxItems", ITEMS), ITEMS)
            limited["maxItems"] = max(limited.get("minItems", 0), upper_limit)
        case {"type": "number"} if grammar:
            limited["multipleOf"] = 0.01
    return limited


WORDS, CHARACTERS_OF_WORD = 80, 8
"""Words of a text if a prompt names no number, and the characters of a word."""
MOST_ITEMS = 10
"""Items that a model of medium size writes into a list without a limit."""
_AT_MOST = re.compile(r"at most (\d+) words")


def longest_text(prompt: str) -> int:
    """Return the characters that a text may have at most: twice the words that a prompt allows."""
    words = max((int(number) for number in _AT_MOST.findall(prompt)), default=WORDS)
    return 2 * CHARACTERS_OF_WORD * words


def limit_schema(part: Any, longest: int) -> Any:
    """Return the schema ``part`` with texts of at most ``longest`` characters, and short lists."""
    if isinstance(part, list):
        return [limit_schema(item, longest) for item in part]
    if not isinstance(part, dict):
        return part
    fields = {name: limit_schema(value, longest) for name, value in part.items()}
    match fields:
        case {"enum": _}:
            pass
        case {"type": "string"}:
            fields["maxLength"] = min(fields.get("maxLength", longest), longest)
        case {"type": "array"} if "prefixItems" not in fields and "maxItems" not in fields:
            fields["maxItems"] = max(fields.get("minItems", 0), MOST_ITEMS)
    return fields


class Trim(NamedTuple):
    """The unfinished end that was trimmed from a text of a reply."""

    field: str
    left_out: str
    """The unfinished end; empty if the text is a single sentence, which is kept."""
    at_limit: bool
    """True if the length limit of the field cut the text, not the model."""


def trim_texts(schema: Any, value: Any, *, small: bool, field: str = "") -> tuple[Any, list[Trim]]:
    """Return a reply whose texts end with a whole sentence, and the ends that they lost.

    Texts that their length limit cut are trimmed; for a ``small`` model also texts that it broke
    off itself.
    """
    match schema, value:
        case {"properties": dict(fields)}, dict():
            parts = {
                name: trim_texts(fields.get(name), item, small=small, field=f"{field}.{name}".lstrip("."))
                for name, item in value.items()
            }
            trims = [trim for _, part_trims in parts.values() for trim in part_trims]
            return {name: part for name, (part, _) in parts.items()}, trims
        case {"type": "array", "items": items}, list():
            entries = [trim_texts(items, item, small=small, field=field) for item in value]
            return [entry for entry, _ in entries], [
                trim for _, entry_trims in entries for trim in entry_trims
            ]
        case {"type": "string"}, str() if "enum" not in schema:
            max_length = schema.get("maxLength")
            at_limit = max_length is not None and len(value) >= max_length - 2 and not _ENDED.search(value)
            sentences = whole_sentences(value) if at_limit or small else None
            if sentences is not None and sentences != value.rstrip():
                return sentences, [Trim(field, value[len(sentences) :], at_limit)]
            return value, [Trim(field, "", at_limit)] if at_limit else []
    return value, []


def split_sentences(text: str) -> list[str]:
    """Return the sentences of ``text``."""
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    starts = [0, *ends]
    parts = (text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True))
    return [part.strip() for part in parts if any(map(str.isalnum, part))]


COPIED_WORDS, COPIED_SHARE = 12, 1 / 3
"""At most a third of a turn may consist of runs of 12 words copied from its opponent."""


def measure_copied_share(
    text: str, statements: Sequence[tuple[bool, str]], common: Iterable[str] = ()
) -> float:
    """Return the share of the words of ``text``, 0 to 1, that are copied from the opponent.

    Words are copied if the opponent said twelve of them in a row first, and if no ``common`` text,
    which both sides have read, contains them. ``statements`` are in order; True: by the opponent.
    """
    groups = group_words(text, COPIED_WORDS)
    theirs = {g for opponent, words in statements if opponent for g in group_words(words, COPIED_WORDS)}
    if theirs.isdisjoint(groups):  # as in most turns
        return 0.0
    by_opponent = dict[tuple[str, ...], bool]()
    for opponent, words in [*((False, text) for text in common), *statements]:
        for group in group_words(words, COPIED_WORDS):
            by_opponent.setdefault(group, opponent)
    repeated = set[int]()
    for start, group in enumerate(groups):
        if by_opponent.get(group):
            repeated.update(range(start, start + COPIED_WORDS))
    return len(repeated) / (len(groups) + COPIED_WORDS - 1)


def whole_sentences(text: str) -> str | None:
    """Return ``text`` without an unfinished sentence at its end, if whole sentences precede it.

    Return None for one long sentence, which the grammar may have cut off.
    """
    ends = [end.end() for end in _SENTENCE_END.finditer(text) if end.end() >= SHORTEST]
    if ends:
        return text[: ends[-1]]
    return text.rstrip() if len(text) <= CUT_OFF else None


def until_it_repeats(text: str) -> str:
    """Return ``text`` up to its first sentence that mostly repeats earlier ones."""
    earlier_groups: set[tuple[str, ...]] = set()
    start = 0
    for end in [*(end.end() for end in _SENTENCE_END.finditer(text)), len(text)]:
        groups = group_words(text[start:end], GROUP_SIZE)
        if 2 * sum(group in earlier_groups for group in groups) > len(groups):
            return text[:start]
        earlier_groups.update(groups)
        start = end
    return text


def is_repetitive(text: str, prompt: str) -> bool:
    """Return whether ``text`` repeats itself or the words of ``prompt`` too often."""
    groups, prompt_groups = group_words(text, GROUP_SIZE), _groups_of_prompt(prompt)
    repeated = sum(group in prompt_groups or group in groups[:n] for n, group in enumerate(groups))
    return len(groups) >= REPEATED_GROUPS and repeated > REPEATED_SHARE * len(groups)


@cache
def _groups_of_prompt(prompt: str) -> frozenset[tuple[str, ...]]:
    return frozenset(group_words(prompt, GROUP_SIZE))


def group_words(text: str, size: int) -> list[tuple[str, ...]]:
    """Return each run of ``size`` consecutive words of ``text``, in lower case."""
    words = _WORD.findall(text.lower())
    return [*zip(*(words[start:] for start in range(size)), strict=False)]
