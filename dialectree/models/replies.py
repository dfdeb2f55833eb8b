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
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
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
_ZEROS = re.compile(r"(\.\d+?)0+(?!\d)")
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


def read(reply: type[Reply], ids: Ids, text: str, finish: str | None, refusal: str | None) -> Reply:
    """Return the reply in ``text``; raise a Fault if there is none.

    ``finish`` is ``length`` if the token limit ended the text: then only a whole object counts.
    """
    if refusal:
        raise Fault("refusal", "the model declined", refusal[:_FAULT_LENGTH])
    try:
        parsed, mended = _parse(text.strip(), finish)
        value = _rearmed(parsed)
        valid = _validate(reply, value, mended)
        if (emptied := _without_blanks(value)) != value:
            _validate(reply, emptied, mended)
    except ValidationError as error:
        raise Fault("invalid", _joined(_invalid(error))) from None
    except RecursionError:
        raise Fault("malformed", "the reply is nested too deeply") from None
    if faults := _joined(_wrong_ids(valid.model_dump(mode="json"), ids)):
        raise Fault("ids", faults)
    return valid


def _validate(reply: type[Reply], value: JsonValue, mended: bool) -> Reply:
    return reply.model_validate_json(
        json.dumps(value), strict=True, extra="forbid" if mended else "ignore"
    )


def _rearmed(value: JsonValue) -> JsonValue:
    """Return ``value`` with the marks of its source, which the prompt showed broken up."""
    if isinstance(value, dict):
        return {name: _rearmed(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rearmed(item) for item in value]
    return prompts.rearmed(value) if isinstance(value, str) else value


def _without_blanks(value: JsonValue) -> JsonValue:
    """Return ``value`` with texts of invisible characters made empty."""
    if isinstance(value, dict):
        return {name: _without_blanks(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_blanks(item) for item in value]
    return value if not isinstance(value, str) or any(map(_visible, value)) else ""


def _visible(sign: str) -> bool:
    return not sign.isspace() and unicodedata.category(sign) not in ("Cc", "Cf")


def _parse(text: str, finish: str | None) -> tuple[dict[str, JsonValue], bool]:
    """Return the one object in ``text``, and whether it had to be mended."""
    with suppress(ValueError):
        return _object(_loads(text)), False
    body = _body(text, finish)
    try:
        return _object(_loads(body)), False
    except ValueError as error:
        if finish == "length":
            raise _cut_off() from None
        return _mend(body, str(error)), True


def _body(text: str, finish: str | None) -> str:
    """Return the part of ``text`` from the first opening to the last closing brace.

    A second object, or a brace that is left over, is a fault: choosing one would be a guess.
    """
    answer = _after_thinking(text)
    if not answer:
        if finish == "length":
            raise Fault("truncated", "the token limit came before the reply")
        raise Fault("empty", "the reply is empty" if not text else "there is thinking and no reply")
    start, end = answer.find("{"), answer.rfind("}") + 1
    if start < 0 and finish == "length":
        raise _cut_off()
    if start < 0:
        raise Fault("not_json", "the reply is not a JSON object")
    if end <= start or "{" in answer[end:]:
        raise _cut_off() if finish == "length" else _not_whole()
    if "}" in answer[:start]:
        raise _not_whole()
    if answer[:start].rstrip().endswith("["):
        raise _a_list()
    return answer[start:end]


def _after_thinking(text: str) -> str:
    """Return what follows the last thought; nothing if a thought goes on to the reply."""
    marks = list(_THINKING.finditer(text))
    ends = [mark.end() for mark in marks if mark["end"]]
    start = ends[-1] if ends else 0
    brace = text.find("{", start)
    open_thoughts = [mark for mark in marks if mark.start() >= start]
    if any(brace < 0 or mark.start() < brace for mark in open_thoughts):
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
    if len(body) <= _MENDED_LENGTH and _closed(body):
        with suppress(ValueError):
            value = json_repair.loads(body, skip_json_loads=True)
            if isinstance(value, dict) and _marks(json.dumps(value, ensure_ascii=False)) == _marks(
                body
            ):
                return value
    raise Fault("malformed", f"the reply is not valid JSON: {wrong}")


def _closed(text: str) -> bool:
    """Return whether every bracket is closed, and none is nested deeply."""
    depth = 0
    for bracket in re.findall(r"[{}\[\]]", text):
        depth += 1 if bracket in "{[" else -1
        if not 0 <= depth <= _MENDED_DEPTH:
            return False
    return depth == 0


def _marks(text: str) -> str:
    """Return ``text`` without what mending may change."""
    plain = _ZEROS.sub(r"\1", _QUOTES.sub('"', _SPACES.sub("", text)))
    return plain.lower().replace("none", "null")


def _cut_off() -> Fault:
    return Fault("truncated", "the reply was cut off at the token limit")


def _not_whole() -> Fault:
    return Fault("malformed", "the reply is not one whole JSON object")


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
        if inner:
            yield from _wrong_list(path, _ids_in(value[name], inner), offered)
        elif value[name] not in offered:
            yield f"{name}: {_unknown(value[name], offered)}"


def _unknown(name: JsonValue, offered: Sequence[str]) -> str:
    return f"{_repeated(repr(name), 'what you named')} is not one of {', '.join(offered)}"


def _ids_in(items: JsonValue, name: str) -> list[JsonValue]:
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
