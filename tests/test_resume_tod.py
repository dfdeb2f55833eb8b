"""A comparison of papers broken off anywhere: nothing is paid twice, and it ends the same."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import BudgetReached
from dialectree.nodes.tree_of_debate.comparison import SummaryReply
from dialectree.nodes.tree_of_debate.pre_emption import RelevanceReply
from dialectree.records import RunRecord
from dialectree.retrieval import library
from dialectree.runner import Started
from tests import running
from tests.breaking_off import Fragile, check_crashes, go_on, lines
from tests.graphs.tree_of_debate.comparing import (
    PAPER_A,
    PAPER_B,
    TOPIC,
    personas,
    shown_segments,
    summarise,
)
from tests.scripted import Asked, Said, no_reply

WAYS: dict[str, tuple[str, dict[str, Any], int]] = {
    "a tree": ("tod", {}, 25),
    "in turn, segment by segment": ("tod", {"turns": "alternating", "filter": "per_segment"}, 33),
    "no tree": ("no_tree", {}, 13),
    "no self-deliberation": ("no_self_deliberation", {}, 17),
    "two stages": ("two_stage", {}, 3),
}
"""Method, settings, and the calls that they take; each summary has one repair."""


def speakers(fragile_at: int = 0) -> Fragile:
    """Personas of whom one cannot weigh, and a moderator whose first summary says nothing."""
    model = Fragile(fragile_at=fragile_at)
    personas(1, 1, model=model)
    usual, summary = model.says(RelevanceReply), model.says(SummaryReply)

    def weigh(call: Asked) -> Said:
        return no_reply() if call.node == "0" and shown_segments(call)[0][0] == "b" else usual(call)

    model.will_say_now(weigh, to=RelevanceReply)
    model.will_say_now(
        lambda call: summary(call) if "cannot be used" in call.prompt else summarise(),
        to=SummaryReply,
    )
    return model


@pytest.fixture(autouse=True)
def empty_shelves() -> None:
    """Begin with no paper in memory, like a new process."""
    library.clear()


def begin(model: Fragile, runs: Path, way: str, **more: Any) -> Started:
    name, settings, _ = WAYS[way]
    usual = {"embeddings": "bm25", "max_depth": 2, "max_claims": 1, "segments": 3}
    papers = {"paper_a": PAPER_A, "paper_b": PAPER_B}
    given = {"model": model, **papers, **usual, **settings, **more}
    return running.begin(name, TOPIC, runs, **given)


@pytest.mark.parametrize("way", WAYS)
def test_a_comparison_that_crashed_at_any_call_pays_nothing_twice_and_ends_as_it_would_have(
    way: str, tmp_path: Path
) -> None:
    calls = WAYS[way][2]
    crashes = range(1, calls + 1, 1 if calls < 10 else 3)
    record = check_crashes(partial(begin, way=way), speakers, calls, crashes, tmp_path)
    weighs = way not in ("no self-deliberation", "two stages")
    assert record.status == ("degraded" if weighs else "answered")
    assert record.verdict is not None and record.verdict.answer


@pytest.mark.parametrize("calls", [1, 5, 12, 20])
def test_a_budget_stops_a_comparison_in_good_order_and_resuming_pays_the_rest(
    calls: int, tmp_path: Path
) -> None:
    model = speakers()
    run = begin(model, tmp_path, "a tree", max_calls=calls)
    with pytest.raises(BudgetReached):
        asyncio.run(run.conduct())
    assert (run.record.status, run.record.usage.calls) == ("partial", calls)
    assert run.record.verdict is None
    record = go_on(run, model)
    assert (record.status, record.usage.calls) == ("degraded", 25)
    assert len(model.calls) == len(set(model.calls)) == 25


def test_a_finished_record_reads_back_as_it_is_and_says_what_was_embedded(tmp_path: Path) -> None:
    run = begin(speakers(), tmp_path, "a tree")
    record = asyncio.run(run.conduct())
    assert RunRecord.read((run.folder.path / "run.json").read_text()) == record
    assert 0 <= record.usage.embedding_s <= record.usage.wall_s
    assert record.usage.critical_path_calls == 7 + 7 + 1  # the summary's repair
    assert sum(len(node.transcript) for node in record.tree.nodes.values()) == 25 - 2
    assert record.prompts == {
        f"tree_of_debate/{name}": 2
        for name in (
            "claims", "present", "progress", "relevance", "respond", "revise", "subtopics",
            "summary",
        )
    }  # fmt: skip
    assert record.settings["embeddings"] == "bm25"
    assert not {"leaf_rounds", "breadth", "gate"} & {*record.settings}
    assert [event["kind"] for event in lines(run, "events.jsonl")][-2:] == [
        "settled",
        "concluded",
    ]
    assert record.input["question"] == TOPIC
