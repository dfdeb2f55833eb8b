"""What each call sent lies in the run's folder, for whoever reads it without dialectree."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.contests import Drop
from dialectree.errors import BudgetReached
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint

COWS = "What do cows eat?"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def bodies(folder: Path) -> Counter[str]:
    """Return the requests that a run sent, put together from its files alone."""
    texts = {line["hash"]: line["text"] for line in lines(folder / "prompts.jsonl")}
    put_together = [
        {
            "messages": [{"role": role, "content": texts[text]} for role, text in sent["messages"]],
            "schema": json.loads(texts[sent["reply_schema"]]),
            **sent["decoding"],
            "seed": call["seed"],
        }
        for call in lines(folder / "calls.jsonl")
        if (sent := call.get("sent")) and call["source"] == "model"
    ]
    return Counter(json.dumps(body, sort_keys=True) for body in put_together)


def received(endpoint: LocalEndpoint) -> Counter[str]:
    found: list[dict[str, Any]] = []
    for call in endpoint.calls():
        body = json.loads(call["body"])
        schema = body["response_format"]["json_schema"]["schema"]
        decoding = {
            name: body[name] for name in ("temperature", "max_tokens", "seed", "top_p") if name in body
        }
        found.append({"messages": body["messages"], "schema": schema, **decoding})
    return Counter(json.dumps(body, sort_keys=True) for body in found)


def decided(endpoint: LocalEndpoint, runs: Path, **settings: Any) -> Path:
    record: RunRecord = dialectree.decide(
        COWS, ["grass", "meat"], model="openai:any", base_url=endpoint.url, runs=runs, **settings
    )
    assert record.path is not None
    return record.path


def test_the_files_of_a_run_have_every_request_and_each_text_once(tmp_path: Path) -> None:
    with LocalEndpoint(keep_bodies=True, empty=0.3) as endpoint:
        folder = decided(endpoint, tmp_path, cache=False)
        assert bodies(folder) == received(endpoint)
    names = [line["hash"] for line in lines(folder / "prompts.jsonl")]
    assert len(names) == len({*names}) > 5
    assert {call["sent"]["served"] for call in lines(folder / "calls.jsonl")} == {"any"}


def test_a_contest_and_a_reply_from_the_cache_keep_what_was_sent(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        first = decided(endpoint, tmp_path)
        again = decided(endpoint, tmp_path)
        old = RunFolder(again).record()
        contested = dialectree.contest(old, [Drop("0/A4")], runs=tmp_path).path
    assert contested is not None
    texts = [sorted(map(str, lines(run / "prompts.jsonl"))) for run in (first, again)]
    assert texts[0] == texts[1]
    known = {line["hash"] for line in lines(contested / "prompts.jsonl")}
    assert all(
        name in known for call in lines(contested / "calls.jsonl") for _, name in call["sent"]["messages"]
    )


def test_no_prompts_leaves_the_texts_out(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        folder = decided(endpoint, tmp_path, prompts=False)
    assert not (folder / "prompts.jsonl").exists()
    assert all(call["sent"]["messages"] for call in lines(folder / "calls.jsonl"))


def test_models_are_those_that_spoke(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        roles = {"judge": "openai:other"}
        folder = decided(endpoint, tmp_path, roles=roles, gate=2)
        models = json.loads((folder / "run.json").read_text())["models"]
        speakers = {call["role"] for call in lines(folder / "calls.jsonl")}
    assert ("judge" in models) == ("judge" in speakers)
    assert models["debater_a"] == f"openai:any@{endpoint.url}"


@pytest.mark.parametrize("torn", [b"", b'{"hash":"x","te'])
def test_a_resumed_run_keeps_a_text_once(tmp_path: Path, torn: bytes) -> None:
    with LocalEndpoint() as endpoint:
        whole = decided(endpoint, tmp_path, cache=False)
        expected = sorted(map(str, lines(whole / "prompts.jsonl")))
        cut = tmp_path / "cut"
        with pytest.raises(BudgetReached):
            decided(endpoint, cut, cache=False, max_calls=4)
        (folder,) = (path.parent for path in cut.glob("*/run.json"))
        with open(folder / "prompts.jsonl", "ab") as file:
            file.write(torn)
        dialectree.resume(folder.name, runs=cut)
        assert sorted(map(str, lines(folder / "prompts.jsonl"))) == expected
