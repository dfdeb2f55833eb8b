"""Make the schema of a reply, once for each set of ids."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

Schema = dict[str, JsonValue]
Ids = Mapping[str, Sequence[str]]
"""Closed sets of ids by the field that points at them: ``winner`` holds one id; ``scores.qid``
stands in a list that names every id exactly once; ``evidence[]``, or ``claims.evidence[]`` in every
item of a list, is a list of some of them (in a schema only: nobody insists on those)."""

_LENGTHS = ("minLength", "maxLength")


class Form(NamedTuple):
    """The schema of a reply, in the flavours that endpoints take."""

    name: str
    full: Schema
    strict: Schema
    """Without the keywords that OpenAI's strict mode refuses."""
    text: str
    """The full schema as JSON."""

    @property
    def words(self) -> str:
        """Return the words that tell a model what its reply must be."""
        return f"one JSON object that fits this JSON Schema, and nothing else:\n{self.text}"


def form(reply: type[BaseModel], ids: Ids, most: Mapping[str, int] | None = None) -> Form:
    """Return the schema of ``reply`` with an enum for every field that names an id.

    ``most`` limits the items of a list, by its field.
    """
    named = tuple((path, tuple(values)) for path, values in ids.items())
    return _form(reply, named, tuple((most or {}).items()))


@lru_cache(maxsize=1024)
def _form(
    reply: type[BaseModel],
    ids: tuple[tuple[str, tuple[str, ...]], ...],
    most: tuple[tuple[str, int], ...],
) -> Form:
    full = _inlined(reply)
    for name, count in most:
        full = _with(full, name, {**_field(full, name), "maxItems": count})
    strict = _without_lengths(full)
    for path, values in ids:
        full = _offering(full, path, values, each_place=True)
        strict = _offering(strict, path, values, each_place=False)
    return Form(reply.__name__, full, strict, json.dumps(full, ensure_ascii=False))


@lru_cache(maxsize=256)
def _inlined(reply: type[BaseModel]) -> Schema:
    """Return the JSON schema with its definitions inlined and no further fields allowed.

    A reply has no defaults: what a model left out must not look as if it had written it.
    """
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def walk(part: JsonValue) -> JsonValue:
        if isinstance(part, list):
            return [walk(item) for item in part]
        if not isinstance(part, dict):
            return part
        if isinstance(reference := part.get("$ref"), str):
            return walk(definitions[reference.rpartition("/")[2]])
        left_out = ("title", "default", "properties")
        walked = {key: walk(value) for key, value in part.items() if key not in left_out}
        if isinstance(properties := part.get("properties"), dict):
            if optional := properties.keys() - set(_names(part.get("required"))):
                raise TypeError(f"{reply.__name__} has a default for {', '.join(sorted(optional))}")
            walked["properties"] = {name: walk(value) for name, value in properties.items()}
            walked["additionalProperties"] = False
        return walked

    return {"title": reply.__name__, **_object(walk(schema))}


def _without_lengths(schema: Schema) -> Schema:
    """Return the schema without limits on the length of a text."""

    def walk(part: JsonValue, *, named: bool) -> JsonValue:
        if isinstance(part, list):
            return [walk(item, named=False) for item in part]
        if not isinstance(part, dict):
            return part
        kept = {key: value for key, value in part.items() if named or key not in _LENGTHS}
        return {k: walk(v, named=k == "properties" and not named) for k, v in kept.items()}

    return _object(walk(schema, named=False))


def _offering(schema: Schema, path: str, ids: tuple[str, ...], *, each_place: bool) -> Schema:
    """Return ``schema`` with ``ids`` as the enum of the field at ``path``.

    ``each_place``: in a list every id has a place of its own, so that a constrained model can
    neither leave one out nor name one twice.
    """
    name, _, inner = path.partition(".")
    if path.endswith("[]"):
        return _offering_some(schema, path.removesuffix("[]"), ids)
    there = _field(schema, name)
    if inner:
        item = _object(there["items"])
        field = _list_of(item, inner, ids) if each_place else _any_of(item, inner, ids)
    else:
        field = _enum(ids)
    return _with(schema, name, field)


def _offering_some(schema: Schema, path: str, ids: tuple[str, ...]) -> Schema:
    """Return ``schema`` with a list of some of ``ids`` at ``path``, which may be empty."""
    name, _, inner = path.partition(".")
    field = _field(schema, name)
    if inner:
        item = _offering_some(_object(field["items"]), inner, ids)
        return _with(schema, name, {**field, "items": item})
    items: Schema = {"items": _enum(ids)} if ids else {}
    return _with(schema, name, {**field, **items, "maxItems": len(ids)})


def _field(schema: Schema, name: str) -> Schema:
    return _object(_object(schema["properties"])[name])


def _with(schema: Schema, name: str, field: Schema) -> Schema:
    """Return ``schema`` with ``field`` in the place of the field ``name``."""
    return {**schema, "properties": {**_object(schema["properties"]), name: field}}


def _list_of(item: Schema, name: str, ids: tuple[str, ...]) -> Schema:
    """Return a list with one place for each id, in their order."""
    places: list[JsonValue] = [_naming(item, name, (value,)) for value in ids]
    return {"type": "array", "prefixItems": places, "items": False, **_as_many_as(ids)}


def _any_of(item: Schema, name: str, ids: tuple[str, ...]) -> Schema:
    """Return a list of as many items as there are ids."""
    return {"type": "array", "items": _naming(item, name, ids), **_as_many_as(ids)}


def _naming(item: Schema, name: str, ids: tuple[str, ...]) -> Schema:
    return {**item, "properties": {**_object(item["properties"]), name: _enum(ids)}}


def _enum(ids: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(ids)}


def _as_many_as(ids: tuple[str, ...]) -> Schema:
    return {"minItems": len(ids), "maxItems": len(ids)}


def _names(value: JsonValue) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _object(value: JsonValue) -> Schema:
    assert isinstance(value, dict)
    return value
