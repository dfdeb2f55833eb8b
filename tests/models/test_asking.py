"""The schema that goes out with a question, and the keys that tell two questions apart."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from dialectree.models.asking import Ids, ModelRequest, form, messages, sampling
from dialectree.models.specs import resolve
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import Turn

# The schema


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
    assert "items" not in full["properties"]["scores"]  # llama.cpp refuses `false` there
    assert full["properties"]["scores"]["maxItems"] == 2
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


# The keys in the journal and in the reply cache


HERE = "http://127.0.0.1:1/v1"


class Reply(BaseModel):
    """A reply."""

    winner: Literal["A", "B"]


def asking(
    url: str = HERE,
    model: str = "openai:any",
    system: str = "You judge.",
    user: str = "Who wins?",
    ids: dict[str, list[str]] | None = None,
    seed: int = 0,
    node: str = "0.1",
    role: str = "judge",
    speaker: str = "",
    take: int = 1,
    temperature: float = 0.3,
    max_tokens: int | None = None,
    top_p: float | None = None,
) -> ModelRequest:
    context = build_settings(ProtocolSettings, model=model, base_url=url, seed=seed)
    place = Turn(node=node, phase="debate", role=role, speaker=speaker, take=take)
    return ModelRequest(
        context,
        place,
        "judge@1",
        resolve(context.model, context),
        messages(system, user),
        form(Reply, ids or {}),
        sampling(temperature, place.random_seed(context.seed), max_tokens, top_p),
    )


def test_a_key_is_the_same_in_every_process() -> None:
    assert asking().keys.journal == "79ce58fd0b22ebf43e1815a854553417"
    assert asking().keys.cache == "6349fb840b6df39f61628eaed57ba788"


def test_an_address_makes_another_cache_and_what_it_hides_another_journal() -> None:
    here, there = asking(), asking("http://127.0.0.1:2/v1")
    assert here.keys.journal == there.keys.journal and here.keys.cache != there.keys.cache
    urls = (HERE, f"{HERE}?deployment=a", f"{HERE}?deployment=b", "http://u:p@127.0.0.1:1/v1")
    keys = [asking(url) for url in urls]
    assert len({each.keys.journal for each in keys}) == len({each.keys.cache for each in keys}) == len(urls)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai:other"},
        {"system": "You judge well."},
        {"user": "Who loses?"},
        {"ids": {"winner": ["A"]}},
        {"seed": 1},
        {"node": "0.2"},
        {"role": "debater"},
        {"speaker": "B"},
        {"take": 2},
        {"temperature": 0.4},
        {"max_tokens": 9},
        {"top_p": 0.9},
    ],
    ids=str,
)
def test_another_prompt_schema_seed_model_or_decoding_is_another_call(change: dict[str, Any]) -> None:
    one, other = asking(), asking(**change)
    assert one.keys.journal != other.keys.journal and one.keys.cache != other.keys.cache
    assert asking(**change).keys.journal == other.keys.journal
