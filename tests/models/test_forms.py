"""The schema that goes out with a question."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from dialectree.models.forms import Ids, form

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


def test_strict_mode_is_spared_the_lengths_of_texts_and_nothing_else() -> None:
    class Reply(BaseModel):
        minLength: Annotated[str, Field(min_length=1, max_length=9)]
        confidence: Confidence

    full: Any = form(Reply, {}).full
    strict: Any = form(Reply, {}).strict
    assert full["properties"]["minLength"]["maxLength"] == 9
    assert strict["properties"]["minLength"] == {"type": "string"}
    assert strict["properties"]["confidence"] == full["properties"]["confidence"]


def test_a_schema_is_made_once_for_each_set_of_ids() -> None:
    assert form(Ruling, IDS) is form(Ruling, dict(IDS))
    other = form(Ruling, {"scores.qid": ("c1", "c2", "c3")})
    assert json.loads(other.text)["properties"]["scores"]["maxItems"] == 3
    assert json.loads(form(Ruling, IDS).text)["properties"]["scores"]["maxItems"] == 2


def test_a_reply_with_a_default_is_a_mistake_of_ours() -> None:
    class Lenient(BaseModel):
        answer: str
        confidence: float = 0.5

    with pytest.raises(TypeError, match="Lenient has a default for confidence"):
        form(Lenient, {})


def test_ids_of_a_field_that_is_not_there_are_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        form(Ruling, {"looser": ("A", "B")})
