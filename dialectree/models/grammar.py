"""From a JSON schema to the grammar that holds the embedded server's replies to it.

llguidance honours ranges of numbers, which the server's own ``json_schema`` does not. When it
cannot make sense of a grammar the server sends unconstrained text, without a word: so what
llguidance does not know is taken out here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

# Without the first the model writes blanks up to the token limit; the second skips odd keywords.
_RULES = {"whitespace_flexible": False, "lenient": True}
_NAMED = ("properties", "$defs", "definitions", "patternProperties")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties")
_REMARKS = ("title", "description", "default", "examples")
_NO_PATTERN = re.compile(r"\(\?(?:[=!]|<[=!])|\\[bB1-9]")
"""What a pattern may not hold: looking around, word boundaries and back references."""
_BRIEF_TEXT = 160
_BRIEF_LIST = 3
_HUNDREDTH = 0.01


def grammar(schema: Mapping[str, object], brief: bool = False) -> str:
    """The grammar of the JSON texts, without blanks, that fit the schema.

    Numbers have two decimals, for small models add digits without end. ``brief`` is for a model
    that goes on until the token limit: a text has at most 160 characters and a list three items,
    unless the schema wants more.
    """
    fitted = {"x-guidance": _RULES, **_fitted(schema, brief)}
    return f"%llguidance {{}}\nstart: %json {json.dumps(fitted, ensure_ascii=False)}"


def _fitted(schema: Mapping[str, object], brief: bool, whole: bool = True) -> dict[str, object]:
    """``schema`` as llguidance takes it; not ``whole`` where it describes an object in part."""

    def fit(part: object, whole: bool = True) -> object:
        return _fitted(part, brief, whole) if isinstance(part, Mapping) else part

    fitted: dict[str, object] = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, Mapping):
            fitted[key] = {name: fit(part) for name, part in value.items()}
        elif key in _LISTED and isinstance(value, Sequence):
            fitted[key] = [fit(part, whole=key != "allOf") for part in value]
        elif key in _SINGLE:
            fitted[key] = fit(value)
        elif key not in _REMARKS and not (key == "pattern" and _NO_PATTERN.search(str(value))):
            fitted[key] = value
    if whole and _names_all(fitted):
        fitted["additionalProperties"] = False
    if _has_endless_digits(fitted):
        fitted["multipleOf"] = _HUNDREDTH
    return _shortened(fitted) if brief else fitted


def _names_all(schema: Mapping[str, object]) -> bool:
    """Whether an object's properties are all named, so that none need be made up."""
    names, required = schema.get("properties"), schema.get("required", ())
    others = {"additionalProperties", "patternProperties", "$ref", *_LISTED}
    return (
        isinstance(names, Mapping)
        and isinstance(required, Sequence)
        and set(required) <= set(names)
        and others.isdisjoint(schema)
    )


def _has_endless_digits(schema: Mapping[str, object]) -> bool:
    """Whether a number may have any number of digits, and its range has room for hundredths."""
    if not _may_be(schema, "number") or not {"multipleOf", "enum", "const"}.isdisjoint(schema):
        return False
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if isinstance(low, int | float) and isinstance(high, int | float):
        return high - low >= 10 * _HUNDREDTH
    return True


def _may_be(schema: Mapping[str, object], kind: str) -> bool:
    kinds = schema.get("type")
    return kinds == kind or (isinstance(kinds, list) and kind in kinds)


def _shortened(schema: dict[str, object]) -> dict[str, object]:
    """The schema with its texts and lists as short as it allows, down to what counts as brief."""
    if _may_be(schema, "string") and {"enum", "const", "pattern", "format"}.isdisjoint(schema):
        schema["maxLength"] = _within(schema, "minLength", "maxLength", _BRIEF_TEXT)
    if _may_be(schema, "array") and "prefixItems" not in schema:
        schema["maxItems"] = _within(schema, "minItems", "maxItems", _BRIEF_LIST)
    return schema


def _within(schema: Mapping[str, object], least: str, most: str, wanted: int) -> int:
    """``wanted``, moved into the limits that the schema itself sets."""
    low, high = schema.get(least, 0), schema.get(most, wanted)
    assert isinstance(low, int) and isinstance(high, int)
    return max(low, min(high, wanted))
