"""``dialectree.compare`` from Python, its twin, and the tool."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import dialectree
from dialectree.errors import InputError, SettingsError
from dialectree.records import Event
from tests.endpoint import LocalEndpoint
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, TOPIC

COMPARED: dict[str, Any] = {"embeddings": "bm25", "max_depth": 1}


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(seed=5) as endpoint:
        yield f"openai:any@{endpoint.url}"


@pytest.fixture
def files() -> tuple[str, Path]:
    """Both papers as files: plain text and JSON."""
    text = "\n\n".join((PAPER_A["title"], PAPER_A["abstract"], PAPER_A["body"]))
    Path("ladder.txt").write_text(text)
    Path("mesh.json").write_text(json.dumps({k: v for k, v in PAPER_B.items() if k != "name"}))
    return "ladder.txt", Path("mesh.json")


def kept(record: dialectree.RunRecord) -> dialectree.RunRecord:
    """The record as it lies in the folder."""
    return dialectree.RunRecord.read((Path("runs") / record.run_id / "run.json").read_text())


def but_for_times_and_ids(record: dialectree.RunRecord) -> dict[str, Any]:
    told = record.model_dump(exclude={"run_id", "started", "ended"})
    for name in ("wall_s", "embedding_s", "calls_from_cache", "tokens_from_cache"):
        del told["usage"][name]
    return told


def test_compare_returns_the_record_that_lies_in_the_folder(
    model: str, files: tuple[str, Path]
) -> None:
    told: list[Event] = []
    record = dialectree.compare(*files, TOPIC, model=model, watch=told.append, **COMPARED)
    assert (record.protocol, record.method, record.status) == ("tod", "tod", "answered")
    assert record.verdict is not None and record.verdict.answer
    assert kept(record) == record
    papers: Any = record.input["papers"]
    assert [paper["title"] for paper in papers] == [PAPER_A["title"], PAPER_B["title"]]
    assert {name[0] for name in record.tree.segments} == {"a", "b"}
    assert told[-1].kind == "concluded"


def test_a_mapping_is_compared_like_the_file_that_holds_the_same(
    model: str, files: tuple[str, Path]
) -> None:
    by_file = dialectree.compare(PAPER_A, files[1], TOPIC, model=model, **COMPARED)
    by_fields = dialectree.compare(PAPER_A, PAPER_B, TOPIC, model=model, **COMPARED)
    one, other = but_for_times_and_ids(by_file), but_for_times_and_ids(by_fields)
    for told in (one, other):
        del told["input"]
    assert one == other
    again: Any = by_file.input["papers"]
    twice = dialectree.compare(again[0], again[1], TOPIC, model=model, **COMPARED)
    assert but_for_times_and_ids(twice) == but_for_times_and_ids(by_file)


def test_a_paper_without_an_abstract_goes_in_with_a_notice(model: str) -> None:
    bare = {name: text for name, text in PAPER_B.items() if name != "abstract"}
    record = dialectree.compare(PAPER_A, bare, TOPIC, model=model, **COMPARED)
    said = "mesh.txt: no abstract found in it; its opening paragraphs stand in the abstract's place"
    assert (record.status, record.notices) == ("answered", [said])
    assert kept(record).notices == [said]


def test_wrong_input_is_said_before_a_folder_is_made() -> None:
    wrong: list[tuple[str, tuple[Any, Any, Any], dict[str, Any]]] = [
        ("the topic is empty", (PAPER_A, PAPER_B, " "), {}),
        ("the topic is missing", (PAPER_A, PAPER_B, None), {}),
        ("the paper_b is missing", (PAPER_A, None, TOPIC), {}),
        ("nothing.pdf: no such file", ("nothing.pdf", PAPER_B, TOPIC), {}),
        ("both papers are the same", (PAPER_A, PAPER_A, TOPIC), {}),
        ("paper b: title: give", (PAPER_A, {"abstract": "t", "body": "x"}, TOPIC), {}),
        ("^max_depth: ", (PAPER_A, PAPER_B, TOPIC), {"max_depth": 0}),
        ("^segments: ", (PAPER_A, PAPER_B, TOPIC), {"segments": 0}),
        ("known: tod, no_tree", (PAPER_A, PAPER_B, TOPIC), {"method_name": "rsd"}),
        ("no such role", (PAPER_A, PAPER_B, TOPIC), {"roles": {"judge": "openai:x"}}),
    ]
    for match, given, settings in wrong:
        with pytest.raises(InputError, match=match):
            dialectree.compare(*given, **settings)
    with pytest.raises(SettingsError, match="no such setting"):
        dialectree.compare(PAPER_A, PAPER_B, TOPIC, **cast(Any, {"max_dept": 1}))
    assert not Path("runs").exists()


def test_a_tool_compares(model: str, files: tuple[str, Path]) -> None:
    folder = files[1].parent
    tool = dialectree.as_tool("tod", model=model, runs="of_tools", files_from=[folder], **COMPARED)
    assert (tool.name, {*tool.args}) == ("dialectree_tod", {"paper_a", "paper_b", "topic"})
    given = {"paper_a": files[0], "paper_b": str(files[1]), "topic": TOPIC}
    said = tool.invoke(given)
    assert re.search(r"Run: \d{8}-\d{6}-[0-9a-f]{6}\.", said)
    assert asyncio.run(tool.ainvoke(given)) is not None
    assert len([*Path("of_tools").iterdir()]) == 2
    assert dialectree.as_tool("two_stage", model=model).name == "dialectree_two_stage"
