"""From a model's text to a valid reply, or to the fault that a repair call can show.

A reply counts only if it validates as it stands: a value out of range is not clamped, a text that
was cut off is not completed, an id that was not offered is not guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import json_repair
from pydantic import BaseModel, JsonValue, ValidationError

Reply = TypeVar("Reply", bound=BaseModel)
Ids = Mapping[str, Sequence[str]]
"""Closed sets of ids by the field that points at them: ``winner`` holds one id; ``scores.qid``
stands in a list that names every id exactly once."""

_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_LENGTHS = ("minLength", "maxLength")


class Fault(Exception):
    """What is wrong with a reply, in words that a repair call can show to the model."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


class Form(NamedTuple):
    """The schema of one reply, made once for each set of ids, in the flavours that are sent."""

    name: str
    full: dict[str, JsonValue]
    strict: dict[str, JsonValue]
    """Without the keywords that OpenAI's strict mode refuses."""
    text: str
    """The full schema as JSON."""


def form(reply: type[BaseModel], ids: Ids) -> Form:
    """The schema of ``reply`` in which every id that may be named is an enum."""
    return _form(reply, tuple((path, tuple(values)) for path, values in ids.items()))


@lru_cache(maxsize=4096)
def _form(reply: type[BaseModel], ids: tuple[tuple[str, tuple[str, ...]], ...]) -> Form:
    full, strict = _inlined(reply), _strict(_inlined(reply))
    for path, values in ids:
        _offer(full, path, values, each_place=True)
        _offer(strict, path, values, each_place=False)
    return Form(reply.__name__, full, strict, json.dumps(full, ensure_ascii=False))


def _inlined(reply: type[BaseModel]) -> dict[str, JsonValue]:
    """The JSON schema with its definitions in place, closed, and every property required."""
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def walk(part: JsonValue) -> JsonValue:
        if isinstance(part, list):
            return [walk(item) for item in part]
        if not isinstance(part, dict):
            return part
        if isinstance(reference := part.get("$ref"), str):
            return walk(definitions[reference.rsplit("/", 1)[-1]])
        walked = {
            k: walk(v) for k, v in part.items() if k not in ("title", "default", "properties")
        }
        if isinstance(properties := part.get("properties"), dict):
            walked["properties"] = {name: walk(value) for name, value in properties.items()}
            walked["required"] = list(properties)
            walked["additionalProperties"] = False
        return walked

    return {"title": reply.__name__, **_object(walk(schema))}


def _strict(part: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The same schema without limits on the length of a text."""

    def walk(part: JsonValue) -> JsonValue:
        if isinstance(part, list):
            return [walk(item) for item in part]
        if isinstance(part, dict):
            return {key: walk(value) for key, value in part.items() if key not in _LENGTHS}
        return part

    return _object(walk(part))


def _offer(
    schema: dict[str, JsonValue], path: str, values: tuple[str, ...], *, each_place: bool
) -> None:
    """Put ``values`` into ``schema`` as the enum of the field at ``path``.

    In a list every id has a place of its own where the endpoint understands that, so that a
    constrained model can neither leave one out nor name one twice.
    """
    outer, _, inner = path.partition(".")
    properties = _object(schema["properties"])
    if not inner:
        properties[outer] = {"type": "string", "enum": list(values)}
        return
    item = _object(_object(properties[outer])["items"])

    def naming(*ids: str) -> dict[str, JsonValue]:
        named: dict[str, JsonValue] = {"type": "string", "enum": list(ids)}
        return {**item, "properties": {**_object(item["properties"]), inner: named}}

    count: dict[str, JsonValue] = {"minItems": len(values), "maxItems": len(values)}
    if each_place:
        places: list[JsonValue] = [naming(value) for value in values]
        properties[outer] = {"type": "array", "prefixItems": places, "items": False, **count}
    else:
        properties[outer] = {"type": "array", "items": naming(*values), **count}


def _object(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value


def read(reply: type[Reply], ids: Ids, text: str, finish: str | None, refusal: str | None) -> Reply:
    """The reply in ``text``, or a Fault.

    A refusal, an empty text and one that the token limit cut off are faults of their own. A
    ``<think>`` block and a code fence are taken off. What is not JSON is mended only where nothing
    but punctuation is wrong.
    """
    if refusal:
        raise Fault("refusal", f"the model declined: {refusal[:200]}")
    bare = _THINK.sub("", text).strip()
    if not bare:
        kind = "truncated" if finish == "length" else "empty"
        raise Fault(kind, "the reply is empty" if kind == "empty" else "thinking used up the limit")
    value = _json(bare, finish)
    if not isinstance(value, dict):
        raise Fault("not_json", "the reply is not a JSON object")
    try:
        read = reply.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise Fault("invalid", "; ".join(_lines(error))) from None
    if faults := list(_wrong_ids(value, ids)):
        raise Fault("ids", "; ".join(faults))
    return read


def _json(bare: str, finish: str | None) -> JsonValue:
    candidates = [bare, *(match.strip() for match in _FENCE.findall(bare)), _braces(bare)]
    for candidate in candidates:
        try:
            value: JsonValue = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    if finish == "length":
        raise Fault("truncated", "the reply was cut off at the token limit")
    for candidate in candidates[1:] if len(candidates) > 2 else candidates:
        if "{" in candidate and not _ends_inside_text(candidate):
            mended = json_repair.loads(candidate[candidate.index("{") :])
            if isinstance(mended, dict) and mended:
                return mended
    if "{" in bare:
        raise Fault("malformed", "the reply is not valid JSON, or is cut off")
    raise Fault("not_json", "the reply is not a JSON object")


def _braces(text: str) -> str:
    """From the first opening to the last closing brace."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _ends_inside_text(text: str) -> bool:
    """True when a double-quoted text is still open at the end: it was cut off, not misspelt."""
    quotes = re.sub(r"\\.", "", text, flags=re.DOTALL).count('"')
    return quotes % 2 == 1


def _lines(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False):
        where = ".".join(map(str, fault["loc"])) or "reply"
        yield f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _wrong_ids(value: dict[str, JsonValue], ids: Ids) -> Iterator[str]:
    for path, allowed in ids.items():
        outer, _, inner = path.partition(".")
        offered = ", ".join(allowed)
        if not inner:
            if value.get(outer) not in allowed:
                yield f"{outer}: {value.get(outer)!r} is not one of {offered}"
            continue
        items = value.get(outer)
        named = (
            [i.get(inner) for i in items if isinstance(i, dict)] if isinstance(items, list) else []
        )
        for name in named:
            if name not in allowed:
                yield f"{path}: {name!r} is not one of {offered}"
        for name in allowed:
            if (times := named.count(name)) != 1:
                fault = "is missing" if not times else "is named more than once"
                yield f"{path}: {name} {fault}; name each of {offered} exactly once"
