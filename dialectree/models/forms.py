"""Make the schema of a reply, once for each set of ids."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

Schema = dict[str, JsonValue]
Ids = Mapping[str, Sequence[str]]
"""Closed sets of ids by the field that points at them: ``winner`` holds one id; ``scores.qid``
stands in a list that names every id exactly once; ``evidence[]``, or ``claims.evidence[]`` in every
item of a list, is a list of some of them (in a schema only: replies are not checked for those)."""

_LENGTHS = ("minLength", "maxLength")
SHORTEST, LONGEST = 20, 300
"""Characters of a free text that a small model writes."""
ITEMS = 3
"""Items of a list that a small model writes, unless there must be more."""


class Form(NamedTuple):
    """The schema of a reply, in the flavours that endpoints take."""

    name: str
    full: Schema
    strict: Schema
    """Without the keywords that OpenAI's strict mode refuses."""
    text: str
    """The full schema as JSON."""
    grammar: Schema | None = None
    """What the grammar of the embedded server is made of, where that is not the full schema."""

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
        full["properties"][name]["maxItems"] = count
    strict = _without_lengths(full)
    for path, values in ids:
        _offer(full, path, values, each_place=True)
        _offer(strict, path, values, each_place=False)
    return Form(reply.__name__, full, strict, json.dumps(full, ensure_ascii=False))


def for_small_model(form: Form) -> Form:
    """Return ``form`` with limits for a model that would go on and on.

    A free text, which may be longer than 300 characters in ``form``, has 20 to 300, or none where
    it may be empty.
    """
    full = _brief(form.full)
    return form._replace(
        full=full,
        strict=_without_lengths(_brief(form.strict)),
        text=json.dumps(full, ensure_ascii=False),
        grammar=_brief(form.full, grammar=True),
    )


def _brief(part: Any, *, grammar: bool = False) -> Any:
    """Return the schema with limits to the length of texts and lists.

    ``grammar`` also keeps out of texts what belongs to JSON, at which a small model ends them, and
    line breaks, and gives numbers two decimals.
    """
    if isinstance(part, list):
        return [_brief(item, grammar=grammar) for item in part]
    if not isinstance(part, dict):
        return part
    brief = {name: _brief(value, grammar=grammar) for name, value in part.items()}
    match brief:
        case {"enum": _}:
            pass
        case {"type": "string"}:
            least, most = brief.pop("minLength", 0), brief.pop("maxLength", LONGEST)
            written = max(least, SHORTEST) if most > LONGEST else least
            most = min(most, LONGEST)
            if grammar:
                text = rf'[^"\\\[\]{{}}\x00-\x1f]{{{written},{most}}}'
                brief["pattern"] = f"^{text}$" if least else f"^({text})?$"
            else:
                brief |= {"minLength": written if least else 0, "maxLength": most}
        case {"type": "array"} if "prefixItems" not in brief:
            most = min(brief.get("maxItems", ITEMS), ITEMS)
            brief["maxItems"] = max(brief.get("minItems", 0), most)
        case {"type": "number"} if grammar:
            brief["multipleOf"] = 0.01
    return brief


def _inlined(reply: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema with its definitions inlined and no further fields allowed.

    A reply has no defaults: what a model left out must not look as if it had written it.
    """
    schema = reply.model_json_schema()
    definitions = schema.pop("$defs", {})

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            return [walk(item) for item in part]
        if not isinstance(part, dict):
            return part
        if isinstance(reference := part.get("$ref"), str):
            return walk(definitions[reference.rpartition("/")[2]])
        left_out = ("title", "default", "properties")
        walked = {key: walk(value) for key, value in part.items() if key not in left_out}
        if isinstance(properties := part.get("properties"), dict):
            if optional := properties.keys() - set(part.get("required", ())):
                raise TypeError(f"{reply.__name__} has a default for {', '.join(sorted(optional))}")
            walked["properties"] = {name: walk(value) for name, value in properties.items()}
            walked["additionalProperties"] = False
        return walked

    return {"title": reply.__name__, **walk(schema)}


def _without_lengths(part: Any) -> Any:
    """Return the schema without limits on the length of a text."""
    if isinstance(part, list):
        return [_without_lengths(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {key: _without_lengths(value) for key, value in part.items() if key not in _LENGTHS}


def _offer(schema: Any, path: str, ids: tuple[str, ...], *, each_place: bool) -> None:
    """Make ``ids`` the enum of the field at ``path`` of ``schema``.

    ``each_place``: in a list every id has a place of its own, so that a constrained model can
    neither leave one out nor name one twice.
    """
    fields = schema["properties"]
    name, _, inner = path.partition(".")
    if inner.endswith("[]"):
        _offer(fields[name]["items"], inner, ids, each_place=each_place)
    elif name.endswith("[]"):
        some = fields[name.removesuffix("[]")]
        if ids:  # an empty enum would be an invalid schema
            some["items"] = _enum(ids)
        some["maxItems"] = len(ids)
    elif not inner:
        fields[name] = _enum(ids)
    else:
        item = fields[name]["items"]

        def naming(*values: str) -> Schema:
            return {**item, "properties": {**item["properties"], inner: _enum(values)}}

        items: Schema = {"items": naming(*ids)}
        if each_place:
            items = {"prefixItems": [naming(each) for each in ids], "items": False}
        fields[name] = {"type": "array", **items, "minItems": len(ids), "maxItems": len(ids)}


def _enum(ids: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(ids)}
