"""From a JSON schema to a grammar; ``test_embedded`` holds a real model to one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dialectree.models.grammar import grammar


def fitted(schema: Mapping[str, object], brief: bool = False) -> dict[str, Any]:
    """The schema as it stands in the grammar."""
    first, second = grammar(schema, brief).split("\n")
    assert first == "%llguidance {}"
    assert second.startswith("start: %json ")
    read: dict[str, Any] = json.loads(second.removeprefix("start: %json "))
    return read


def test_blanks_are_forbidden_and_odd_keywords_are_skipped() -> None:
    assert fitted({"type": "boolean"}) == {
        "x-guidance": {"whitespace_flexible": False, "lenient": True},
        "type": "boolean",
    }


def test_remarks_are_left_out_but_a_property_may_bear_their_name() -> None:
    schema = {"title": "T", "description": "d", "type": "object", "properties": {"title": {}}}
    assert set(fitted(schema)) == {"x-guidance", "type", "properties", "additionalProperties"}
    assert fitted(schema)["properties"] == {"title": {}}


def test_what_a_constant_or_an_enum_holds_is_left_alone() -> None:
    kept = {"title": "T", "type": "number", "items": {"title": "T"}}
    assert fitted({"const": kept})["const"] == kept
    assert fitted({"enum": [kept]})["enum"] == [kept]


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        ({"properties": {"a": {}}, "required": ["a"]}, True),
        ({"properties": {"a": {}}}, True),
        ({"properties": {"a": {}}, "required": ["a", "b"]}, False),
        ({"properties": {"a": {}}, "patternProperties": {}}, False),
        ({"properties": {"a": {}}, "anyOf": []}, False),
        ({"type": "object"}, False),
    ],
)
def test_an_object_is_closed_where_it_names_all_its_properties(
    schema: dict[str, object], closed: bool
) -> None:
    assert (fitted(schema).get("additionalProperties") is False) == closed


def test_the_parts_of_an_all_of_stay_open_for_one_another() -> None:
    parts: list[object] = [{"properties": {"a": {}}}, {"properties": {"b": {}}}]
    assert fitted({"allOf": parts})["allOf"] == parts
    assert fitted({"anyOf": parts})["anyOf"][0]["additionalProperties"] is False


def test_an_object_that_is_open_on_purpose_stays_open() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": {"type": "boolean"}}
    assert fitted(schema)["additionalProperties"] == {"type": "boolean"}


@pytest.mark.parametrize(
    ("schema", "rounded"),
    [
        ({"type": "number"}, True),
        ({"type": ["number", "null"]}, True),
        ({"type": "number", "minimum": 0, "maximum": 1}, True),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, True),
        ({"type": "number", "minimum": 0.001, "maximum": 0.002}, False),
        ({"type": "number", "multipleOf": 0.5}, False),
        ({"type": "number", "enum": [0.125]}, False),
        ({"type": "integer"}, False),
    ],
)
def test_a_number_has_two_decimals_where_that_leaves_a_choice(
    schema: dict[str, object], rounded: bool
) -> None:
    assert (fitted(schema).get("multipleOf") == 0.01) == rounded


@pytest.mark.parametrize(
    "pattern", ["^(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", r"\bword\b", r"(a)\1"]
)
def test_a_pattern_beyond_regular_languages_is_dropped(pattern: str) -> None:
    assert "pattern" not in fitted({"type": "string", "pattern": pattern})


@pytest.mark.parametrize("pattern", ["^[a-z]{3}$", r"^\d+\.\d$", "^(?:a|b)$", "^(?P<name>a)$"])
def test_a_plain_pattern_is_kept(pattern: str) -> None:
    assert fitted({"type": "string", "pattern": pattern})["pattern"] == pattern


@pytest.mark.parametrize(
    ("schema", "limits"),
    [
        ({"type": "string"}, {"maxLength": 160}),
        ({"type": "string", "maxLength": 6000}, {"maxLength": 160}),
        ({"type": "string", "maxLength": 12}, {"maxLength": 12}),
        ({"type": "string", "minLength": 200, "maxLength": 6000}, {"maxLength": 200}),
        ({"type": ["string", "null"]}, {"maxLength": 160}),
        ({"type": "string", "enum": ["a"]}, {}),
        ({"type": "array"}, {"maxItems": 3}),
        ({"type": "array", "maxItems": 12}, {"maxItems": 3}),
        ({"type": "array", "minItems": 5, "maxItems": 12}, {"maxItems": 5}),
        ({"type": "array", "prefixItems": [{}] * 4, "items": False}, {}),
    ],
)
def test_brief_means_short_texts_and_lists_as_far_as_the_schema_allows(
    schema: dict[str, object], limits: dict[str, int]
) -> None:
    assert fitted(schema, brief=True) == {**fitted(schema), **limits}


def test_brief_reaches_every_part_of_a_schema() -> None:
    text = {"type": "string"}
    schema: dict[str, object] = {
        "$defs": {"t": text},
        "type": "object",
        "properties": {"a": {"anyOf": [text, {"type": "null"}]}, "b": {"items": text}},
    }
    brief = fitted(schema, brief=True)
    short = {"type": "string", "maxLength": 160}
    assert brief["$defs"]["t"] == short
    assert brief["properties"]["a"]["anyOf"][0] == short
    assert brief["properties"]["b"]["items"] == short
    assert schema["$defs"] == {"t": {"type": "string"}}, "the caller's schema is not touched"
