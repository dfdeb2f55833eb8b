"""The schema that goes out with a question."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from dialectree.models.asking import Ids, form

Confidence = Annotated[float, Field(ge=0, le=1)]


class Score(BaseModel):
    """How hard one part is."""

    qid: str
    difficulty: Confidence


class Ruling(BaseModel):
    """What is asked for."""

    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=200)]
    scores: list[Score]
    note: Annotated[str | None, Field(max_length=20)]


IDS: Ids = {"winner": ("A", "B"), "scores.qid": ("c1", "c2")}


def test_a_schema_is_closed_and_every_field_is_required() -> None:
    schema: Any = form(Ruling, {}).full
    assert schema["required"] == [*Ruling.model_fields]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["scores"]["items"]["required"] == ["qid", "difficulty"]
    assert "$ref" not in json.dumps(schema)
    assert "default" not in json.dumps(schema)


def test_ids_stand_in_the_schema_as_enums() -> None:
    full: Any = form(Ruling, IDS).full
    assert full["properties"]["winner"] == {"type": "string", "enum": ["A", "B"]}
    places = full["properties"]["scores"]["prefixItems"]
    assert [place["properties"]["qid"]["enum"] for place in places] == [["c1"], ["c2"]]
    assert full["properties"]["scores"]["items"] is False
    strict: Any = form(Ruling, IDS).strict
    scores = strict["properties"]["scores"]
    assert scores["items"]["properties"]["qid"]["enum"] == ["c1", "c2"]
    assert (scores["minItems"], scores["maxItems"]) == (2, 2)


class ClaimText(BaseModel):
    """A claim that rests on some of what was shown."""

    title: str
    evidence: list[str]


class Claims(BaseModel):
    """What is asked for."""

    claims: list[ClaimText]
    evidence: list[str]


ALL = ("a:1", "a:2", "a:3")
SOME: Ids = {"evidence[]": ALL[:2], "claims.evidence[]": ALL}


@pytest.mark.parametrize("flavour", ["full", "strict"])
def test_a_list_may_name_some_ids_at_the_top_and_in_every_item_of_a_list(flavour: str) -> None:
    fields: Any = getattr(form(Claims, SOME), flavour)["properties"]
    inner = fields["claims"]["items"]["properties"]["evidence"]
    for field, (ids, most) in ((fields["evidence"], (SOME["evidence[]"], 2)), (inner, (ALL, 3))):
        items = {"type": "string", "enum": [*ids]}
        assert field == {"type": "array", "items": items, "maxItems": most}
    assert "maxItems" not in fields["claims"]


def test_where_there_are_no_ids_a_list_stays_empty_and_no_enum_is_sent() -> None:
    """An empty enum would be an invalid schema."""
    fields: Any = form(Claims, {"evidence[]": (), "claims.evidence[]": ()}).full["properties"]
    for field in (fields["evidence"], fields["claims"]["items"]["properties"]["evidence"]):
        assert field == {"type": "array", "items": {"type": "string"}, "maxItems": 0}
