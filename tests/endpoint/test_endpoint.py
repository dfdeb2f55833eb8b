"""The scripted endpoint: what it says, what it does wrong on purpose, what it counts."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, Field, TypeAdapter

from tests.endpoint import LocalEndpoint
from tests.endpoint.instances import Inventor, quoted_schema


@pytest.fixture(scope="module")
def plain() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(keep_bodies=True, rules=RULES) as endpoint:
        yield endpoint


RULES = [{"match": "hard", "set": {"difficulty": 0.9}}]
SCHEMA = {
    "type": "object",
    "properties": {
        "winner": {"type": "string", "enum": ["A", "B"]},
        "difficulty": {"type": "number", "minimum": 0, "maximum": 0.5},
        "note": {"anyOf": [{"type": "string", "maxLength": 20}, {"type": "null"}]},
    },
    "required": ["winner", "difficulty", "note"],
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "Reply", "schema": SCHEMA}}


def body(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "any", "messages": [{"role": "user", "content": text}], **more}


def ask(endpoint: LocalEndpoint, text: str, **more: Any) -> httpx.Response:
    url = f"{endpoint.url}/chat/completions"
    return httpx.post(url, json=body(text, **more), timeout=10, trust_env=False)


def content(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_a_reply_to_a_schema_is_a_valid_instance(plain: LocalEndpoint) -> None:
    reply = json.loads(content(ask(plain, "Who wins?", response_format=FORMAT)))
    assert reply["winner"] in ("A", "B")
    assert 0 <= reply["difficulty"] <= 0.5
    assert reply["note"] is None or len(reply["note"]) <= 20


def test_the_same_request_gets_the_same_reply_and_another_one_another(
    plain: LocalEndpoint,
) -> None:
    first, second = ask(plain, "Is it so?"), ask(plain, "Is it so?")
    assert first.json() == second.json()
    assert content(ask(plain, "Is it so?", seed=1)) != content(first)


def test_a_rule_fixes_a_property_where_its_pattern_matches(plain: LocalEndpoint) -> None:
    reply = json.loads(content(ask(plain, "a hard one", response_format=FORMAT)))
    assert reply["difficulty"] == 0.9


def test_a_schema_quoted_in_the_prompt_counts_below_the_top_rung(plain: LocalEndpoint) -> None:
    text = f"Reply with JSON that fits {json.dumps(SCHEMA)} and nothing else."
    said = content(ask(plain, text, response_format={"type": "json_object"}))
    assert set(json.loads(said)) == set(SCHEMA["properties"])
    prose = content(ask(plain, text))
    assert prose.startswith("Here it is:\n```json")
    assert set(json.loads(prose.split("```")[1].removeprefix("json"))) == set(SCHEMA["properties"])


def test_plain_text_stops_at_the_token_limit(plain: LocalEndpoint) -> None:
    choice = ask(plain, "Tell me.", max_tokens=5).json()["choices"][0]
    assert len(choice["message"]["content"]) == 20
    assert choice["finish_reason"] == "length"


def test_the_ledger_counts_duplicates_and_keeps_the_requests(plain: LocalEndpoint) -> None:
    plain.reset()
    for text in ("one", "two", "one"):
        ask(plain, text)
    stats, calls = plain.stats(), plain.calls()
    assert (stats["calls"], stats["unique_requests"]) == (3, 2)
    assert (stats["duplicate_requests"], stats["paid_twice"]) == (1, 1)
    assert [json.loads(call["body"]) for call in calls] == [body(t) for t in ("one", "two", "one")]


def test_models_are_listed(plain: LocalEndpoint) -> None:
    listed = httpx.get(f"{plain.url}/models", trust_env=False).json()
    assert [model["id"] for model in listed["data"]] == ["no-model"]


@pytest.mark.parametrize("fault", ["malformed_json", "empty"])
def test_a_spoilt_reply_does_not_fit_its_schema(fault: str) -> None:
    class Reply(BaseModel):
        winner: str
        difficulty: float = Field(le=1)
        note: str | None

    options: dict[str, Any] = {fault: 1.0}
    with LocalEndpoint(**options) as endpoint:
        said = content(ask(endpoint, "x", response_format=FORMAT))
        assert endpoint.stats()["faults"] == {fault: 1}
    with pytest.raises(ValueError):
        TypeAdapter(Reply).validate_json(said, strict=True)


def test_a_fault_is_drawn_anew_when_a_request_comes_again() -> None:
    with LocalEndpoint(http_500=0.5) as endpoint:
        statuses = [ask(endpoint, "x").status_code for _ in range(20)]
        stats = endpoint.stats()
    assert set(statuses) == {200, 500}
    assert stats["paid_twice"] == statuses.count(200) - 1


def test_only_the_right_key_is_answered() -> None:
    with LocalEndpoint(key="secret") as endpoint:
        assert ask(endpoint, "x").status_code == 401


def test_slots_are_never_exceeded_and_the_latency_is_kept() -> None:
    with LocalEndpoint(latency_ms=30, max_concurrency=2) as endpoint:
        url = f"{endpoint.url}/chat/completions"

        async def crowd() -> None:
            async with httpx.AsyncClient(trust_env=False) as client:
                await asyncio.gather(*(client.post(url, json=body(str(n))) for n in range(6)))

        asyncio.run(crowd())
        stats, calls = endpoint.stats(), endpoint.calls()
    assert (stats["calls"], stats["peak_running"]) == (6, 2)
    assert all(call["ended"] - call["started"] >= 0.03 for call in calls)


def test_every_place_of_a_list_is_filled_from_its_own_schema() -> None:
    places = [{"type": "string", "enum": [f"c{n}"]} for n in range(7)]
    schema = {"type": "array", "prefixItems": places, "items": False, "minItems": 7, "maxItems": 7}
    made = Inventor(random.Random(0), ["word"], {}).instance(schema)
    assert made == [f"c{n}" for n in range(7)]


def test_a_recursive_schema_comes_to_an_end() -> None:
    class Branch(BaseModel):
        name: str = Field(min_length=200, max_length=210)
        count: int = Field(gt=3, lt=5)
        below: list[Branch] = Field(max_length=2)
        other: Branch | None

    inventor = Inventor(random.Random(1), ["word"], {})
    for _ in range(5):
        Branch.model_validate(inventor.instance(Branch.model_json_schema()))


def test_a_schema_is_found_in_a_prompt_with_other_braces() -> None:
    assert quoted_schema('{"a": 1} then {"title": "T", "properties": {"b": {}}} end') == {
        "title": "T",
        "properties": {"b": {}},
    }
    assert quoted_schema('{"title": "no schema"}') is None
