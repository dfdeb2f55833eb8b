"""Runs that an earlier version recorded go on, and nothing that they hold is paid again.

``old_runs`` has a finished and a broken-off run of each protocol, and of a grounded claim, as they
were recorded when 0.1 was in the making (commit c1c792a0), at tests/endpoint with seed 3. They are
never recorded anew: what a later version writes or asks otherwise must not matter to them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dialectree
from dialectree.contests import Add, Change, Drop, Replace, Set
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.retrieval.corpus import Corpus
from dialectree.retrieval.sources import read_document
from tests.endpoint import LocalEndpoint
from tests.rules import children

OLD = Path(__file__).parent / "old_runs"


class Old(NamedTuple):
    """A run as it was, and what a contest of it came to then."""

    calls: int
    wishes: Sequence[Change]
    asked: int
    """Calls of the contest that were paid."""
    rules: Sequence[Any] = ()
    """How the endpoint spoke."""


OLD_RUNS = {
    "tsd": Old(23, [Replace("0.0/A1", "A word of a person.")], 11, children(2)),
    "tod": Old(26, [Drop("0.0")], 1),
    "art": Old(15, [Add("attack", "0", "A whale has fins."), Set("0.0", 0.9)], 2),
    "rsd": Old(
        9,
        [Replace("0/B2", "A word of a person.")],
        6,
        [{"match": "You judge a debate", "set": {"label": "B", "answer": "meat"}}],
    ),
    "grounded": Old(15, [Add("attack", "0", "A whale has fins.")], 6),
}


@pytest.fixture(params=OLD_RUNS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def endpoint(name: str) -> Iterator[LocalEndpoint]:
    with LocalEndpoint(seed=3, rules=[*OLD_RUNS[name].rules]) as served:
        yield served


def copy_of(name: str, part: str) -> RunFolder:
    shutil.copytree(OLD / name / part, folder := Path("runs", f"{name}-{part}"))
    return RunFolder(folder)


def said(record: RunRecord) -> Any:
    return record.status, record.verdict, record.tree


def test_a_finished_run_is_shown_and_resumed_without_a_call(name: str, endpoint: LocalEndpoint) -> None:
    folder = copy_of(name, "finished")
    before = folder.record()
    assert before.usage.calls == OLD_RUNS[name].calls
    resumed = dialectree.resume(folder.path, base_url=endpoint.url, cache=False)
    assert endpoint.stats()["calls"] == 0
    assert said(resumed) == said(before)


def test_a_run_that_was_broken_off_asks_for_what_it_lacks(name: str, endpoint: LocalEndpoint) -> None:
    folder = copy_of(name, "broken_off")
    before = (folder.path / "calls.jsonl").read_bytes()
    held = [call.key for call in folder.ledger()]
    assert len(held) == 5
    resumed = dialectree.resume(
        folder.path, model=f"openai:any@{endpoint.url}", base_url=endpoint.url, cache=False
    )
    assert resumed.status == "answered"
    assert (folder.path / "calls.jsonl").read_bytes().startswith(before)
    new = [call.key for call in folder.ledger()][5:]
    assert not {*held} & {*new}
    assert endpoint.stats()["calls"] == len(new) > 0


def test_a_contest_asks_for_what_depends_on_it(name: str, endpoint: LocalEndpoint) -> None:
    folder, old = copy_of(name, "finished"), OLD_RUNS[name]
    new = dialectree.contest(folder.path, old.wishes, model=f"openai:any@{endpoint.url}", cache=False)
    assert endpoint.stats()["calls"] == old.asked
    assert new.verdict is not None and new.contest is not None
    before = {line.key for line in folder.ledger()}
    again = [line for line in RunFolder(Path("runs", new.run_id)).calls() if line.key in before]
    assert not again


def test_the_ids_of_old_segments_mean_the_sentences_that_a_report_shows() -> None:
    folder = OLD / "grounded" / "finished"
    sources = json.loads((folder / "run.json").read_text())["input"]["sources"]
    documents = [
        read_document(folder / "sources" / f"{source['digest']}.json", source["name"]) for source in sources
    ]
    corpus = Corpus(documents)
    lines = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
    told = [one for line in lines for one in line["data"].get("segments", []) if "source" in one]
    assert len(told) > 1
    for one in told:
        segment = corpus.segment(one["id"])
        assert (segment.text, [*map(list, segment.sentences)]) == (one["text"], one["sentences"])


def test_a_sentence_of_an_old_run_is_dropped_by_its_id() -> None:
    with LocalEndpoint(seed=3) as endpoint:
        folder = copy_of("grounded", "finished")
        model = f"openai:any@{endpoint.url}"
        new = dialectree.contest(folder.path, [Drop("s1:1")], model=model, cache=False)
        dropped = [one for node in new.tree.nodes.values() for one in node.retrievals]
    assert new.contest is not None and dropped
    assert "s1:1" in str(new.contest.overrides)
    assert new.verdict is not None and "s1:1." not in str(new.verdict.grounds)
