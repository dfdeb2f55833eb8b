"""Read a valid reply out of a model's text, or the fault that a repair call can show.

A reply counts only if it validates as it stands: a value out of range is not clamped, a text that
was cut off is not completed, an id that was not offered is not guessed, and blanks are no text.
Thinking, code fences and prose around the one object are taken off, and so are extra fields.
Broken JSON is mended only if nothing but its commas and quotes was wrong.

The words of a fault are ours: a model may repeat what a paper orders, and a user message must not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Literal, NoReturn, TypeVar

import json_repair
from pydantic import BaseModel, JsonValue, ValidationError

from dialectree import prompts
from dialectree.models.forms import LONGEST, SHORTEST, Ids
from dialectree.prompts import Prompt

Reply = TypeVar("Reply", bound=BaseModel)
Kind = Literal[
    "refusal",
    "empty",
    "truncated",
    "not_json",
    "malformed",
    "invalid",
    "ids",
    "conflict",
    "repetitive",
]
CUT_OFF = LONGEST - 20
"""Characters above which the grammar may have cut a small model's text off."""
REPEATED_GROUPS, REPEATED_SHARE = 12, 0.4
"""A small model's text of so many three-word groups must not repeat a larger share of them."""
_SENTENCE_END = re.compile(r"[.!?…][)’”'\]]*(?=\s|$)")
_WORD = re.compile(r"\w+(?:['’]\w+)*")

_THINKING = re.compile(r"<(?P<end>/?)think(?:ing)?>", re.IGNORECASE)
_QUOTES = re.compile(r"""\\?["']|[“”„‘’`]""")
_MENDED_LENGTH, _MENDED_DEPTH = 10_000, 8
"""A longer or deeper text is not mended: that could take minutes."""
_FAULTS_SHOWN, _FAULT_LENGTH = 8, 300
_NAME = re.compile(r"\S{0,20}")
"""A name that may be repeated: too short to order anything."""


class Fault(Exception):
    """A reply cannot be used; a repair call shows ``text`` to the model.

    ``quoted`` is what the model wrote instead, for people alone.
    """

    def __init__(self, kind: Kind, text: str, quoted: str = "") -> None:
        self.kind, self.text = kind, text
        super().__init__(f"{text}: {quoted}" if quoted else text)


def read(
    reply: type[Reply],
    ids: Ids,
    text: str,
    finish: str | None,
    refusal: str | None,
    small: Prompt | None = None,
) -> Reply:
    """Return the reply in ``text``; raise a Fault if there is none.

    ``finish`` is ``length`` if the token limit ended the text: then only a whole object counts.
    ``small`` is the prompt of a small model. Its texts end with their last whole sentence, and none
    may repeat itself or the prompt's own words.
    """
    if refusal:
        raise Fault("refusal", "the model declined", refusal[:_FAULT_LENGTH])
    try:
        parsed, mended = _parse(text.strip(), cut_off=finish == "length")
        extra: Literal["forbid", "ignore"] = "forbid" if mended else "ignore"
        # The prompt showed the marks of its sources broken up.
        value = _mapped(_mapped(parsed, prompts.rearmed), _without_blanks)
        if small:
            value = _mapped(value, _whole_sentences)
        valid = reply.model_validate_json(json.dumps(value), strict=True, extra=extra)
    except ValidationError as error:
        raise Fault("invalid", _joined(_invalid(error))) from None
    except RecursionError:
        raise Fault("malformed", "the reply is nested too deeply") from None
    fields = valid.model_dump(mode="json")
    if faults := _joined(_wrong_ids(fields, ids)):
        raise Fault("ids", faults)
    if small:
        if faults := _joined(_repetitive(fields, small.body)):
            raise Fault("repetitive", faults)
        valid = reply.model_validate(_mapped(fields, _until_it_repeats))
    return valid


def _whole_sentences(text: str) -> str:
    """Return ``text`` without an unfinished sentence at its end, if whole ones stand before it."""
    ends = [end.end() for end in _SENTENCE_END.finditer(text) if end.end() >= SHORTEST]
    if ends:
        return text[: ends[-1]]
    if len(text) > CUT_OFF:
        raise Fault("invalid", "a sentence is too long; write several short ones")
    return text.rstrip()


def _until_it_repeats(text: str) -> str:
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


def _repetitive(value: JsonValue, prompt: str, where: str = "") -> Iterator[str]:
    """Yield a fault of every text in ``value`` that repeats itself or the words of ``prompt``."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _repetitive(item, prompt, f"{where}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _repetitive(item, prompt, f"{where}.{number}")
    elif isinstance(value, str):
        groups = three_word_groups(value)
        seen = _groups_of_prompt(prompt)
        repeated = sum(group in seen or group in groups[:n] for n, group in enumerate(groups))
        if len(groups) >= REPEATED_GROUPS and repeated > REPEATED_SHARE * len(groups):
            yield f"{where}: it repeats itself or the instructions; write it in other words"


@cache
def _groups_of_prompt(prompt: str) -> frozenset[tuple[str, ...]]:
    return frozenset(three_word_groups(prompt))


def three_word_groups(text: str) -> list[tuple[str, ...]]:
    """Return every three words of ``text`` that follow one another."""
    words = _WORD.findall(text.lower())
    return [*zip(words, words[1:], words[2:], strict=False)]


def _mapped(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Return ``value`` with ``change`` applied to its texts."""
    if isinstance(value, dict):
        return {name: _mapped(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _without_blanks(text: str) -> str:
    """Return ``text``, or nothing if all its characters are invisible."""
    return "" if all(char.isspace() or prompts.unseen(char) for char in text) else text


def _parse(text: str, *, cut_off: bool) -> tuple[dict[str, JsonValue], bool]:
    """Return the one object in ``text``, and whether it had to be mended."""
    with suppress(ValueError):
        return _object(_loads(text)), False
    try:
        body = _body(text)
        try:
            return _object(_loads(body)), False
        except ValueError as error:
            if not cut_off:
                return _mend(body, str(error)), True
            raise Fault("malformed", "") from None
    except Fault as fault:
        if cut_off and fault.kind in ("empty", "not_json", "malformed"):
            raise Fault("truncated", "the reply was cut off at the token limit") from None
        raise


def _body(text: str) -> str:
    """Return the part of ``text`` from the first opening to the last closing brace.

    A second object, or a brace that is left over, is a fault: choosing one would be a guess.
    """
    answer = _after_thinking(text)
    if not answer:
        raise Fault("empty", "the reply is empty" if not text else "there is thinking and no reply")
    start, end = answer.find("{"), answer.rfind("}") + 1
    if start < 0:
        raise Fault("not_json", "the reply is not a JSON object")
    if end <= start or "{" in answer[end:] or "}" in answer[:start]:
        raise Fault("malformed", "the reply is not one whole JSON object")
    if answer[:start].rstrip().endswith("["):
        raise _a_list()
    return answer[start:end]


def _after_thinking(text: str) -> str:
    """Return what follows the last thought; nothing if a thought goes on to the reply."""
    marks = list(_THINKING.finditer(text))
    start = max((mark.end() for mark in marks if mark["end"]), default=0)
    brace = text.find("{", start)
    if any(mark.start() >= start and (brace < 0 or mark.start() < brace) for mark in marks):
        return ""
    return text[start:].strip()


def _loads(text: str) -> JsonValue:
    """Read JSON without repeated fields and NaN; line breaks in a text are let pass."""
    value: JsonValue = json.loads(
        text, strict=False, object_pairs_hook=_unrepeated, parse_constant=_no_number
    )
    return value


def _object(value: JsonValue) -> dict[str, JsonValue]:
    """Return the object ``value``, also if it was written as a text."""
    if isinstance(value, str):
        value = _loads(value)
    if isinstance(value, list):
        raise _a_list()
    if not isinstance(value, dict):
        raise Fault("not_json", "the reply is not a JSON object")
    return value


def _unrepeated(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Fault("invalid", "a field stands there twice")
    return value


def _no_number(constant: str) -> NoReturn:
    raise Fault("invalid", f"{constant} is not a number")


def _mend(body: str, wrong: str) -> dict[str, JsonValue]:
    """Return the object that json_repair reads, if it changes only commas and quotes."""
    if len(body) <= _MENDED_LENGTH and _depth(body) <= _MENDED_DEPTH:
        with suppress(ValueError):
            value = json_repair.loads(body, skip_json_loads=True)
            if isinstance(value, dict):
                mended = json.dumps(value, ensure_ascii=False)
                if _unpunctuated(mended) == _unpunctuated(body):
                    return value
    raise Fault("malformed", f"the reply is not valid JSON: {wrong}")


def _depth(text: str) -> int:
    """Return how deeply the brackets of ``text`` are nested."""
    depth = deepest = 0
    for bracket in re.findall(r"[{}\[\]]", text):
        depth += 1 if bracket in "{[" else -1
        deepest = max(deepest, depth)
    return deepest


def _unpunctuated(text: str) -> str:
    """Return ``text`` without what mending may change: blanks, commas, quotes, Python's names."""
    plain = _QUOTES.sub('"', re.sub(r"[\s,]+", "", text))
    return plain.lower().replace("none", "null")


def _a_list() -> Fault:
    return Fault("invalid", "the reply is a list; one JSON object was asked for")


def _joined(faults: Iterator[str]) -> str:
    """Return the first few faults, each cut to a length that can be shown."""
    return "; ".join(fault[:_FAULT_LENGTH] for fault in islice(faults, _FAULTS_SHOWN))


def _invalid(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        *place, last = fault["loc"] or ("reply",)
        if fault["type"] == "extra_forbidden":
            last = _repeated(last, "a field")
        where = ".".join(map(str, [*place, last]))
        yield f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _repeated(name: object, otherwise: str) -> str:
    """Return the name that a model wrote, if it is too short to be more than a name."""
    return str(name) if _NAME.fullmatch(str(name)) else otherwise


def _wrong_ids(value: dict[str, JsonValue], ids: Ids) -> Iterator[str]:
    for path, offered in ids.items():
        name, _, inner = path.partition(".")
        named = [value[name]]
        if inner:
            items = value[name]
            assert isinstance(items, list)  # the reply's model says so
            named = [item[inner] for item in items if isinstance(item, dict)]
        yield from (f"{path}: {_unknown(each, offered)}" for each in named if each not in offered)
        for each in offered if inner else ():
            if (times := named.count(each)) != 1:
                fault = "is missing" if not times else "is named more than once"
                yield f"{path}: {each} {fault}; name each of {', '.join(offered)} exactly once"


def _unknown(name: JsonValue, offered: Sequence[str]) -> str:
    return f"{_repeated(repr(name), 'what you named')} is not one of {', '.join(offered)}"
