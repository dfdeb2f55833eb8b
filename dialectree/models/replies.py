"""From a model's text to a valid reply, or to the fault that a repair call can show.

A reply counts only if it validates as it stands: a value out of range is not clamped, a text that
was cut off is not completed, an id that was not offered is not guessed, and blanks are no text.
Thinking, code fences and prose around the one object are taken off; fields that nobody asked for
are left out. Broken JSON is mended only where nothing but commas and the kind of quotes was wrong
with it.

What a repair call says of a fault are our words: a model may repeat what a paper orders, and a
user message must not.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NoReturn, TypeVar

import json_repair
from pydantic import BaseModel, JsonValue, ValidationError

from dialectree import prompts
from dialectree.models.forms import Ids

Reply = TypeVar("Reply", bound=BaseModel)
Kind = Literal[
    "refusal", "empty", "truncated", "not_json", "malformed", "invalid", "ids", "conflict"
]

_THINKING = re.compile(r"<(?P<end>/?)think(?:ing)?>", re.IGNORECASE)
_SPACES = re.compile(r"[\s,]+")
_QUOTES = re.compile(r"""\\?["']|[“”„‘’`]""")
_QUOTE = "[\"'“”„‘’`]"
_ESCAPED = re.compile(r"\{\s*\\")
_ZEROS = re.compile(r"(\.\d+?)0+(?!\d)")
_MOST_COMMAS = 20_000
"""Commas in a reply beyond its thinking. Checking a list of millions takes gigabytes."""
_MENDED_LENGTH, _MENDED_DEPTH = 10_000, 8
"""Beyond these a text is not mended: it is no reply, and looking for one could take minutes."""
_FAULTS_SHOWN, _FAULT_LENGTH = 8, 300
_NAME = re.compile(r"\S{0,20}")
"""What may be repeated of what a model named: too little to say anything."""


class Fault(Exception):
    """What is wrong with a reply: as ``text``, which a repair call can show to the model.

    A person is also told what the model ``said`` instead of a reply.
    """

    def __init__(self, kind: Kind, text: str, said: str = "") -> None:
        self.kind, self.text = kind, text
        super().__init__(f"{text}: {said}" if said else text)


def read(reply: type[Reply], ids: Ids, text: str, finish: str | None, refusal: str | None) -> Reply:
    """The reply in ``text``, or a Fault.

    ``finish`` is ``length`` where the token limit ended the text: then only an object that is
    complete and sound counts.
    """
    if refusal:
        raise Fault("refusal", "the model declined", refusal[:_FAULT_LENGTH])
    try:
        found, mended = _parsed(text.strip(), finish)
        value = _rearmed(found)
        said = _valid(reply, value, mended)
        if (emptied := _without_blanks(value)) != value:
            _valid(reply, emptied, mended)
    except ValidationError as error:
        raise Fault("invalid", _joined(_invalid(error))) from None
    except RecursionError:
        raise Fault("malformed", "the reply is nested too deeply") from None
    if faults := _joined(_wrong_ids(said.model_dump(mode="json"), ids)):
        raise Fault("ids", faults)
    return said


def _valid(reply: type[Reply], value: JsonValue, mended: bool) -> Reply:
    return reply.model_validate_json(
        json.dumps(value), strict=True, extra="forbid" if mended else "ignore"
    )


def _rearmed(value: JsonValue) -> JsonValue:
    """``value`` with every mark as the source has it; the prompt showed it broken up."""
    if isinstance(value, dict):
        return {name: _rearmed(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rearmed(item) for item in value]
    return prompts.rearmed(value) if isinstance(value, str) else value


def _without_blanks(value: JsonValue) -> JsonValue:
    """``value`` with every text empty in which nothing can be seen."""
    if isinstance(value, dict):
        return {name: _without_blanks(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_blanks(item) for item in value]
    return value if not isinstance(value, str) or any(map(_seen, value)) else ""


def _seen(sign: str) -> bool:
    return not sign.isspace() and unicodedata.category(sign) not in ("Cc", "Cf")


def _parsed(text: str, finish: str | None) -> tuple[dict[str, JsonValue], bool]:
    """The one object in ``text``, and whether it had to be mended."""
    try:
        if text.count(",") <= _MOST_COMMAS:
            return _object(_loads(text)), False
    except ValueError:
        pass
    body = _body(text, finish)
    if body.count(",") > _MOST_COMMAS:
        raise Fault("malformed", f"the reply has more than {_MOST_COMMAS} items")
    try:
        return _object(_loads(body)), False
    except ValueError as error:
        if finish == "length":
            raise _cut_off() from None
        return _mended(body, str(error)), True


def _body(text: str, finish: str | None) -> str:
    """The part of ``text`` from the first opening to the last closing brace.

    A second object, or a brace that is left over, is a fault: which one is meant would be a guess.
    """
    said = _after_thinking(text)
    if not said:
        if finish == "length":
            raise Fault("truncated", "the token limit came before the reply")
        raise Fault("empty", "the reply is empty" if not text else "there is thinking and no reply")
    start, end = said.find("{"), said.rfind("}") + 1
    if start < 0 and finish == "length":
        raise _cut_off()
    if start < 0:
        raise Fault("not_json", "the reply is not a JSON object")
    if end <= start or "{" in said[end:]:
        raise _cut_off() if finish == "length" else _not_whole()
    if "}" in said[:start]:
        raise _not_whole()
    if said[:start].rstrip().endswith("["):
        raise _a_list()
    return said[start:end]


def _after_thinking(text: str) -> str:
    """What follows the last thought; nothing where a thought does not end before the reply."""
    marks = list(_THINKING.finditer(text))
    ends = [mark.end() for mark in marks if mark["end"]]
    said_from = ends[-1] if ends else 0
    reply_from = text.find("{", said_from)
    for mark in marks:
        if mark.start() >= said_from and (reply_from < 0 or mark.start() < reply_from):
            return ""
    return text[said_from:].strip()


def _loads(text: str) -> JsonValue:
    """JSON that names no field twice and knows numbers only; line breaks in a text are let pass."""
    value: JsonValue = json.loads(
        text, strict=False, object_pairs_hook=_once, parse_constant=_no_number
    )
    return value


def _object(value: JsonValue) -> dict[str, JsonValue]:
    """``value``, or what it says where it is an object that was written as a text."""
    if isinstance(value, str):
        value = _loads(value)
    if isinstance(value, list):
        raise _a_list()
    if not isinstance(value, dict):
        raise Fault("not_json", "the reply is not a JSON object")
    return value


def _once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Fault("invalid", "a field stands there twice")
    return value


def _no_number(constant: str) -> NoReturn:
    raise Fault("invalid", f"{constant} is not a number")


def _mended(body: str, wrong: str) -> dict[str, JsonValue]:
    fault = Fault("malformed", f"the reply is not valid JSON: {wrong}")
    if len(body) > _MENDED_LENGTH or _ESCAPED.match(body) or not _closed(body):
        raise fault
    try:
        value = json_repair.loads(body, skip_json_loads=True)
    except ValueError:
        raise fault from None
    if not isinstance(value, dict) or not _same(value, body):
        raise fault
    return value


def _closed(text: str) -> bool:
    """Whether every bracket is closed, and none is nested deeply."""
    depth = 0
    for bracket in re.findall(r"[{}\[\]]", text):
        depth += 1 if bracket in "{[" else -1
        if not 0 <= depth <= _MENDED_DEPTH:
            return False
    return depth == 0


def _same(value: dict[str, JsonValue], body: str) -> bool:
    """Whether ``value`` is ``body`` but for commas and the kind of quotes.

    Same words, numbers, brackets and quotes in the same order, and every text word for word.
    """
    same = _marks(json.dumps(value, ensure_ascii=False)) == _marks(body)
    return same and all(_stands_in(body, text) for text in _texts(value))


def _stands_in(body: str, text: str) -> bool:
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    bare = escaped.replace('\\"', '"')
    ways = {text, escaped, bare, bare.replace("'", "\\'")}
    return any(re.search(f"{_QUOTE}{re.escape(way)}{_QUOTE}", body) for way in ways)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)


def _marks(text: str) -> str:
    """``text`` without what a mended one may have otherwise."""
    plain = _ZEROS.sub(r"\1", _QUOTES.sub('"', _SPACES.sub("", text)))
    return plain.lower().replace("none", "null")


def _cut_off() -> Fault:
    return Fault("truncated", "the reply was cut off at the token limit")


def _not_whole() -> Fault:
    return Fault("malformed", "the reply is not one whole JSON object")


def _a_list() -> Fault:
    return Fault("invalid", "the reply is a list; one JSON object was asked for")


def _joined(faults: Iterator[str]) -> str:
    """The first few faults, each at a length that a model and a terminal can bear."""
    return "; ".join(fault[:_FAULT_LENGTH] for fault in islice(faults, _FAULTS_SHOWN))


def _invalid(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        *place, last = fault["loc"] or ("reply",)
        if fault["type"] == "extra_forbidden":
            last = _repeated(last, "a field")
        where = ".".join(map(str, [*place, last]))
        yield f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _repeated(name: object, otherwise: str) -> str:
    """What a model named, where that is too short to be more than a name."""
    return str(name) if _NAME.fullmatch(str(name)) else otherwise


def _wrong_ids(value: dict[str, JsonValue], ids: Ids) -> Iterator[str]:
    for path, offered in ids.items():
        name, _, inner = path.partition(".")
        if inner:
            yield from _wrong_list(path, _named(value[name], inner), offered)
        elif value[name] not in offered:
            yield f"{name}: {_unknown(value[name], offered)}"


def _unknown(name: JsonValue, offered: Sequence[str]) -> str:
    return f"{_repeated(repr(name), 'what you named')} is not one of {', '.join(offered)}"


def _named(items: JsonValue, name: str) -> list[JsonValue]:
    assert isinstance(items, list)  # the reply's model said so
    return [item[name] for item in items if isinstance(item, dict)]


def _wrong_list(path: str, named: list[JsonValue], offered: Sequence[str]) -> Iterator[str]:
    for name in named:
        if name not in offered:
            yield f"{path}: {_unknown(name, offered)}"
    for name in offered:
        if (times := named.count(name)) != 1:
            fault = "is missing" if not times else "is named more than once"
            yield f"{path}: {name} {fault}; name each of {', '.join(offered)} exactly once"
