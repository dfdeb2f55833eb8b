"""The scripted endpoint: what it says, what it does wrong on purpose, what it counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.endpoint import LocalEndpoint
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def plain() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(keep_bodies=True) as endpoint:
        yield endpoint


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
    return httpx.post(url, json=body(text, **more), timeout=PATIENCE_S, trust_env=False)


def content(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_a_reply_to_a_schema_is_a_valid_instance(plain: LocalEndpoint) -> None:
    reply = json.loads(content(ask(plain, "Who wins?", response_format=FORMAT)))
    assert reply["winner"] in ("A", "B")
    assert 0 <= reply["difficulty"] <= 0.5
    assert reply["note"] is None or len(reply["note"]) <= 20


def test_a_schema_quoted_in_the_prompt_counts_below_the_top_rung(plain: LocalEndpoint) -> None:
    text = f"Reply with JSON that fits {json.dumps(SCHEMA)} and nothing else."
    said = content(ask(plain, text, response_format={"type": "json_object"}))
    assert set(json.loads(said)) == set(SCHEMA["properties"])
    prose = content(ask(plain, text))
    assert prose.startswith("Here it is:\n```json")
    assert set(json.loads(prose.split("```")[1].removeprefix("json"))) == set(SCHEMA["properties"])


def test_the_ledger_counts_duplicates_and_keeps_the_requests(plain: LocalEndpoint) -> None:
    plain.reset()
    for text in ("one", "two", "one"):
        ask(plain, text)
    stats, calls = plain.stats(), plain.calls()
    assert (stats["calls"], stats["unique_requests"]) == (3, 2)
    assert (stats["duplicate_requests"], stats["paid_twice"]) == (1, 1)
    assert [json.loads(call["body"]) for call in calls] == [body(t) for t in ("one", "two", "one")]


def test_a_tool_is_called_where_the_options_say_so(plain: LocalEndpoint) -> None:
    defs = {"Note": {"type": "object", "properties": {"kind": {"const": "note"}}}}
    fields = {"notes": {"type": "array", "items": {"$ref": "#/$defs/Note"}, "minItems": 2}}
    schema = {"type": "object", "properties": fields, "$defs": defs}
    tools = [{"type": "function", "function": {"name": "write", "parameters": schema}}]
    with LocalEndpoint(call_tools=True) as calling:
        (call,) = ask(calling, "Write.", tools=tools).json()["choices"][0]["message"]["tool_calls"]
        tokens = calling.calls()[0]["prompt_tokens"]
    assert call["function"]["name"] == "write"
    assert {"kind": "note"} in json.loads(call["function"]["arguments"])["notes"]
    assert tokens == -(-len("Write.") // 4) + -(-len(json.dumps(tools)) // 4)
    assert content(ask(plain, "Write.", tools=tools))  # and elsewhere not


@pytest.mark.parametrize(("fault", "status"), [("http_500", 500), ("http_429", 429)])
def test_a_fault_is_answered_by_its_status(fault: str, status: int) -> None:
    with LocalEndpoint(**{fault: 1.0}) as endpoint:
        response = ask(endpoint, "Hello.")
        (call,) = endpoint.calls()
    assert (response.status_code, call["status"], call["completion_tokens"]) == (status, status, 0)
